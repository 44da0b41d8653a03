import { isDeepStrictEqual } from 'node:util';
import type { EntrySource } from '../../src/core/event.js';
import type { Json } from '../../src/core/json.js';
import type { CursorStore, KeptPosition, PositionOfOrg } from '../../src/polling/cursor-store.port.js';

/** Poll positions of one process. */
export class InMemoryCursorStore implements CursorStore {
  private readonly positions = new Map<string, KeptPosition>();

  constructor(private readonly now: () => Date = () => new Date()) {}

  async read(forge: string, org: string, source: EntrySource): Promise<KeptPosition | null> {
    return structuredClone(this.positions.get(`${forge}/${org}/${source}`) ?? null);
  }

  async of(orgs: readonly string[]): Promise<PositionOfOrg[]> {
    return [...this.positions].flatMap(([key, kept]) => {
      const [forge = '', org = '', source] = key.split('/');
      return orgs.includes(org) ? [{ forge, org, source: source as EntrySource, ...structuredClone(kept) }] : [];
    });
  }

  async begin(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    if (!this.positions.has(`${forge}/${org}/${source}`)) this.keep(forge, org, source, position);
  }

  async replace(forge: string, org: string, source: EntrySource, known: Json, position: Json): Promise<boolean> {
    if (!isDeepStrictEqual(this.positions.get(`${forge}/${org}/${source}`)?.position, known)) return false;
    this.keep(forge, org, source, position);
    return true;
  }

  async write(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    this.keep(forge, org, source, position);
  }

  protected keep(forge: string, org: string, source: EntrySource, position: Json): void {
    this.positions.set(`${forge}/${org}/${source}`, structuredClone({ position, advancedAt: this.now() }));
  }
}
