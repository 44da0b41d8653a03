import { z } from 'zod';
import { callingAs } from '../../core/caller.js';
import { UserError } from '../../core/errors.js';
import { hasFired } from '../../core/run.js';
import type { Visibility } from '../../core/visibility.js';
import type { JsonObject } from '../../core/json.js';
import { entryKinds } from '../../events/pairing-table.js';
import { aboutEvent, countEffects } from '../../insight/about-run.js';
import { explanation } from '../../insight/explanation.js';
import { eventsById, intentsByRun } from '../../insight/read-work.js';
import { opensSealed } from '../../core/operators.js';
import { tellHistory } from '../../insight/tell-history.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import { deliveryReport, gapReport, replayReport, historyAnswer, type DeliveryReport } from './answers.js';
import type { Needs } from './needs.js';
import { flag, limit, operation, reasoned } from './operation.js';
import { makePage, makePageByTime, pageByTime, paging } from './page-of.js';
import { historyOfId } from './shared.js';

const listed = z.object({ org: z.string().optional(), limit: limit(50) });
/** A page of a list that grows at its head: what comes before an id is the same page for ever. */
const paged = listed.extend({
  changed: flag.optional().describe('Without those that changed nothing.'),
  before: z.string().optional().describe('`next` of the page before: an arrival.'),
});

const COVERAGE_ROWS = 50;

export const deliveryOperations = {
  deliveries: operation({
    route: 'GET /v1/deliveries',
    summary: 'Deliveries and polled entries, newest first, and their events',
    scope: 'read',
    command: 'deliveries',
    input: paged,
    answer: pageByTime(deliveryReport),
    handle: async (needs, { before: typed, limit: most, ...filter }, _caller, visibility) => {
      const within = needs.orgs.within(filter, visibility);
      const before = typed === undefined ? undefined : await needs.ids.whole(typed, ['arrival'], visibility);
      return makePageByTime(
        {
          read: (count) => needs.inbox.list({ ...within, before, limit: count }),
          rowsOf: (arrivals) => reports(needs, arrivals, visibility),
        },
        most,
      );
    },
  }),
  delivery: operation({
    route: 'GET /v1/deliveries/:id',
    summary: 'One delivery or polled entry, with its result',
    scope: 'read',
    command: 'deliveries',
    input: z.object({ id: z.string() }),
    answer: deliveryReport,
    handle: async (needs, { id: typed }, _caller, visibility) => {
      const id = await needs.ids.whole(typed, ['arrival'], visibility);
      const [report] = await reports(needs, await needs.arrivals.arrivals([id], visibility), visibility);
      if (!report) throw new UserError('NOT_FOUND', `there is no delivery ${id}`);
      return report;
    },
  }),
  gaps: operation({
    route: 'GET /v1/gaps',
    summary:
      'Events that polling found without a delivery, newest first, and the coverage of each kind of event by both sources',
    scope: 'read',
    command: 'gaps',
    input: listed.extend({
      days: z.coerce
        .number<number>()
        .int()
        .min(1)
        .max(30)
        .default(7)
        .describe('Coverage of so many days, today included.'),
      before: z
        .string()
        .regex(/^\d{1,18}$/, 'must be `next` of the page before')
        .optional()
        .describe('`next` of the page before.'),
      search: paging.search.describe('Only coverage of organizations or kinds whose names contain this text.'),
      coverageAfter: paging.after.describe('`coverage.next` of the page before.'),
    }),
    answer: gapReport,
    handle: async (
      { gaps, coverage, orgs, clock },
      { days, before, search, coverageAfter, ...filter },
      _caller,
      visibility,
    ) => {
      const within = orgs.within(filter, visibility);
      const seenBy = entryKinds();
      const names = orgs.keysOf(filter.org, visibility);
      const { since, kinds } = await coverage.of(names, within.visibility, days);
      return {
        ...(await gaps.page({ ...within, ...(before === undefined ? {} : { before }) })),
        coveredSince: since ?? clock.now(),
        coverage: await makePage(
          {
            items: kinds,
            namesOf: ({ org, kind }) => [org, kind],
            needsAttention: ({ rows }) => rows > 0,
            rowsOf: (some) =>
              some.map((one) => {
                const source = seenBy.get(one.kind) ?? null;
                // Lists tell only where they are read.
                const isRead =
                  source !== 'lists' ||
                  orgs.readsLists(one.org, one.kind.startsWith('release.') ? 'listReleases' : 'searchIssues');
                return { ...one, visibleIn: isRead ? source : null };
              }),
          },
          {
            ...(search === undefined ? {} : { search }),
            ...(coverageAfter === undefined ? {} : { after: coverageAfter }),
            limit: COVERAGE_ROWS,
          },
        ),
      };
    },
  }),
  replay: operation({
    route: 'POST /v1/deliveries/:id/replay',
    summary: "Evaluate a stored arrival's events again; no second effect for what has ended",
    scope: 'operate',
    takesLong: true,
    about: ['id'],
    command: 'replay',
    input: z.object({ id: z.string(), ...reasoned }),
    answer: replayReport,
    handle: async ({ ids, inbox, flow, orders }, { id, ...why }, caller, visibility) => {
      const arrivalId = await ids.whole(id, ['arrival'], visibility);
      orders.record('replay', caller, { arrivalId, ...why });
      const arrival = await inbox.get(arrivalId);
      if (!arrival) throw new UserError('NOT_FOUND', `there is no arrival ${arrivalId}`);
      const eventIds = await inbox.eventsOfArrival(arrivalId);
      const details: JsonObject[] = [];
      for (const eventId of eventIds) {
        await orders.connected();
        const reports = await callingAs({ priority: 'interactive', org: null }, () => flow.replayEvent(eventId));
        details.push(...reports.map((report) => ({ eventId, ...report })));
      }
      const newRuns = details.filter(({ verdict }) => verdict !== 'kept').length;
      return { arrivalId, archivedAt: arrival.archivedAt, eventIds, newRuns, details };
    },
  }),
  release: operation({
    route: 'POST /v1/quarantined/:id/release',
    summary:
      'Release a quarantined arrival or event and decide it again, by the same rules: what still belongs to another organization is quarantined again, and an act that was too old passes',
    scope: 'operate',
    about: ['id'],
    command: 'release',
    input: z.object({ id: z.string(), ...reasoned }),
    answer: z.object({ released: z.boolean() }),
    handle: async ({ ids, poisonMessages, alerts, orders }, { id: typed, ...why }, caller, visibility) => {
      const id = await ids.whole(typed, ['arrival', 'event'], visibility);
      orders.record('release', caller, { id, ...why });
      const released = await poisonMessages.release(id);
      if (released) alerts.resolve(`work.quarantined/${id}`);
      orders.nudge();
      return { released };
    },
  }),
  explain: operation({
    route: 'GET /v1/explain',
    summary: 'Why a run, an intent, an event or one rule about it ended as it did; from the stores alone',
    scope: 'read',
    command: 'explain',
    input: z.strictObject({
      id: z.string().min(1).describe('Of a run, an intent, an event or an arrival.'),
      rule: z.string().optional().describe('Asks about one rule of that event.'),
      revision: z.string().optional().describe('With which rules: `active`, or an id.'),
      full: flag.default(false).describe('Answers of lookups and results are not cut.'),
    }),
    answer: explanation,
    handle: async ({ explainer, ids }, { id: typed, revision: named, ...query }, caller, visibility) => {
      const id = await ids.whole(
        typed,
        query.rule === undefined ? ['run', 'intent', 'event', 'arrival'] : ['event', 'arrival'],
        visibility,
      );
      const isId = named !== undefined && named !== 'active';
      const revision = isId ? await ids.whole(named, ['revision'], visibility) : named;
      const opens = (org: string): boolean => opensSealed(caller, org);
      return callingAs({ priority: 'interactive', org: null }, () =>
        explainer.explain({ ...query, id, revision, visibility, opens }),
      );
    },
  }),
  history: operation({
    route: 'GET /v1/history',
    summary: 'Stored events with their runs, page by page; for trying rules on what happened',
    scope: 'read',
    command: 'backtest',
    input: z.strictObject({
      org: z.string().min(1),
      since: z.coerce.date<string>(),
      until: z.coerce.date<string>(),
      after: z.string().optional().describe('`next` of the page before.'),
      limit: limit(200),
    }),
    answer: historyAnswer,
    handle: async (needs, { after = null, ...query }, caller, visibility) => {
      const org = needs.orgs.keyOf(query.org, visibility);
      const page = await needs.history.page({ ...query, org, after, visibility });
      return tellHistory(needs, org, page, opensSealed(caller, org));
    },
  }),
  historyOf: operation({
    route: 'GET /v1/history/:id',
    summary: 'One event (or the first one of an arrival) with its runs',
    scope: 'read',
    command: 'test record',
    input: z.object({ id: z.string() }),
    answer: historyAnswer,
    handle: async (needs, { id }, caller, visibility) => {
      const page = await historyOfId(needs, id, visibility);
      const [event] = page.events;
      if (!event) throw new UserError('NOT_FOUND', `there is no event or arrival ${id}`);
      return tellHistory(needs, event.org, page, opensSealed(caller, event.org));
    },
  }),
};

/** Runs of one page of events that are looked at. */
const RUNS_OF_PAGE = 5_000;

/** What became of each arrival. */
async function reports(
  { inbox, journal }: Pick<Needs, 'inbox' | 'journal'>,
  arrivals: readonly ArrivalSummary[],
  visibility: Visibility,
): Promise<DeliveryReport[]> {
  const eventIds = [...new Set(arrivals.flatMap((arrival) => arrival.eventIds))];
  const firsts = await eventsById(
    inbox,
    arrivals.flatMap((arrival) => arrival.eventIds.slice(0, 1)),
  );
  const runs =
    eventIds.length === 0 ? [] : await journal.runs({ eventIds, shadow: false, visibility, limit: RUNS_OF_PAGE });
  const wanted = await intentsByRun(journal, runs, visibility);
  const decided = runs.toReversed();
  return arrivals.map((arrival) => {
    const own = decided.filter(({ cause }) => cause.kind === 'event' && arrival.eventIds.includes(cause.eventId));
    const event = firsts.get(arrival.eventIds[0] ?? '') ?? null;
    return {
      ...arrival,
      about: event && aboutEvent(event),
      rules: [...new Set(own.filter(({ state }) => hasFired(state)).map(({ rule }) => rule))],
      effects: countEffects(own.flatMap(({ id }) => wanted.get(id) ?? [])),
    };
  });
}
