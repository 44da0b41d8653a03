import type { Clock } from '../../src/core/clock.js';
import { parseJson, stringifyJson, type Json } from '../../src/core/json.js';
import type { FactOfSubject, KnownFact, KnownFacts } from '../../src/core/known-facts.port.js';

/** Facts as text, as a store keeps them; several processes of a test may share one. */
export class InMemoryKnownFacts implements KnownFacts {
  private readonly rows = new Map<string, { forge: string; subject: string; kind: string; fact: string; at: Date }>();
  private readonly claims = new Map<string, { at: Date; holder: string | undefined }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  async read(...key: [forge: string, subject: string, kind: string]): Promise<KnownFact | null> {
    const row = this.rows.get(JSON.stringify(key));
    return row ? { fact: parseJson(row.fact), learnedAt: row.at } : null;
  }

  async write(forge: string, subject: string, kind: string, fact: Json): Promise<void> {
    const row = { forge, subject, kind, fact: stringifyJson(fact), at: this.clock.now() };
    this.rows.set(JSON.stringify([forge, subject, kind]), row);
  }

  async all(kind: string): Promise<FactOfSubject[]> {
    return [...this.rows.values()]
      .filter((row) => row.kind === kind)
      .map(({ fact, at, ...row }) => ({ ...row, fact: parseJson(fact), learnedAt: at }));
  }

  async of(kinds: readonly string[], subjects: readonly string[]): Promise<FactOfSubject[]> {
    const facts = await Promise.all(kinds.map((kind) => this.all(kind)));
    return facts.flat().filter(({ subject }) => subjects.includes(subject));
  }

  async claim(forge: string, subject: string, kind: string, forMs: number, holder?: string): Promise<boolean> {
    const key = JSON.stringify([forge, subject, kind]);
    const claim = this.claims.get(key);
    const isOwn = holder !== undefined && claim?.holder === holder;
    if (claim && !isOwn && claim.at.getTime() >= this.clock.now().getTime() - forMs) return false;
    this.claims.set(key, { at: this.clock.now(), holder });
    return true;
  }

  async release(forge: string, subject: string, kind: string, holder?: string): Promise<void> {
    const key = JSON.stringify([forge, subject, kind]);
    if (holder === undefined || this.claims.get(key)?.holder === holder) this.claims.delete(key);
  }
}
