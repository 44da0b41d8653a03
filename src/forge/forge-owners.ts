import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppConfig } from '../config/app-config.js';
import { orgNames } from '../config/live-config.js';
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
  readonly repository: Promise<DescribedRepository | null | undefined>;
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
  private readonly nameOf: (org: string) => string;

  constructor(
    @Inject(ConnectedForges) private readonly forges: ForgeClients,
    private readonly seen: SeenRepositories,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.nameOf = orgNames(config);
  }

  async of(repository: AskedRepository, question: OwnershipQuestion = {}): Promise<Ownership> {
    const refusal = this.refusalOf(repository);
    if (refusal) return refusal;
    const reading = this.read(repository, question);
    const description = await reading?.repository;
    if (!reading || description === undefined) return this.withoutNumbers(repository);
    const ownership = judge(description, repository, this.nameOf(repository.org));
    if (ownership.is === 'ours') {
      reading.ours = ownership;
      this.refusals.delete(repository);
    } else {
      this.drop(repository, reading);
      this.refuse(repository, ownership.code);
    }
    return ownership;
  }

  /** Where the forge finds none by number, the answer rests on the store, which a glance does not read. */
  peek(repository: AskedRepository): Ownership | null {
    return this.refusalOf(repository) ?? this.trusted(repository, READ_TRUST_MS)?.ours ?? null;
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
      if (!id || !isOwnedBy(repository, this.nameOf(org))) continue;
      this.refusals.delete({ forge, org, id });
      const ownership = judge(repository, { id }, this.nameOf(org));
      const ours = ownership.is === 'ours' ? ownership : null;
      this.readings.set({ forge, org, id }, { atMs, repository: Promise.resolve(repository), ours });
    }
  }

  /** Rows of the organization's feed tell the repository of now: its owner may be another one since. */
  async learnFeed(
    forge: string,
    org: string,
    rows: ReadonlyArray<{ readonly repo?: DescribedRepository | null | undefined }>,
  ): Promise<void> {
    const feed = toldBy(rows, this.nameOf(org));
    const names = await this.namesOf(forge, org);
    const news: FeedRepositories = {
      own: feed.own.filter(({ id, name }) => names.get(id) !== name),
      movedAway: feed.movedAway.filter((id) => names.has(id)),
    };
    if (news.own.length + news.movedAway.length === 0) return;
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
    const namesBefore = await this.namesOf(forge, org);
    if (asksFeed && seen.some(({ id }) => !namesBefore.has(id) && !named.has(id))) await this.readPage(forge, org);
    const names = await this.namesOf(forge, org);
    const owner = this.nameOf(org);
    return seen.flatMap((repository) => {
      const name = names.get(repository.id) ?? (named.has(repository.id) ? repository.name : undefined);
      return name === undefined ? [] : [{ ...repository, owner, name, full_name: `${owner}/${name}` }];
    });
  }

  /** @returns undefined where the forge finds none by number */
  private read(
    repository: AskedRepository,
    { maxAgeMs = READ_TRUST_MS, read }: OwnershipQuestion,
  ): Reading | undefined {
    const { forge, org, id } = repository;
    const earlier = this.trusted(repository, maxAgeMs);
    if (earlier) return earlier;
    const access = this.forges.get(forge, org);
    if (!access?.offers('getRepoById')) return undefined;
    const ask = read ?? ((args: { id: string }): Promise<DescribedRepository> => access.client.getRepoById(args));
    const reading: Reading = { atMs: this.clock.monotonicMs(), repository: whereTold(ask({ id })), ours: null };
    this.readings.set(repository, reading);
    reading.repository.catch(() => this.drop(repository, reading));
    return reading;
  }

  private refusalOf(repository: AskedRepository): Ownership | undefined {
    const refusal = this.refusals.get(repository);
    const holds = refusal !== undefined && refusal.untilMs > this.clock.monotonicMs();
    return holds ? { is: 'refused', code: refusal.code } : undefined;
  }

  /** What was read before and is fresh enough. */
  private trusted(repository: AskedRepository, maxAgeMs: number): Reading | undefined {
    const reading = this.readings.get(repository);
    const trustMs = reading?.isDoubted ? Math.min(maxAgeMs, WRITE_TRUST_MS) : maxAgeMs;
    return reading && this.clock.monotonicMs() - reading.atMs < trustMs ? reading : undefined;
  }

  /** Another question may have brought a newer reading meanwhile. */
  private drop(repository: AskedRepository, reading: Reading): void {
    if (this.readings.get(repository) === reading) this.readings.delete(repository);
  }

  private async withoutNumbers({ forge, org, id, name }: AskedRepository): Promise<Ownership> {
    const owner = this.nameOf(org);
    const ours = (nameOfNow: string): Ownership => ({ is: 'ours', repository: { id, owner, name: nameOfNow } });
    const nameBefore = (await this.namesOf(forge, org)).get(id);
    if (nameBefore !== undefined) return ours(nameBefore);
    if (this.namedByOperator(forge, org).includes(id)) return ours(name);
    await this.readPage(forge, org);
    const nameOnPage = (await this.namesOf(forge, org)).get(id);
    return nameOnPage === undefined ? { is: 'refused', code: 'repository_unconfirmed' } : ours(nameOnPage);
  }

  /** What a forge of the core profile cannot say by itself. */
  private namedByOperator(forge: string, key: string): readonly string[] {
    return this.config.orgs.find((org) => org.forge === forge && org.key === key)?.repositories ?? [];
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
    cache: LRUCache<string, Fresh<Value>>,
    key: string,
    freshMs: number,
    make: () => Promise<Value>,
  ): Promise<Value> {
    const nowMs = this.clock.monotonicMs();
    const earlier = cache.get(key);
    if (earlier && nowMs - earlier.atMs < freshMs) return earlier.value;
    const value = make();
    cache.set(key, { atMs: nowMs, value });
    value.catch(() => void (cache.get(key)?.value === value && cache.delete(key)));
    return value;
  }

  /** Questions that shared one answer count as one refusal. */
  private refuse(repository: AskedRepository, code: OwnershipRefusal): void {
    const nowMs = this.clock.monotonicMs();
    const before = this.refusals.get(repository);
    if (before && before.untilMs > nowMs) return;
    const waitMs = before ? Math.min(before.waitMs * 4, LAST_REFUSAL_MS) : FIRST_REFUSAL_MS;
    this.refusals.set(repository, { untilMs: nowMs + waitMs, waitMs, code });
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

/** @param name of the organization at the forge */
function judge(description: DescribedRepository | null, { id }: Pick<AskedRepository, 'id'>, name: string): Ownership {
  if (description === null) return { is: 'refused', code: 'repository_gone' };
  const repositoryName = description.name ?? description.full_name?.split('/')[1];
  // A forge that answers with another repository than the one asked for, or tells no owner or no name, confirms nothing.
  if ((description.id ?? id) !== id || ownerOf(description) === null || !repositoryName)
    return { is: 'refused', code: 'repository_unconfirmed' };
  if (!isOwnedBy(description, name)) return { is: 'refused', code: 'repository_elsewhere' };
  return {
    is: 'ours',
    repository: {
      id,
      owner: ownerOf(description) ?? name,
      name: repositoryName,
      ...(typeof description.private === 'boolean' ? { private: description.private } : {}),
      ...(typeof description.archived === 'boolean' ? { archived: description.archived } : {}),
    },
  };
}

/** Null where the forge says that there is no such thing; undefined where it has no such call, or this token may not make it. */
async function whereTold<Answer>(call: Promise<Answer>): Promise<Answer | null | undefined> {
  try {
    return await call;
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
  const movedAway = new Set<string>();
  for (const { repo } of rows) {
    const [id, name] = [repo?.id, repo?.name];
    if (!repo || !id || !name || own.has(id) || movedAway.has(id) || ownerOf(repo) === null) continue;
    if (isOwnedBy(repo, org)) own.set(id, { id, name });
    else movedAway.add(id);
  }
  return { own: [...own.values()], movedAway: [...movedAway] };
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
