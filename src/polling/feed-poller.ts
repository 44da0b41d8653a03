import type { Logger } from '../core/logger.js';
import { readContentParts, readNumber } from '../events/feed-content.js';
import { readGroup, REVIEW_MARK, writtenTogether } from '../events/review-rows.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { DescribedRepository } from '../core/repository-owner.js';
import type { CursorStore } from './cursor-store.port.js';
import type { EntryWriterDeps, PolledOrg, ReadRow } from '../pipeline/receive.js';
import { EntryWriter } from '../pipeline/receive.js';
import type { FeedPosition } from './feed-position.js';
import { keptPosition, movedOn } from './kept-position.js';
import { feedPosition, isBefore, isUpTo, largestId, toWholeSecond } from './feed-position.js';

export interface FeedPollerDeps extends EntryWriterDeps {
  readonly client: Pick<ForgeClient, 'listOrgFeed'>;
  readonly cursors: CursorStore;
  readonly logger: Logger;
  /** When this bot started. The first poll ever treats older rows as history. */
  readonly startedAt: Date;
  /** What happened longer ago is history for every poll. Default: only what is older than the first start. */
  readonly historyDays?: number;
  /** Called with the new rows: they name repositories of the organization. */
  readonly read?: (rows: ReadonlyArray<{ readonly repo?: DescribedRepository | null | undefined }>) => Promise<void>;
  /** Called for each repository in which something new happened. */
  readonly moved?: (repositoryId: string) => void;
  /**
   * Ids of the comments of a pull request that changed since then; null when the forge does not offer the list. Called only for rows that may be
   * comments or a review. Optional. Without it, those of one second are one review, and of one alone nobody knows.
   */
  readonly commentsOf?: (place: CommentsPlace) => Promise<readonly string[] | null>;
  /** Maximum number of pages with news in one poll; the next poll skips them and continues. */
  readonly maxPages?: number;
  /** Without a poll for longer than this, there was an outage. Default: ten minutes; more when polls are rarer. */
  readonly outageMs?: () => number;
}

interface CommentsPlace {
  readonly owner: string;
  readonly repo: string;
  readonly index: number;
  readonly since: string;
}

interface FeedPoll {
  /** Calls made. */
  readonly pages: number;
  /** New arrivals. */
  readonly stored: number;
  /** False when `maxPages` cut it off. */
  readonly complete: boolean;
}

/** The servers' largest page; smaller caps are taken as they come. */
const PAGE_SIZE = 50;
const DEFAULT_MAX_PAGES = 200;
const DEFAULT_OUTAGE_MS = 10 * 60_000;
const LOOK_BACK_DAYS = 3;
const DAY_MS = 24 * 3_600_000;
/** A row is written after its comment, on a busy server in another second. */
const WRITTEN_BEFORE_MS = 60_000;
/** No time zone is further from UTC. */
const ZONE_MARGIN_MS = 14 * 3_600_000;

/**
 * Reads the activity feed of one organization (op 8) into the inbox. The feed has no "after id", it lists rows of one
 * second in any order, different at each call, and rows move while the poller reads. A poll therefore reads until a
 * whole page is known and ends before the time up to which everything is settled. That time advances only after a
 * poll that saw no row twice (a row hidden at the edge of two pages shows another one twice) and had news only on its
 * first page (removed rows move others up over an edge unseen). Otherwise the next poll reads the same stretch again.
 */
export class FeedPoller {
  private readonly writer: EntryWriter;
  /** The last poll did not reach the end. */
  isCutOff = false;

  constructor(
    private readonly deps: FeedPollerDeps,
    private readonly polled: PolledOrg,
  ) {
    this.writer = new EntryWriter(deps, polled, 'feed');
  }

  /**
   * One poll; the next begins when it has ended (`PollLoop`).
   * @throws ForgeError when the forge cannot be read; nothing is stored then and nothing is lost
   */
  async poll(): Promise<FeedPoll> {
    const { forge, org } = this.polled;
    const since = toWholeSecond(this.deps.startedAt).toISOString();
    const { position: storedPosition, advancedAt } = await keptPosition(this.deps.cursors, {
      ...this.polled,
      source: 'feed',
      schema: feedPosition,
      first: { since, hasMoved: false, historyTo: null, settledTo: since },
    });
    const now = this.deps.clock.now();
    const position = movedOn(storedPosition, now, this.deps.historyDays ?? null);
    const wasAway =
      advancedAt !== null && now.getTime() - advancedAt.getTime() > (this.deps.outageMs?.() ?? DEFAULT_OUTAGE_MS);
    const reading = await this.readPages(wasAway ? lookingBack(position, now) : position);
    // Before the rows are stored: what comes from now on is new to every process, whatever their clocks and the forge's say.
    if (position.historyTo !== reading.position.historyTo) {
      const firstSeen = { ...storedPosition, historyTo: reading.position.historyTo };
      if (!(await this.deps.cursors.replace(forge, org, 'feed', storedPosition, firstSeen)))
        return this.leaveToOther(reading.pages);
    }
    const fresh = [...reading.fresh].sort((a, b) => (isUpTo(a.id, b.id) ? -1 : 1));
    // Before the rows are stored: their events ask whose the repositories are.
    if (fresh.length > 0) await this.deps.read?.(fresh.toReversed().map(({ row }) => row as Activity));
    const stored = await this.writer.store(fresh);
    for (const { row, isHistory } of fresh) if (!isHistory) this.tellMovement(row as Activity);
    this.isCutOff = !reading.complete;
    await this.deps.cursors.write(forge, org, 'feed', reading.position);
    if (!reading.complete) this.deps.logger.warn({ forge, org, pages: reading.pages }, 'feed.not-read-to-end');
    return { pages: reading.pages, stored, complete: reading.complete };
  }

  /** Another process made the first poll meanwhile, and knows better which rows were there before: the next poll goes on from its position. */
  private leaveToOther(pages: number): FeedPoll {
    this.isCutOff = true;
    return { pages, stored: 0, complete: false };
  }

  private tellMovement(row: Activity): void {
    const id = row.repo?.id ?? row.repo_id;
    if (typeof id === 'string') this.deps.moved?.(id);
  }

  private async readPages(
    start: FeedPosition,
  ): Promise<{ fresh: FeedRowRead[]; pages: number; complete: boolean; position: FeedPosition }> {
    const { since, hasMoved, settledTo } = start;
    const limit = this.deps.maxPages ?? DEFAULT_MAX_PAGES;
    const idsRead = new Set<string>();
    const fresh: FeedRowRead[] = [];
    const all: Activity[] = [];
    let historyTo = start.historyTo ?? '0';
    let newest = settledTo;
    let isSure = true;
    let pages = 0;
    let newsPages = 0;
    let complete = false;
    while (!complete && newsPages < limit) {
      pages += 1;
      const rows = await this.deps.client.listOrgFeed({ org: this.polled.org, page: pages, limit: PAGE_SIZE });
      const read = rows.flatMap(rowsWithId);
      // The first poll ever: rows that are older than the start are history, whatever the two clocks say later.
      if (start.historyTo === null)
        historyTo = largestId(
          read.filter(({ created }) => isBefore(created, since)).map(({ id }) => id),
          historyTo,
        );
      const judged = read
        .filter(({ id }) => !idsRead.has(id))
        .map((row) => ({ ...row, isHistory: isBefore(row.created, since) && (hasMoved || isUpTo(row.id, historyTo)) }));
      const unknown = await this.writer.unknown(judged);
      const hasNews = unknown.some(({ isHistory }) => !isHistory);
      if (judged.length < read.length || (hasNews && pages > 1)) isSure = false;
      if (hasNews) newsPages += 1;
      for (const { id } of read) idsRead.add(id);
      all.push(...rows);
      fresh.push(...unknown);
      newest = latest(newest, read[0]?.created ?? null);
      // A page that brings nothing new is the last one: a server that does not know `page` answers the same rows for ever.
      complete = judged.length === 0 || (!hasNews && isBefore(read.at(-1)?.created ?? null, settledTo));
    }
    return {
      fresh: await this.withReviews(fresh, all),
      pages,
      complete,
      position: {
        since,
        hasMoved,
        historyTo: complete ? historyTo : start.historyTo,
        settledTo: complete && isSure ? newest : settledTo,
      },
    };
  }

  /** Says of each row of a comment or review which of the two it is; the rows known before tell it of a late one too. */
  private async withReviews(fresh: readonly FeedRowRead[], all: readonly Activity[]): Promise<FeedRowRead[]> {
    const ids = new Set(fresh.map(({ id }) => id));
    const groups = writtenTogether(all).filter((group) => group.some(({ id }) => ids.has(id ?? '')));
    const marks = new Map<string, unknown>();
    for (const ofOne of byPullRequest(groups)) {
      const comments = await this.commentsAmong(ofOne.flat());
      for (const group of ofOne) for (const [id, mark] of readGroup(group, comments)) marks.set(id, mark);
    }
    return fresh.map((read) => {
      const mark = marks.get(read.id);
      return mark === undefined ? read : { ...read, row: { ...(read.row as Activity), [REVIEW_MARK]: mark } };
    });
  }

  /** A list that cannot be read holds no row back: the deliveries of comments still name their ids. */
  private async commentsAmong(rows: readonly Activity[]): Promise<ReadonlySet<string> | null> {
    const [row] = rows.toSorted((a, b) => Date.parse(a.created ?? '') - Date.parse(b.created ?? ''));
    const index = readNumber(readContentParts(row?.content ?? ''));
    const [owner, repo] = row?.repo?.full_name?.split('/') ?? [];
    if (!this.deps.commentsOf || index === null || !row?.created || !owner || !repo) return null;
    try {
      const since = new Date(Date.parse(row.created) - WRITTEN_BEFORE_MS).toISOString();
      const ids = await this.deps.commentsOf({ owner, repo, index, since });
      return ids && new Set(ids);
    } catch (error) {
      this.deps.logger.debug({ ...this.polled, repo: row.repo?.full_name, error }, 'comments.not-read');
      return null;
    }
  }
}

/** One list of comments tells of all rows of a pull request. */
function byPullRequest(groups: ReadonlyArray<readonly Activity[]>): Array<ReadonlyArray<readonly Activity[]>> {
  const groupsOfPull = new Map<string, Array<readonly Activity[]>>();
  for (const group of groups) {
    const key = JSON.stringify([group[0]?.repo_id, readNumber(readContentParts(group[0]?.content ?? ''))]);
    groupsOfPull.set(key, [...(groupsOfPull.get(key) ?? []), group]);
  }
  return [...groupsOfPull.values()];
}

/**
 * Where reading ends after an outage: three calendar days back in any zone, because a server that had trouble too may
 * show rows late, below those already read. Never before the first start. Pure.
 */
export function lookingBack(position: FeedPosition, now: Date): FeedPosition {
  const day = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const from = Math.max(day - LOOK_BACK_DAYS * DAY_MS - ZONE_MARGIN_MS, Date.parse(position.since));
  return from < Date.parse(position.settledTo) ? { ...position, settledTo: new Date(from).toISOString() } : position;
}

interface FeedRowRead extends ReadRow {
  readonly id: string;
  readonly created: string | null;
}

type Activity = Awaited<ReturnType<ForgeClient['listOrgFeed']>>[number];

/** A row without an id cannot be recognized again. No server is known to send one; the poller leaves it out. */
function rowsWithId(row: Activity): FeedRowRead[] {
  return typeof row.id === 'string' && /^\d+$/.test(row.id)
    ? [{ entryKey: row.id, row, id: row.id, created: row.created ?? null, isHistory: false }]
    : [];
}

function latest(time: string, other: string | null): string {
  return other !== null && Date.parse(other) > Date.parse(time) ? new Date(other).toISOString() : time;
}
