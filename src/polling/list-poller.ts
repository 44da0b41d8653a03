import { z } from 'zod';
import { ForgeError } from '../core/errors.js';
import { goPast } from '../core/go-past.js';
import { hashOf } from '../core/ids.js';
import { stringifyJson } from '../core/json.js';
import type { Logger } from '../core/logger.js';
import type { ForgeClient } from '../forge/forge-client.js';
import { EntryWriter, type EntryWriterDeps, type PolledOrg, type ReadRow } from '../pipeline/receive.js';
import { CallAllowance } from './call-allowance.js';
import type { CursorStore } from './cursor-store.port.js';
import { isUpTo, toWholeSecond } from './feed-position.js';
import { keptPosition, movedOn } from './kept-position.js';
import type { PolledRepository, RepositoryLister } from './known-repositories.js';

/** How far the lists of issues and releases of an organization are known. */
const listPosition = z.object({
  /** The first visit, to the second: earlier changes are a baseline for comparison, never events. */
  since: z.iso.datetime(),
  /** `since` moved on from the first visit. */
  hasMoved: z.boolean().default(false),
  /** Every issue that changed up to this time has been read. */
  settledTo: z.iso.datetime(),
  /** A reading that the calls did not suffice for: it goes on with this page, and settles up to this time. */
  reading: z.object({ page: z.int().positive(), until: z.iso.datetime() }).nullable(),
  /** Next page of the open issues as they were at first; null = all are known. */
  baselinePage: z.int().positive().nullable(),
  /** When a visit came to its end last. */
  visitedAt: z.iso.datetime().nullable(),
  /** Id of the repository whose releases were read last. */
  after: z.string().nullable(),
  /** Ids of the repositories whose releases were read at least once. */
  seen: z.array(z.string()),
});

type ListPosition = z.output<typeof listPosition>;

export interface ListPollerDeps extends EntryWriterDeps {
  readonly client: Pick<ForgeClient, 'searchIssues' | 'listReleases'>;
  readonly offers: (name: 'searchIssues' | 'listReleases') => boolean;
  readonly cursors: CursorStore;
  readonly repositories: RepositoryLister;
  readonly logger: Logger;
  /** What happened longer ago is no news for any visit. Default: only what is older than the first visit. */
  readonly historyDays?: number;
  /** Maximum number of calls in one visit; the next visit continues. */
  readonly callsPerVisit: number;
  /** Time between two visits, also over restarts. */
  readonly everyMs: () => number;
  /** Time that a change's delivery and row have to come before the lists are used. */
  readonly graceMs: () => number;
}

interface ListVisit {
  readonly calls: number;
  /** New arrivals. */
  readonly stored: number;
  /** Whether all issues that changed were read. */
  readonly complete: boolean;
}

const PAGE_SIZE = 50;
/** Read again at each visit, because clocks differ and some servers show a change late. */
const OVERLAP_MS = 10 * 60_000;

type Issue = Awaited<ReturnType<ForgeClient['searchIssues']>>[number];
type Release = Awaited<ReturnType<ForgeClient['listReleases']>>[number];

/**
 * The slow sweep for changes that neither a delivery nor the feed reported: issues and pull requests that changed
 * since the last visit (one call for the whole organization while it is quiet), and the releases of its repositories
 * in turn. It stores an object as it is now; deciding its event shows whether it differs from what is known. Works
 * only where the forge has the calls.
 */
export class ListPoller {
  private readonly writer: EntryWriter;
  /** The last visit ran out of calls: the next one continues. */
  isCutOff = false;

  constructor(
    private readonly deps: ListPollerDeps,
    private readonly polled: PolledOrg,
  ) {
    this.writer = new EntryWriter(deps, polled, 'lists');
  }

  /**
   * One visit; the next begins when it has ended (`PollLoop`).
   * @throws ForgeError when the forge cannot be read; what was read before is stored, and read again
   */
  async poll(): Promise<ListVisit> {
    const { forge, org } = this.polled;
    const { cursors, clock } = this.deps;
    const start = toWholeSecond(clock.now()).toISOString();
    const { position: storedPosition } = await keptPosition(cursors, {
      ...this.polled,
      source: 'lists',
      schema: listPosition,
      first: {
        since: start,
        hasMoved: false,
        settledTo: start,
        reading: null,
        baselinePage: 1,
        visitedAt: null,
        after: null,
        seen: [],
      },
    });
    const position = movedOn(storedPosition, clock.now(), this.deps.historyDays ?? null);
    if (!isDue(position, clock.now(), this.deps.everyMs())) return { calls: 0, stored: 0, complete: true };
    const allowance = new CallAllowance(this.deps.callsPerVisit);
    let stored = 0;
    try {
      const repositories = await this.deps.repositories.list(() => allowance.spend());
      stored += await this.readChanged(position, repositories, allowance);
      stored += await this.readBaseline(position, repositories, allowance);
      const releases = await this.readReleases(position, repositories, allowance);
      stored += releases.stored;
      position.visitedAt = clock.now().toISOString();
      if (releases.failure) throw releases.failure;
    } finally {
      this.isCutOff = isUnfinished(position);
      await cursors.write(forge, org, 'lists', position);
    }
    return { calls: allowance.spent, stored, complete: position.reading === null };
  }

  /** Newest issue first; those that come while it is read push others down, so that a page may show some twice and leaves none out. */
  private async readChanged(
    position: ListPosition,
    repositories: readonly PolledRepository[],
    allowance: CallAllowance,
  ): Promise<number> {
    const { clock, graceMs } = this.deps;
    const until = position.reading?.until ?? toWholeSecond(new Date(clock.now().getTime() - graceMs())).toISOString();
    const from = Math.max(Date.parse(position.settledTo) - OVERLAP_MS, Date.parse(position.since));
    let stored = 0;
    let page = position.reading?.page ?? 1;
    for (let isFirst = true; isFirst || allowance.isLeft; isFirst = false) {
      const answer = await this.search({ state: 'all', since: new Date(from).toISOString(), page }, allowance);
      if (!answer) return stored;
      const { issues, total } = answer;
      const settled = issues.filter(
        ({ updated_at: at }) => typeof at === 'string' && Date.parse(at) <= Date.parse(until),
      );
      stored += await this.keep(settled.flatMap((issue) => issueRow(issue, repositories, position.since, false)));
      if (issues.length === 0 || (page === 1 && issues.length === total)) {
        position.reading = null;
        if (until > position.settledTo) position.settledTo = until;
        return stored;
      }
      // Out of calls: read this page again, because a removed issue moves the others up.
      position.reading = { page, until };
      page += 1;
    }
    return stored;
  }

  /**
   * The open issues at the start, for comparison with their first change. Uses at most half of the calls of a visit.
   */
  private async readBaseline(
    position: ListPosition,
    repositories: readonly PolledRepository[],
    allowance: CallAllowance,
  ): Promise<number> {
    let stored = 0;
    const half = Math.max(1, Math.floor(this.deps.callsPerVisit / 2));
    for (let calls = 0; position.baselinePage !== null && calls < half && allowance.isLeft; calls += 1) {
      const answer = await this.search({ state: 'open', page: position.baselinePage }, allowance);
      if (!answer) return stored;
      const { issues } = answer;
      const old = issues.filter(
        ({ updated_at: at }) => typeof at === 'string' && Date.parse(at) < Date.parse(position.since),
      );
      stored += await this.keep(old.flatMap((issue) => issueRow(issue, repositories, position.since, true)));
      position.baselinePage = issues.length === 0 ? null : position.baselinePage + 1;
    }
    return stored;
  }

  private async readReleases(
    position: ListPosition,
    repositories: readonly PolledRepository[],
    allowance: CallAllowance,
  ): Promise<{ stored: number; failure: ForgeError | null }> {
    if (!this.deps.offers('listReleases')) return { stored: 0, failure: null };
    const ids = new Set(repositories.map(({ id }) => id));
    position.seen = position.seen.filter((id) => ids.has(id));
    let stored = 0;
    const round = roundFrom(repositories, position.after);
    function* withinCalls(): Generator<PolledRepository> {
      for (const repository of round) if (allowance.spendIfLeft()) yield repository;
    }
    const failed = await goPast(withinCalls(), async (repository) => {
      // One that fails has had its turn, so that those behind it get theirs.
      position.after = repository.id;
      const releases = await orRefused(
        this.deps.client.listReleases({ owner: repository.owner, repo: repository.name, limit: PAGE_SIZE }),
      );
      const isFirst = !position.seen.includes(repository.id);
      for (const release of releases ?? [])
        stored += await this.keep(releaseRow(release, repository, position.since, isFirst));
      if (isFirst && releases) position.seen.push(repository.id);
    });
    for (const { one, error } of failed)
      this.deps.logger.warn({ org: this.polled.org, repository: one.name, error: error.message }, 'releases.not-read');
    return { stored, failure: failed[0]?.error ?? null };
  }

  /** Null where the forge does not have the call, or does not let us make it. */
  private async search(
    what: { state: string; since?: string; page: number },
    allowance: CallAllowance,
  ): Promise<{ issues: Issue[]; total: number | null } | null> {
    if (!this.deps.offers('searchIssues')) return null;
    allowance.spend();
    let total: number | null = null;
    const onReply = (info: { totalCount: number | null }): void => void (total = info.totalCount);
    const issues = await orRefused(
      this.deps.client.searchIssues({ owner: this.polled.org, limit: PAGE_SIZE, ...what }, { onReply }),
    );
    return issues && { issues, total };
  }

  private async keep(rows: readonly ReadRow[]): Promise<number> {
    return this.writer.store(await this.writer.unknown(rows));
  }
}

function isUnfinished({ reading, baselinePage }: ListPosition): boolean {
  return reading !== null || baselinePage !== null;
}

/** What was not read to its end goes on in a quarter of the time; turns come a tenth too early or too late. */
function isDue(position: ListPosition, now: Date, everyMs: number): boolean {
  if (position.visitedAt === null) return true;
  return now.getTime() - Date.parse(position.visitedAt) >= everyMs * (isUnfinished(position) ? 0.2 : 0.8);
}

async function orRefused<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'not-offered', 'moved'].includes(error.kind)) return null;
    throw error;
  }
}

function issueRow(
  issue: Issue,
  repositories: readonly PolledRepository[],
  since: string,
  isBaseline: boolean,
): ReadRow[] {
  const { repository: ofIssue, number } = issue;
  if (typeof ofIssue?.id !== 'string' || number === undefined || number === null) return [];
  const ours = repositories.find(({ id }) => id === ofIssue.id);
  const repository = ours?.fields ?? {
    ...ofIssue,
    owner: { login: ofIssue.owner ?? ofIssue.full_name?.split('/')[0] },
  };
  const row = { list: 'issues', since, ...(isBaseline ? { baseline: true } : {}), repository, object: issue };
  return [{ entryKey: `issue/${ofIssue.id}/${number}@${issue.updated_at ?? ''}`, row, isHistory: false }];
}

/** A release has no time of its last change: its content identifies a row. */
function releaseRow(release: Release, repository: PolledRepository, since: string, isFirst: boolean): ReadRow[] {
  const { id, tag_name: tag, name, body, draft, prerelease, published_at: published } = release;
  if (typeof id !== 'string' || typeof tag !== 'string') return [];
  const isOld = typeof published !== 'string' || Date.parse(published) < Date.parse(since);
  const text = hashOf(
    stringifyJson([tag, name ?? null, body ?? null, draft ?? null, prerelease ?? null, published ?? null]),
  );
  const row = {
    list: 'releases',
    since,
    ...(isFirst && isOld ? { baseline: true } : {}),
    repository: repository.fields,
    object: release,
  };
  return [{ entryKey: `release/${id}@${text.slice(0, 16)}`, row, isHistory: false }];
}

/** All repositories in turn, starting after the one read last. */
function roundFrom(repositories: readonly PolledRepository[], after: string | null): PolledRepository[] {
  const sorted = [...repositories].sort((a, b) => (isUpTo(a.id, b.id) ? -1 : 1));
  if (after === null) return sorted;
  return [...sorted.filter(({ id }) => !isUpTo(id, after)), ...sorted.filter(({ id }) => isUpTo(id, after))];
}
