import type { ForgeEvent } from '../../src/core/event.js';
import { silentLogger } from '../../src/core/logger.js';
import { Misfit } from '../../src/events/event-fact.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { taskStateOf } from '../../src/events/normalize/task.js';
import { FEED_ROWS, TASK_ROWS, type RowMeaning } from '../../src/events/pairing-table.js';
import { FeedPoller } from '../../src/polling/feed-poller.js';
import { TaskPoller } from '../../src/polling/task-poller.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { KeptConnections } from '../services/kept-connections.js';
import type { Act, ActFolder } from './act-file.js';
import { factOf, jsonTextOf } from './act-file.js';
import { startEmbeddedBot, type EmbeddedBot } from './embedded-bot.js';
import { clockOf, FeedOfActs, repositoryOfTasks } from './feed-of-acts.js';
import { hookKeyOf, hooksOf } from './play-folder.js';
import { RunsOfEvents } from './runs-of-events.js';
import { sendDelivery } from './send-delivery.js';

/** When an act's rows are read: before its deliveries come, after them, or with none at all. */
export type Order = 'before' | 'after' | 'instead';

export interface Seen {
  /** Facts told by a delivery and by rows, by deliveries alone, by rows alone. */
  readonly both: number;
  readonly webhook: number;
  readonly rows: number;
}

export interface FeedResult {
  readonly folder: string;
  readonly acts: number;
  readonly rows: number;
  readonly seen: Seen;
  /** By kind of event, as the deliveries tell it where there are any. */
  readonly kinds: Readonly<Record<string, Seen>>;
  readonly problems: readonly string[];
}

/** A row of an act in the inbox, with what it should tell. */
interface PlayedRow {
  readonly act: Act;
  readonly place: string;
  readonly entryKey: string;
  readonly meaning: RowMeaning;
}

/** What one order of telling left in the inbox. */
interface Outcome {
  readonly events: ReadonlyMap<string, { event: ForgeEvent; sources: ReadonlySet<string> }>;
  /** Events of a row, by its key. */
  readonly ofRow: ReadonlyMap<string, readonly string[]>;
  readonly problems: string[];
}

/**
 * Send the feed and task rows of each act through the pollers, before, after and instead of its deliveries, each order with a store of its own,
 * and compare: every row tells an event, twins are one, and the rules start the same runs from rows alone.
 */
export async function playFeed(
  { folder, acts }: ActFolder,
  { inMemory = false, runs = new RunsOfEvents() } = {},
): Promise<FeedResult> {
  const rows = acts.flatMap((act) => rowsOf(act, repositoryOfTasks(acts)[0]?.id ?? ''));
  const problems: string[] = rows.flatMap(({ place, meaning }) =>
    meaning.facts.length === 0 ? [`${place}: nobody knows what it tells`] : [],
  );
  const outcomes: Record<Order, Outcome> = {
    before: await play(acts, rows, 'before', inMemory),
    after: await play(acts, rows, 'after', inMemory),
    instead: await play(acts, rows, 'instead', inMemory),
  };
  for (const order of ['before', 'after', 'instead'] as const)
    problems.push(...outcomes[order].problems.map((problem) => `${order}: ${problem}`));
  for (const order of ['before', 'after'] as const)
    problems.push(...checkPairs(acts, rows, outcomes[order]).map((problem) => `${order}: ${problem}`));
  for (const act of acts) problems.push(...compareRuns(act, rows, outcomes, runs));
  const kinds = count(outcomes.after);
  return { folder, acts: acts.length, rows: rows.length, seen: sum(Object.values(kinds)), kinds, problems };
}

function rowsOf(act: Act, repositoryId: string): PlayedRow[] {
  const unknown = (opType: string): RowMeaning => ({ opType, facts: [] });
  const feed = (act.feed ?? []).map((row, n) => ({
    act,
    place: `act ${act.n}, feed row ${n + 1} (${row.op_type})`,
    entryKey: String(row.id),
    meaning: meaningOf(row) ?? unknown(row.op_type),
  }));
  const tasks = (act.tasks ?? []).map((row) => {
    const state = taskStateOf(String(row.status));
    const facts = TASK_ROWS.filter(({ kind }) => KIND_OF_STATE[state ?? ''] === kind);
    return {
      act,
      place: `act ${act.n}, task ${String(row.id)}`,
      entryKey: `${repositoryId}/${String(row.id)}:${state}`,
      meaning: { opType: 'task', facts },
    };
  });
  return [...feed, ...tasks];
}

const KIND_OF_STATE: Readonly<Record<string, string>> = {
  queued: 'task.queued',
  waiting: 'task.waiting',
  in_progress: 'task.started',
  completed: 'task.finished',
};

async function play(
  acts: readonly Act[],
  rows: readonly PlayedRow[],
  order: Order,
  inMemory: boolean,
): Promise<Outcome> {
  const hooks = hooksOf(acts);
  const bot = await startEmbeddedBot([...hooks.values()], inMemory);
  const connections = new KeptConnections(1);
  const problems: string[] = [];
  const deliver = async (act: Act): Promise<void> => {
    for (const delivery of act.deliveries) {
      const { status, error } = await sendDelivery(
        connections,
        bot.port,
        `/webhooks/${encodeURIComponent(hooks.get(hookKeyOf(act, delivery))?.id ?? '')}`,
        delivery,
      );
      if (status !== 202 && status !== 200)
        problems.push(`act ${act.n}, ${delivery.event_type}: answered ${status} ${error ?? ''}`.trim());
    }
    await bot.decideAll();
  };
  try {
    const read = pollersOf(acts, bot);
    for (const act of acts) {
      if (order === 'after') await deliver(act);
      await read(act);
      if (order === 'before') await deliver(act);
    }
    return { ...(await outcomeOf(bot, rows, problems)), problems };
  } finally {
    connections.close();
    await bot.close();
  }
}

/** Reads an act's rows as the bot's pollers do, one poll each, with the clock where the act stands. */
function pollersOf(acts: readonly Act[], bot: EmbeddedBot): (act: Act) => Promise<void> {
  const clock = new ManualClock();
  const shown = new FeedOfActs();
  const first = acts.map(clockOf).find((at) => at !== null) ?? clock.now();
  const common = {
    inbox: bot.inbox,
    cursors: bot.cursors,
    queue: { ring: () => undefined },
    clock,
    logger: silentLogger,
    // Nothing of what was recorded is history.
    startedAt: new Date(first.getTime() - 86_400_000),
    client: shown.client,
  };
  const polled = { forge: 'recorded', org: acts[0]?.org ?? '' };
  const feed = new FeedPoller(common, polled);
  const repositories = repositoryOfTasks(acts);
  const tasks = new TaskPoller(
    { ...common, offers: () => false, repositories: { list: async () => repositories }, callsPerPoll: 5 },
    polled,
  );
  return async (act) => {
    shown.add(act);
    clock.setWall((clockOf(act) ?? clock.now()).toISOString());
    if ((act.feed ?? []).length > 0) await feed.poll();
    if ((act.tasks ?? []).length > 0) await tasks.poll();
    await bot.decideAll();
  };
}

async function outcomeOf(
  { inbox }: EmbeddedBot,
  rows: readonly PlayedRow[],
  problems: string[],
): Promise<Pick<Outcome, 'events' | 'ofRow'>> {
  const arrivals = await inbox.list({ limit: 1_000_000 });
  const entries = new Map(
    arrivals.filter(({ kind }) => kind === 'entry').map((arrival) => [arrival.eventType, arrival]),
  );
  const events = new Map<string, { event: ForgeEvent; sources: ReadonlySet<string> }>();
  for (const id of await inbox.undecidedEvents(1_000_000)) {
    const event = await inbox.event(id);
    if (event)
      events.set(id, { event, sources: new Set((await inbox.arrivalsOfEvent(id)).map(({ source }) => source)) });
  }
  const ofRow = new Map<string, readonly string[]>();
  for (const { entryKey, place, meaning } of rows) {
    const entry = entries.get(entryKey);
    const told = entry ? await inbox.eventsOfArrival(entry.id) : [];
    ofRow.set(entryKey, told);
    if (told.length !== meaning.facts.length && meaning.facts.length > 0)
      problems.push(
        `${place}: tells ${told.length} events, not ${meaning.facts.length} (${entry?.reason ?? (entry ? 'read' : 'not read')})`,
      );
    if (told.some((id) => events.get(id)?.event.kind === 'unrecognized')) problems.push(`${place}: unrecognized`);
  }
  return { events, ofRow };
}

/** Where an act holds the counterpart they must be one event, and no fact may have become two. */
function checkPairs(acts: readonly Act[], rows: readonly PlayedRow[], { events, ofRow }: Outcome): string[] {
  const problems: string[] = [];
  let expected = new Set(acts.flatMap((act) => act.deliveries.map((delivery) => factOf(act, delivery)))).size;
  for (const act of acts) {
    const mine = rows.filter((row) => row.act === act);
    for (const [kind, telling] of byKind(mine)) {
      const deliveries = new Set(
        telling.eventTypes.flatMap((eventType) => deliveriesOf(act, eventType, telling.isTalk ? null : kind)),
      ).size;
      const paired = telling.rows.filter((row) =>
        (ofRow.get(row.entryKey) ?? []).some((id) => isToldByWebhook(events, id, telling.isTalk ? null : kind)),
      );
      const wanted = telling.isTalk && deliveries > 0 ? telling.rows.length : Math.min(deliveries, telling.rows.length);
      if (paired.length !== wanted)
        problems.push(
          `act ${act.n} (${act.title}): ${kind}: ${paired.length} of ${telling.rows.length} rows are one with their delivery, not ${wanted}`,
        );
      expected += telling.rows.length - wanted;
    }
  }
  if (events.size !== expected) problems.push(`${expected} facts, ${events.size} events`);
  return problems;
}

interface Telling {
  readonly rows: PlayedRow[];
  readonly eventTypes: readonly string[];
  /** Rows of comments on pull requests: their delivery may be a review's, of another kind. */
  readonly isTalk: boolean;
}

function byKind(rows: readonly PlayedRow[]): ReadonlyMap<string, Telling> {
  const found = new Map<string, Telling>();
  for (const row of rows) {
    for (const { kind, deliveries } of row.meaning.facts) {
      const known = found.get(kind) ?? { rows: [], eventTypes: deliveries, isTalk: row.meaning.manyRows === true };
      known.rows.push(row);
      found.set(kind, known);
    }
  }
  return found;
}

/** Distinct deliveries of an act of this event type and, unless null, this kind of event. */
function deliveriesOf(act: Act, eventType: string, kind: string | null): string[] {
  return act.deliveries
    .filter((delivery) => delivery.event_type === eventType)
    .filter((delivery) => {
      const fact = normalizeDelivery({ org: 'acme', eventType, text: jsonTextOf(delivery) });
      return !(fact instanceof Misfit) && (kind === null || fact.kind === kind);
    })
    .map((delivery) => factOf(act, delivery));
}

function isToldByWebhook(events: Outcome['events'], id: string, kind: string | null): boolean {
  const found = events.get(id);
  return found !== undefined && found.sources.has('webhook') && (kind === null || found.event.kind === kind);
}

/** From the rows of an act alone, the rules start the runs that its deliveries start, for every fact that both tell. */
function compareRuns(
  act: Act,
  rows: readonly PlayedRow[],
  outcomes: Readonly<Record<Order, Outcome>>,
  runs: RunsOfEvents,
): string[] {
  const runsOf = ({ events, ofRow }: Outcome): string[] => {
    const paired = rows
      .filter((row) => row.act === act)
      .map((row) => (outcomes.after.ofRow.get(row.entryKey) ?? []).map((id, n) => [row.entryKey, id, n] as const));
    const both = paired.flat().filter(([, id]) => isToldByWebhook(outcomes.after.events, id, null));
    const ids = new Set(both.map(([key, , n]) => ofRow.get(key)?.[n]));
    return [...ids].flatMap((id) => {
      const found = events.get(id ?? '');
      return found ? runs.of(found.event) : ['no event'];
    });
  };
  const [wanted, got] = [runsOf(outcomes.after).sort(), runsOf(outcomes.instead).sort()];
  const missing = wanted.filter((run) => !got.includes(run));
  const extra = got.filter((run) => !wanted.includes(run));
  if (missing.length === 0 && extra.length === 0 && wanted.length === got.length) return [];
  return [
    `instead: act ${act.n} (${act.title}): rules start ${JSON.stringify(extra)} from rows alone, ${JSON.stringify(missing)} from deliveries`,
  ];
}

function count({ events }: Outcome): Record<string, Seen> {
  const kinds: Record<string, Seen> = {};
  for (const { event, sources } of events.values()) {
    const [byWebhook, byRows] = [sources.has('webhook'), sources.has('feed') || sources.has('tasks')];
    const one = { both: byWebhook && byRows ? 1 : 0, webhook: byWebhook && !byRows ? 1 : 0, rows: byWebhook ? 0 : 1 };
    kinds[event.kind] = sum([kinds[event.kind] ?? { both: 0, webhook: 0, rows: 0 }, one]);
  }
  return kinds;
}

function sum(all: readonly Seen[]): Seen {
  return all.reduce((a, b) => ({ both: a.both + b.both, webhook: a.webhook + b.webhook, rows: a.rows + b.rows }), {
    both: 0,
    webhook: 0,
    rows: 0,
  });
}

/** What a feed row means by its word and the form of its content; null for a word nobody knows. */
export function meaningOf(row: { op_type?: unknown; content?: unknown }): RowMeaning | null {
  const form = row.content === '' ? 'empty content' : 'push object';
  return FEED_ROWS.find(({ opType, when }) => opType === row.op_type && (when === undefined || when === form)) ?? null;
}
