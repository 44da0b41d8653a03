import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import {
  isOwnedBy,
  ownerOf,
  WRITE_TRUST_MS,
  type AskedRepository,
  type DescribedRepository,
  type OwnershipQuestion,
  type OwnershipRefusal,
  type Ownership,
  type RepositoryOwners,
} from '../core/repository-owner.js';
import { ConnectedForges, type ForgeClients } from './connected-forges.js';
import { type FeedRepositories, type FeedRepository, SeenRepositories } from './seen-repositories.port.js';

/** How long an answer serves reads. A read names the organization in its path, so an old answer reaches no other owner. */
const READ_TRUST_MS = 5 * 60_000;
/** A repository that is not ours is asked about again after a minute, then ever more rarely, down to once a day. */
const FIRST_REFUSAL_MS = 60_000;
const LAST_REFUSAL_MS = 24 * 3_600_000;
/** The names that the feed told are read from the store anew after this time: another process may poll. */
const NAMES_FRESH_MS = 10_000;
/** Questions about unknown numbers share one page of the feed for so long. */
const PAGE_FRESH_MS = 1_000;
const PAGE_SIZE = 50;
/** Answers kept; the oldest go first. */
const MAX_KEPT = 5_000;

interface Reading {
  readonly atMs: number;
  /** Null = not there; undefined = the forge does not say. */
  readonly found: Promise<DescribedRepository | null | undefined>;
  /** The answer, once it is there; null = not yet, or the repository is not the organization's. */
  ours: Ownership | null;
  /** A call under its name was answered 404. */
  isDoubted?: true;
}

interface Refusal {
  readonly untilMs: number;
  readonly waitMs: number;
  readonly code: OwnershipRefusal;
}

interface Fresh<Value> {
  readonly atMs: number;
  readonly value: Promise<Value>;
}

/**
 * Asks the forge whose a repository is, by its number, and keeps the answer for a while. A forge that finds none by number (core profile,
 * a token without `read:repository`) is asked for the newest page of the organization's feed; beside it count the rows seen before and the
 * numbers that the operator names.
 */
@Injectable()
export class ForgeOwners implements RepositoryOwners {
  /** Answers that name a repository of the organization, and those of forges that do not say; others are kept as refusals. */
  private readonly readings = new ByNumber<Reading>();
  private readonly refusals = new ByNumber<Refusal>();
  private readonly names = new LRUCache<string, Fresh<ReadonlyMap<string, string>>>({ max: MAX_KEPT });
  private readonly pages = new LRUCache<string, Fresh<void>>({ max: MAX_KEPT });

  constructor(
    @Inject(ConnectedForges) private readonly forges: ForgeClients,
    private readonly seen: SeenRepositories,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  async of(asked: AskedRepository, question: OwnershipQuestion = {}): Promise<Ownership> {
    const refusal = this.refusalOf(asked);
    if (refusal) return refusal;
    const reading = this.read(asked, question);
    const found = await reading?.found;
    if (!reading || found === undefined) return this.withoutNumbers(asked);
    const ownership = judge(found, asked);
    if (ownership.is === 'ours') {
      reading.ours = ownership;
      this.refusals.delete(asked);
    } else {
      this.drop(asked, reading);
      this.refuse(asked, ownership.code);
    }
    return ownership;
  }

  /** Where the forge finds none by number, the answer rests on the store, which a glance does not read. */
  peek(asked: AskedRepository): Ownership | null {
    return this.refusalOf(asked) ?? this.trusted(asked, READ_TRUST_MS)?.ours ?? null;
  }

  forget(forge: string, id: string): void {
    this.readings.forget(forge, id);
    this.refusals.forget(forge, id);
  }

  doubt(forge: string, id: string): void {
    for (const reading of this.readings.of(forge, id)) reading.isDoubted = true;
  }

  /** The forge has just listed these as the organization's. */
  learnListed(forge: string, org: string, repositories: readonly DescribedRepository[]): void {
    const atMs = this.clock.monotonicMs();
    for (const repository of repositories) {
      const { id } = repository;
      if (!id || !isOwnedBy(repository, org)) continue;
      this.refusals.delete({ forge, org, id });
      const ownership = judge(repository, { org, id });
      const ours = ownership.is === 'ours' ? ownership : null;
      this.readings.set({ forge, org, id }, { atMs, found: Promise.resolve(repository), ours });
    }
  }

  /** Rows of the organization's feed tell the repository of now: its owner may be another one since. */
  async learnFeed(
    forge: string,
    org: string,
    rows: ReadonlyArray<{ readonly repo?: DescribedRepository | null | undefined }>,
  ): Promise<void> {
    const told = toldBy(rows, org);
    const known = await this.namesOf(forge, org);
    const news: FeedRepositories = {
      own: told.own.filter(({ id, name }) => known.get(id) !== name),
      left: told.left.filter((id) => known.has(id)),
    };
    if (news.own.length + news.left.length === 0) return;
    await this.seen.keepNamed(forge, org, news);
    this.names.delete(keyOf(forge, org.toLowerCase()));
  }

  /**
   * Repositories of events, where the forge lists none: those that the feed or the operator names, under the organization's name.
   * @param how `asksFeed`: read the newest page of the feed where one of them is not named yet
   */
  async amongSeen(
    forge: string,
    org: string,
    { asksFeed }: { asksFeed: boolean } = { asksFeed: false },
  ): Promise<EventRepository[]> {
    const named = new Set(this.namedByOperator(forge, org));
    const seen = await this.seen.list(forge, org);
    const known = await this.namesOf(forge, org);
    if (asksFeed && seen.some(({ id }) => !known.has(id) && !named.has(id))) await this.readPage(forge, org);
    const names = await this.namesOf(forge, org);
    return seen.flatMap((repository) => {
      const name = names.get(repository.id) ?? (named.has(repository.id) ? repository.name : undefined);
      return name === undefined ? [] : [{ ...repository, owner: org, name, full_name: `${org}/${name}` }];
    });
  }

  /** @returns undefined where the forge finds none by number */
  private read(asked: AskedRepository, { maxAgeMs = READ_TRUST_MS, read }: OwnershipQuestion): Reading | undefined {
    const { forge, org, id } = asked;
    const known = this.trusted(asked, maxAgeMs);
    if (known) return known;
    const access = this.forges.get(forge, org);
    if (!access?.offers('getRepoById')) return undefined;
    const ask = read ?? ((args: { id: string }): Promise<DescribedRepository> => access.client.getRepoById(args));
    const reading: Reading = { atMs: this.clock.monotonicMs(), found: whereTold(ask({ id })), ours: null };
    this.readings.set(asked, reading);
    reading.found.catch(() => this.drop(asked, reading));
    return reading;
  }

  private refusalOf(asked: AskedRepository): Ownership | undefined {
    const refusal = this.refusals.get(asked);
    const holds = refusal !== undefined && refusal.untilMs > this.clock.monotonicMs();
    return holds ? { is: 'refused', code: refusal.code } : undefined;
  }

  /** What was read before and is fresh enough. */
  private trusted(asked: AskedRepository, maxAgeMs: number): Reading | undefined {
    const known = this.readings.get(asked);
    const trustMs = known?.isDoubted ? Math.min(maxAgeMs, WRITE_TRUST_MS) : maxAgeMs;
    return known && this.clock.monotonicMs() - known.atMs < trustMs ? known : undefined;
  }

  /** Another question may have brought a newer reading meanwhile. */
  private drop(asked: AskedRepository, reading: Reading): void {
    if (this.readings.get(asked) === reading) this.readings.delete(asked);
  }

  private async withoutNumbers({ forge, org, id, name }: AskedRepository): Promise<Ownership> {
    const ours = (known: string): Ownership => ({ is: 'ours', repository: { id, owner: org, name: known } });
    const known = (await this.namesOf(forge, org)).get(id);
    if (known !== undefined) return ours(known);
    if (this.namedByOperator(forge, org).includes(id)) return ours(name);
    await this.readPage(forge, org);
    const told = (await this.namesOf(forge, org)).get(id);
    return told === undefined ? { is: 'refused', code: 'repository_unconfirmed' } : ours(told);
  }

  /** What a forge of the core profile cannot say by itself. */
  private namedByOperator(forge: string, name: string): readonly string[] {
    return this.config.orgs.find((org) => org.forge === forge && org.name === name)?.repositories ?? [];
  }

  private namesOf(forge: string, org: string): Promise<ReadonlyMap<string, string>> {
    const load = async (): Promise<ReadonlyMap<string, string>> =>
      new Map((await this.seen.named(forge, org)).map(({ id, name }) => [id, name]));
    return this.fresh(this.names, keyOf(forge, org.toLowerCase()), NAMES_FRESH_MS, load);
  }

  /** A row is written before its delivery is sent: what an event is about stands on the newest page, or the feed tells nothing of it. */
  private async readPage(forge: string, org: string): Promise<void> {
    const key = keyOf(forge, org.toLowerCase());
    await this.fresh(this.pages, key, PAGE_FRESH_MS, async () => {
      const access = this.forges.get(forge, org);
      const rows = access?.offers('listOrgFeed')
        ? await whereTold(access.client.listOrgFeed({ org, page: 1, limit: PAGE_SIZE }))
        : [];
      // Another process may have polled since the names were read.
      this.names.delete(key);
      await this.learnFeed(forge, org, rows ?? []);
    });
  }

  private fresh<Value>(
    kept: LRUCache<string, Fresh<Value>>,
    key: string,
    freshMs: number,
    make: () => Promise<Value>,
  ): Promise<Value> {
    const nowMs = this.clock.monotonicMs();
    const known = kept.get(key);
    if (known && nowMs - known.atMs < freshMs) return known.value;
    const value = make();
    kept.set(key, { atMs: nowMs, value });
    value.catch(() => void (kept.get(key)?.value === value && kept.delete(key)));
    return value;
  }

  /** Questions that shared one answer count as one refusal. */
  private refuse(asked: AskedRepository, code: OwnershipRefusal): void {
    const nowMs = this.clock.monotonicMs();
    const before = this.refusals.get(asked);
    if (before && before.untilMs > nowMs) return;
    const waitMs = before ? Math.min(before.waitMs * 4, LAST_REFUSAL_MS) : FIRST_REFUSAL_MS;
    this.refusals.set(asked, { untilMs: nowMs + waitMs, waitMs, code });
  }
}

type NumberOfOrg = Pick<AskedRepository, 'forge' | 'org' | 'id'>;

/**
 * Values by forge and number, then by organization: each organization may have credentials of its own, and what one asks about must neither keep an
 * answer from another nor tell it one.
 */
class ByNumber<Value> {
  private readonly numbers = new LRUCache<string, Map<string, Value>>({ max: MAX_KEPT });

  get size(): number {
    return this.numbers.size;
  }

  get({ forge, org, id }: NumberOfOrg): Value | undefined {
    return this.numbers.get(keyOf(forge, id))?.get(org.toLowerCase());
  }

  set({ forge, org, id }: NumberOfOrg, value: Value): void {
    const key = keyOf(forge, id);
    this.numbers.set(key, (this.numbers.get(key) ?? new Map<string, Value>()).set(org.toLowerCase(), value));
  }

  delete({ forge, org, id }: NumberOfOrg): void {
    const ofNumber = this.numbers.get(keyOf(forge, id));
    ofNumber?.delete(org.toLowerCase());
    if (ofNumber?.size === 0) this.forget(forge, id);
  }

  /** The values of every organization. */
  of(forge: string, id: string): Iterable<Value> {
    return this.numbers.get(keyOf(forge, id))?.values() ?? [];
  }

  forget(forge: string, id: string): void {
    this.numbers.delete(keyOf(forge, id));
  }
}

function judge(found: DescribedRepository | null, { org, id }: Pick<AskedRepository, 'org' | 'id'>): Ownership {
  if (found === null) return { is: 'refused', code: 'repository_gone' };
  const name = found.name ?? found.full_name?.split('/')[1];
  // A forge that answers with another repository than the one asked for, or tells no owner or no name, confirms nothing.
  if ((found.id ?? id) !== id || ownerOf(found) === null || !name)
    return { is: 'refused', code: 'repository_unconfirmed' };
  if (!isOwnedBy(found, org)) return { is: 'refused', code: 'repository_elsewhere' };
  return {
    is: 'ours',
    repository: {
      id,
      owner: ownerOf(found) ?? org,
      name,
      ...(typeof found.private === 'boolean' ? { private: found.private } : {}),
      ...(typeof found.archived === 'boolean' ? { archived: found.archived } : {}),
    },
  };
}

/** Null where the forge says that there is no such thing; undefined where it has no such call, or this token may not make it. */
async function whereTold<Answer>(asked: Promise<Answer>): Promise<Answer | null | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not-offered') return undefined;
    if (error.kind === 'refused' && error.facts.status === 404) return null;
    if (error.kind === 'refused' && error.facts.status === 403) return undefined;
    throw error;
  }
}

/** Of several rows about one repository the first, which is the newest. */
function toldBy(
  rows: ReadonlyArray<{ readonly repo?: DescribedRepository | null | undefined }>,
  org: string,
): FeedRepositories {
  const own = new Map<string, FeedRepository>();
  const left = new Set<string>();
  for (const { repo } of rows) {
    const [id, name] = [repo?.id, repo?.name];
    if (!repo || !id || !name || own.has(id) || left.has(id) || ownerOf(repo) === null) continue;
    if (isOwnedBy(repo, org)) own.set(id, { id, name });
    else left.add(id);
  }
  return { own: [...own.values()], left: [...left] };
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
