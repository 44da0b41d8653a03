import { isSameLogin } from '../../actions/support/compare.js';
import { ForgeError } from '../../core/errors.js';
import { isClaimed } from '../../core/event-knowledge.js';
import type { EventActor, EventRepository, ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Issue } from '../../core/objects/tracker.js';
import { type ForgeClient, listAll, orMissing, whereAllowed } from '../../forge/forge-client.js';
import type { ListItem, OperationName, OperationResult } from '../../forge/operations.js';
import type { ForgeAccess } from '../execute/forge-access.js';
import { EARLIER_PAGE } from '../inbox-store.port.js';
import { readFiles } from './field-reader.js';

/** Most time between an act and its delivery, either way: forges deliver within seconds, and clocks differ by minutes. */
export const WINDOW_MS = 3_600_000;
const FEED_PAGE = 50;
/** A feed with more rows than this within the window is not searched to its end. */
const FEED_PAGES = 4;
/** Earlier events of one fact that are looked through: more than an honest account makes in the time. Whoever floods makes each later proof no dearer. */
const EARLIER_PAGES = 10;
/** A list about one issue, pull request or commit that is longer than this confirms nothing: anybody may make it long. */
const LIST_PAGES = 40;

export type FeedFact = Pick<ForgeEvent, 'kind' | 'factKey' | 'factAt' | 'actor' | 'data'>;

/** The events that a row of the feed tells. */
export type ReadRow = (row: object, org: string) => readonly FeedFact[];

/** A feed row's fact with the number and the time of its row. */
export interface FeedRowFact extends FeedFact {
  readonly row: string;
  readonly at: string | null | undefined;
}

/** Upon which entries of the forge the rule acted already for another event, each with that event. */
export type ToldActs = (acts: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The entries that an event tells, of those that no earlier one told. */
export type Take<Entry> = (event: ForgeEvent, entries: readonly Entry[]) => readonly Entry[];

/** A delivery is stored after its act; the clocks of bot and forge differ by about so much. */
const CLOCKS_DIFFER_MS = 5_000;

interface ContextParts {
  readonly access: ForgeAccess;
  readonly event: ForgeEvent;
  readonly actor: EventActor;
  /** With the owner and name that the forge says. */
  readonly repo: EventRepository;
  readonly readRow: ReadRow;
  readonly toldActs: ToldActs;
  /** Events of this kind about this object that were stored before this one, without those that the forge did not confirm to the rule, as `InboxStore.toldEarlier` pages them. */
  readonly earlier: (after: string | null) => Promise<readonly ForgeEvent[]>;
}

/** Undefined = this forge, or this token, cannot make the read; null = there is no such thing. */
type Read<Answer> = Promise<Answer | null | undefined>;

/**
 * An act as a delivery tells of it, and the objects of the forge about it. Each is read at most once: what confirms the act and what the rule reads of it
 * are the same answer.
 */
export class ActContext {
  readonly event: ForgeEvent;
  readonly actor: EventActor;
  readonly repo: EventRepository;
  private readonly answers = new Map<string, Promise<unknown>>();
  /** An event that stands on an entry which was found. */
  firstTold: string | null = null;

  constructor(private readonly parts: ContextParts) {
    ({ event: this.event, actor: this.actor, repo: this.repo } = parts);
  }

  /**
   * The entries that are left to this event: upon which the rule did not act for another one, and which no earlier event told. Each act of the forge is told
   * once; whoever tells it again may have waited until what the rule reads besides had changed.
   * @param take Default: earlier events take nothing, and are not read
   */
  async free<Entry>(entries: readonly Entry[], actOf: (entry: Entry) => string, take?: Take<Entry>): Promise<Entry[]> {
    if (entries.length === 0) return [];
    const eventsOfActs = await this.parts.toldActs(entries.map(actOf));
    let freeEntries = entries.filter((entry) => !eventsOfActs.has(actOf(entry)));
    this.firstTold ??= [...eventsOfActs.values()][0] ?? null;
    // What polling reads is no claim: it only takes no act upon which the rule acted.
    if (!take || !isClaimed(this.event)) return freeEntries;
    const acted = new Set(eventsOfActs.values());
    let after: string | null = null;
    for (let page = 0; freeEntries.length > 0; page += 1) {
      if (page === EARLIER_PAGES) {
        // Told so often, nobody can say which of them was the first.
        this.firstTold ??= after;
        return [];
      }
      const earlier: readonly ForgeEvent[] = await this.earlierPage(after);
      for (const event of earlier) {
        if (acted.has(event.id) || !isSame(this.actor, event.actor)) continue;
        const takenEntries = new Set(take(event, freeEntries));
        freeEntries = freeEntries.filter((entry) => !takenEntries.has(entry));
        if (takenEntries.size > 0) this.firstTold ??= event.id;
      }
      if (earlier.length < EARLIER_PAGE) break;
      after = earlier.at(-1)?.id ?? null;
    }
    return freeEntries;
  }

  /** Of several pages the first is kept: they may be large. */
  private earlierPage(after: string | null): Promise<readonly ForgeEvent[]> {
    return after === null ? this.once('earlier', () => this.parts.earlier(null)) : this.parts.earlier(after);
  }

  get index(): string {
    return textAt(this.event.data, 'number');
  }

  issue(): Read<Issue> {
    return this.one('getIssue', (get) => get({ ...this.names, index: this.index }));
  }

  pull(): Read<OperationResult<'getPull'>> {
    return this.one('getPull', (get) => get({ ...this.names, index: this.index }));
  }

  comment(): Read<OperationResult<'getComment'>> {
    const id = textAt(objectAt(this.event.data, 'comment'), 'id');
    return this.one('getComment', async (get) => (await get({ ...this.names, id })) ?? null);
  }

  reviews(): Read<ListItem<'listReviews'>[]> {
    return this.list('listReviews', { ...this.names, index: this.index });
  }

  /** The entries of the window. */
  async timeline(): Read<ListItem<'listTimeline'>[]> {
    const since = new Date(this.event.storedAt.getTime() - WINDOW_MS).toISOString();
    try {
      return await this.list('listTimeline', { ...this.names, index: this.index, since });
    } catch (error) {
      // Forges answer 500 where there is no such issue, for ever.
      if (error instanceof ForgeError && error.facts.status === 500 && (await this.subject()) === null) return null;
      throw error;
    }
  }

  statuses(): Read<ListItem<'listStatuses'>[]> {
    return this.list('listStatuses', { ...this.names, ref: textAt(this.event.data, 'sha') });
  }

  branch(): Read<OperationResult<'getBranch'>> {
    return this.one('getBranch', (get) => get({ ...this.names, branch: textAt(this.event.data, 'branch') }));
  }

  /** A published release is known by its tag, one that changed by its number. */
  release(): Read<OperationResult<'getRelease'>> {
    const { kind, data } = this.event;
    if (kind === 'release.published')
      return this.one('getReleaseByTag', (get) => get({ ...this.names, tag: textAt(data, 'tag') }));
    return this.one('getRelease', (get) => get({ ...this.names, id: textAt(objectAt(data, 'release'), 'id') }));
  }

  commit(sha: string): Read<OperationResult<'getCommit'>> {
    return this.one('getCommit', (get) => get({ ...this.names, sha }), sha);
  }

  /** Commits and files of a push that has more commits than its row shows. @param data what is confirmed of the push */
  files(data: JsonObject): Promise<JsonObject | undefined> {
    return this.once('files', () =>
      readFiles({ access: this.parts.access, event: { ...this.event, data }, repo: this.names }),
    );
  }

  repository(): Read<OperationResult<'getRepo'>> {
    return this.one('getRepo', (get) => get(this.names));
  }

  get runId(): string {
    return textAt(objectAt(this.event.data, 'run'), 'id') || textAt(objectAt(this.event.data, 'task'), 'run_id');
  }

  run(): Read<OperationResult<'getRun'>> {
    const { runId } = this;
    if (runId === '') return Promise.resolve(undefined);
    return this.one('getRun', (get) => get({ ...this.names, run: runId }));
  }

  jobs(): Read<OperationResult<'listJobsOfRun'>> {
    const { runId } = this;
    if (runId === '') return Promise.resolve(undefined);
    return this.one('listJobsOfRun', (list) => list({ ...this.names, run: runId, limit: FEED_PAGE }));
  }

  tasks(): Read<OperationResult<'listActionTasks'>> {
    return this.one('listActionTasks', (list) => list({ ...this.names, limit: FEED_PAGE }));
  }

  /** Facts of the feed's newest rows, back to the act or the beginning of the window; undefined = the forge has no feed. */
  feed(): Promise<readonly FeedRowFact[] | undefined> {
    return this.once('feed', async () => {
      const facts: FeedRowFact[] = [];
      for (let page = 1; page <= FEED_PAGES; page += 1) {
        const rows = await whereAllowed(this.offered('listOrgFeed'), (list) =>
          orMissing(list({ org: this.event.org, page, limit: FEED_PAGE })),
        );
        if (rows === undefined) return undefined;
        for (const row of rows ?? [])
          facts.push(
            ...this.parts
              .readRow(row, this.event.org)
              .map((fact) => ({ ...fact, row: String(row.id), at: row.created })),
          );
        if ((rows ?? []).length < FEED_PAGE || !isNear(rows?.at(-1)?.created, this.event)) break;
        if (facts.some((fact) => isFactOf(fact, this.event) && isSame(this.actor, fact.actor))) break;
      }
      return facts.filter(({ at }) => isNear(at, this.event));
    });
  }

  /** The issue or pull request itself. */
  private subject(): Read<object> {
    return this.event.kind.startsWith('pull_request.') ? this.pull() : this.issue();
  }

  private get names(): { owner: string; repo: string } {
    return { owner: this.repo.owner, repo: this.repo.name };
  }

  private one<Name extends OperationName, Answer>(
    name: Name,
    ask: (call: ForgeClient[Name]) => Promise<Answer>,
    key = '',
  ): Read<Answer> {
    return this.once(`${name} ${key}`, () => whereAllowed(this.offered(name), (call) => orMissing(ask(call))));
  }

  private list<Name extends 'listReviews' | 'listTimeline' | 'listStatuses'>(
    name: Name,
    args: Parameters<typeof listAll<Name>>[2],
  ): Read<ListItem<Name>[]> {
    return this.once(name, () =>
      whereAllowed(this.offered(name), () =>
        orMissing(listAll(this.parts.access.client, name, args, { maxPages: LIST_PAGES })),
      ),
    );
  }

  private once<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const cachedAnswer = this.answers.get(key) as Promise<Answer> | undefined;
    if (cachedAnswer) return cachedAnswer;
    const answer = ask();
    this.answers.set(key, answer);
    return answer;
  }

  private offered<Name extends OperationName>(name: Name): ForgeClient[Name] | undefined {
    return this.parts.access.offers(name) ? this.parts.access.client[name] : undefined;
  }
}

export interface Person {
  readonly id?: string | null | undefined;
  readonly login?: string | null | undefined;
}

/** Number and login must both agree: filters look at logins, and a login may be given to another account. */
export function isSame(claimed: Person, author: Person | null | undefined): boolean {
  return !!author?.id && claimed.id === author.id && isSameLogin(claimed.login, author.login);
}

export function isFactOf(fact: FeedFact, { kind, factKey }: ForgeEvent): boolean {
  return fact.kind === kind && fact.factKey === factKey;
}

/** Whether an act of this time had happened when the event was stored. */
export function isAfter({ storedAt }: ForgeEvent, time: string | null | undefined): boolean {
  return (timeOf(time) ?? Infinity) <= storedAt.getTime() + CLOCKS_DIFFER_MS;
}

export function isNear(time: string | null | undefined, { storedAt }: Pick<ForgeEvent, 'storedAt'>): boolean {
  const atMs = timeOf(time);
  return atMs !== null && Math.abs(atMs - storedAt.getTime()) <= WINDOW_MS;
}

/** Milliseconds; null where no time is told. */
export function timeOf(time: string | null | undefined): number | null {
  const atMs = Date.parse(time ?? '');
  return Number.isNaN(atMs) ? null : atMs;
}

export function objectAt(from: JsonObject | null, name: string): JsonObject | null {
  const value: Json | undefined = from?.[name];
  return value !== undefined && isJsonObject(value) ? value : null;
}

export function textAt(from: JsonObject | null, name: string): string {
  const value = from?.[name];
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : '';
}
