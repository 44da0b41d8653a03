import type { DataSource } from 'typeorm';
import { hashOf } from '../core/ids.js';
import { sqlStateOf } from './store-errors.js';

/** As `pg` takes it. */
export interface Query {
  name?: string;
  text: string;
  values: readonly unknown[];
}

/** What we use of `pg`'s client. */
export interface Client {
  query(query: Query): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** Texts of which we keep count, and so the most that a connection ever prepares. */
const MOST_TEXTS = 500;
/** A plan made for an almost empty table would be kept until the table is analyzed, which the embedded store does at housekeeping only. */
const PLANS_LIVE_MS = 30_000;
/**
 * One plan for all values. Left to itself the planner makes a new one each time, since it takes a list of unknown length for ten members where
 * ours mostly has one. Our statements are written so that this plan is right: they find by key first. Said again now and then, for a
 * transaction that is rolled back takes it along.
 */
const ONE_PLAN = 'SET plan_cache_mode = force_generic_plan';

/**
 * What a pooler between us and the server answers, when it hands each transaction to another connection of the server: the name is not known
 * there (26000), or known already (42P05). 0A000: the columns of a prepared statement have changed under it, as an upgrade may do.
 */
const NAME_IN_DOUBT = new Set(['26000', '42P05', '0A000']);

/**
 * Statements that come again are prepared, once by each connection: to read and plan one of ours anew costs two to five times what it costs to
 * run it. Behind a pooler that cannot keep names everything is sent in full.
 */
export class PreparedStatements {
  private static readonly ofSources = new WeakMap<DataSource, PreparedStatements>();
  /** By text; '' = it came once. One that was made for its lists alone never comes again, and is not worth a name. */
  private readonly names = new Map<string, string>();
  private readonly plannedAt = new WeakMap<Client, number>();
  private isNaming = true;

  /** @param now milliseconds, steady */
  constructor(private readonly now: () => number = () => performance.now()) {}

  static of(source: DataSource): PreparedStatements {
    const known = this.ofSources.get(source);
    if (known) return known;
    const made = new PreparedStatements();
    this.ofSources.set(source, made);
    return made;
  }

  /** What to give to the client. The name is made of the text, since two processes of ours may come to share a connection of the server. */
  async queryOf(client: Client, text: string, values: readonly unknown[]): Promise<Query> {
    const name = this.nameOf(text, values);
    if (name === null) return { text, values };
    const planned = this.plannedAt.get(client);
    if (planned === undefined || this.now() - planned >= PLANS_LIVE_MS) {
      this.plannedAt.set(client, this.now());
      await client.query({ text: planned === undefined ? ONE_PLAN : `DISCARD PLANS; ${ONE_PLAN}`, values: [] });
    }
    return { name, text, values };
  }

  /**
   * Look at what a query ended with.
   * @returns whether that came of its name alone: the server did nothing, and names are not used any more
   */
  isOfName({ name }: Query, error: unknown): boolean {
    if (name === undefined || !NAME_IN_DOUBT.has(sqlStateOf(error) ?? '')) return false;
    this.isNaming = false;
    return true;
  }

  private nameOf(text: string, values: readonly unknown[]): string | null {
    // What has no values may be several statements, and several cannot be prepared.
    if (!this.isNaming || values.length === 0) return null;
    const known = this.names.get(text);
    if (known === undefined) {
      if (this.names.size < MOST_TEXTS) this.names.set(text, '');
      return null;
    }
    if (known !== '') return known;
    const name = `forgehand_${hashOf(text).slice(0, 24)}`;
    this.names.set(text, name);
    return name;
  }
}
