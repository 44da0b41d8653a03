import type { Json } from '../../src/core/json.js';
import type { CursorStore } from '../../src/polling/cursor-store.port.js';

/** Poll positions of one process. */
export class InMemoryCursorStore implements CursorStore {
  private readonly positions = new Map<string, { position: Json; advancedAt: Date }>();

  constructor(private readonly now: () => Date = () => new Date()) {}

  async read(
    forge: string,
    org: string,
    source: 'feed' | 'tasks',
  ): Promise<{ position: Json; advancedAt: Date } | null> {
    return structuredClone(this.positions.get(`${forge}/${org}/${source}`) ?? null);
  }

  async write(forge: string, org: string, source: 'feed' | 'tasks', position: Json): Promise<void> {
    this.positions.set(`${forge}/${org}/${source}`, structuredClone({ position, advancedAt: this.now() }));
  }
}
