import { z } from 'zod';
import { callingAs } from '../../core/caller.js';
import { UserError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { entryKinds } from '../../events/pairing-table.js';
import { explanation } from '../../insight/explanation.js';
import type { HistoryPage, ToldHistory } from '../../insight/history-store.port.js';
import { openReads } from '../../pipeline/decide/answer-lookups.js';
import { arrivalSummary } from '../../pipeline/inbox-store.port.js';
import { gapReport, replayReport, toldHistory } from './answers.js';
import type { Needs } from './needs.js';
import { limit, operationOf } from './operation.js';

/** Coverage is told over so long. */
const COVERED_MS = 7 * 86_400_000;

const operation = operationOf(
  'orgs',
  'orders',
  'inbox',
  'gaps',
  'history',
  'explainer',
  'flow',
  'self',
  'encryptor',
  'poisonMessages',
  'alerts',
  'clock',
);
const listed = z.object({ org: z.string().optional(), limit: limit(50) });

export const deliveryOperations = {
  deliveries: operation({
    route: 'GET /v1/deliveries',
    summary: 'Deliveries and polled entries, newest first, and their events',
    scope: 'read',
    command: 'deliveries',
    input: listed,
    answer: z.array(arrivalSummary),
    handle: ({ inbox, orgs }, filter) => inbox.list(orgs.within(filter)),
  }),
  gaps: operation({
    route: 'GET /v1/gaps',
    summary:
      'What polling found and no delivery told, newest first, and how much of each kind of event both sources told',
    scope: 'read',
    command: 'gaps',
    input: listed,
    answer: gapReport,
    handle: async ({ gaps, orgs, clock }, filter) => {
      const { limit: most, ...org } = orgs.within(filter);
      const since = new Date(clock.now().getTime() - COVERED_MS);
      const seenBy = entryKinds();
      const coverage = await gaps.coverage({ ...org, since });
      return {
        gaps: await gaps.gaps({ ...org, limit: most }),
        coveredSince: since,
        coverage: coverage
          .map((one) => {
            const source = seenBy.get(one.kind) ?? null;
            // Lists tell only where they are read.
            const isRead =
              source !== 'lists' ||
              orgs.readsLists(one.org, one.kind.startsWith('release.') ? 'listReleases' : 'searchIssues');
            return { ...one, visibleIn: isRead ? source : null };
          })
          .sort((a, b) => (a.org + a.kind < b.org + b.kind ? -1 : 1)),
      };
    },
  }),
  replay: operation({
    route: 'POST /v1/deliveries/:id/replay',
    summary: "Evaluate a stored arrival's events again; no second effect for what has ended",
    scope: 'operate',
    command: 'replay',
    input: z.object({ id: z.string() }),
    answer: replayReport,
    handle: async ({ inbox, flow, orders }, { id: arrivalId }, caller) => {
      orders.record('replay', caller, { arrivalId });
      const arrival = await inbox.get(arrivalId);
      if (!arrival) throw new UserError('NOT_FOUND', `there is no arrival ${arrivalId}`);
      const eventIds = await inbox.eventsOfArrival(arrivalId);
      const details: JsonObject[] = [];
      for (const eventId of eventIds) {
        await orders.connected();
        const reports = await callingAs({ lane: 'interactive', org: null }, () => flow.replayEvent(eventId));
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
    command: 'release',
    input: z.object({ id: z.string() }),
    answer: z.object({ released: z.boolean() }),
    handle: async ({ poisonMessages, alerts, orders }, { id }, caller) => {
      orders.record('release', caller, { id });
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
    }),
    answer: explanation,
    handle: ({ explainer }, query) => callingAs({ lane: 'interactive', org: null }, () => explainer.explain(query)),
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
    answer: toldHistory,
    handle: async (needs, { after = null, ...query }) => {
      const org = needs.orgs.nameOf(query.org);
      return told(needs, org, await needs.history.page({ ...query, org, after }));
    },
  }),
  historyOf: operation({
    route: 'GET /v1/history/:id',
    summary: 'One event (or the first one of an arrival) with its runs',
    scope: 'read',
    command: 'test record',
    input: z.object({ id: z.string() }),
    answer: toldHistory,
    handle: async (needs, { id }) => {
      const [first] = await needs.inbox.eventsOfArrival(id);
      const page = await needs.history.ofEvent(first ?? id);
      const [event] = page.events;
      if (!event) throw new UserError('NOT_FOUND', `there is no event or arrival ${id}`);
      return told(needs, event.org, page);
    },
  }),
};

/** Events of an organization that left the config are told all the same. */
function told(
  { orgs, self, encryptor }: Pick<Needs, 'orgs' | 'self' | 'encryptor'>,
  org: string,
  page: HistoryPage,
): ToldHistory {
  const forge = orgs.find(org)?.forge;
  return {
    ...page,
    runs: page.runs.map((run) => openReads(run, encryptor)),
    bot: forge === undefined ? null : self(forge, org),
  };
}
