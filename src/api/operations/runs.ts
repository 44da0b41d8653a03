import { z } from 'zod';
import { withReasonText } from '../../core/reason.js';
import { UserError } from '../../core/errors.js';
import { opensSealed, type ControlCaller } from '../../core/operators.js';
import { shownIntent, type Run } from '../../core/run.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import { RUN_STATES } from '../../core/states.js';
import { waitsForApproval } from '../../core/state-table.js';
import { countEffects, whatAbout } from '../../insight/about-run.js';
import { eventsById, intentsByRun } from '../../insight/read-work.js';
import { openReads } from '../../pipeline/decide/answer-lookups.js';
import { compareShadow, ruleIdOf, type ShadowPair } from '../../pipeline/decide/shadow.js';
import type { JournalStore } from '../../pipeline/journal-store.port.js';
import { orgShadow, runReport, type RunReport } from './answers.js';
import type { Needs } from './needs.js';
import { flag, limit, operation, reasoned } from './operation.js';
import { makePage, makePageByTime, pageByTime, pageOf, paging } from './page-of.js';
import { checkRule, originOf } from './shared.js';

/** Rules of which others still wait are looked for among so many. */
const STILL_WAITING = 200;

export const runOperations = {
  runs: operation({
    route: 'GET /v1/runs',
    summary: 'Decisions and their outcome, newest first',
    scope: 'read',
    command: 'runs',
    input: z.object({
      org: z.string().optional(),
      rule: z.string().optional(),
      eventId: z.string().optional(),
      state: z.enum(RUN_STATES).optional(),
      shadow: flag.optional(),
      changed: flag.optional().describe('Without those that changed nothing.'),
      before: z.string().optional().describe('`next` of the page before: a run.'),
      limit: limit(50),
    }),
    answer: pageByTime(runReport),
    handle: async (needs, { eventId: event, before: last, limit: most, ...filter }, caller, visibility) => {
      const eventId = event === undefined ? undefined : await needs.ids.whole(event, ['event'], visibility);
      const before = last === undefined ? undefined : await needs.ids.whole(last, ['run'], visibility);
      const within = needs.orgs.within(filter, visibility);
      const page = await makePageByTime(
        {
          read: (count) => needs.journal.runs({ ...within, eventId, before, limit: count }),
          rowsOf: (runs) => reports(needs, runs, caller, visibility),
        },
        most,
      );
      if (page.rows.length === 0 && within.rule !== undefined)
        await checkRule(needs, within.rule, within.org, visibility);
      return page;
    },
  }),
  run: operation({
    route: 'GET /v1/runs/:id',
    summary: 'One run with its intents and their attempts',
    scope: 'read',
    command: 'runs',
    input: z.object({ id: z.string() }),
    answer: runReport,
    handle: async (needs, { id: typed }, caller, visibility) => {
      const id = await needs.ids.whole(typed, ['run'], visibility);
      const run = await needs.journal.run(id);
      const [report] = run ? await reports(needs, [run], caller, visibility) : [];
      if (!run || !report) throw new UserError('NOT_FOUND', `there is no run ${id}`);
      // Who may not see the repository of the rules is not told of it.
      const origin = seesWholeOrg(visibility, run.org) ? await originOf(needs.revisions, run.revisionId) : {};
      return { ...report, ...origin };
    },
  }),
  shadow: operation({
    route: 'GET /v1/shadow',
    summary: 'The newest decisions of shadow revisions beside those of the live ones, by rule',
    scope: 'read',
    command: 'runs',
    input: z.object({
      org: z.string().optional(),
      decisions: limit(50).describe('So many of the newest of each organization.'),
      ...paging,
    }),
    answer: pageOf(orgShadow),
    handle: async ({ orgs, journal, encryptor }, { org, decisions, ...page }, caller, visibility) => {
      const only = org === undefined ? null : orgs.keyOf(org, visibility);
      const shadowed = orgs
        .visible(visibility)
        .filter(({ key, rules }) => rules.shadow !== null && (only === null || only === key));
      const compare = async ({ key }: { readonly key: string }) => {
        const runs = await journal.runs({ org: key, shadow: true, visibility, limit: decisions });
        const opened = runs.map((run) => openedFor(caller, run, encryptor));
        return { org: key, rules: compareShadow(await shadowPairs(journal, opened, visibility)) };
      };
      return makePage(
        {
          items: shadowed,
          namesOf: ({ name }) => [name],
          needsAttention: () => false,
          rowsOf: (some) => Promise.all(some.map(compare)),
        },
        page,
      );
    },
  }),
  retry: operation({
    route: 'POST /v1/intents/:id/retry',
    summary: 'Revive a dead or refused intent',
    scope: 'operate',
    about: ['id'],
    command: 'retry',
    input: z.object({ id: z.string(), ...reasoned }),
    answer: z.object({ retried: z.boolean() }),
    handle: async ({ journal, ids, orders }, { id, ...why }, caller, visibility) => {
      const intentId = await ids.whole(id, ['intent'], visibility);
      orders.record('retry', caller, { intentId, ...why });
      const retried = await journal.retry(intentId, caller.name);
      orders.nudge();
      return { retried };
    },
  }),
  resolve: operation({
    route: 'POST /v1/intents/:id/resolve',
    summary: 'Say whether the object of a waiting (or unknown) intent is there: it is done, or planned again',
    scope: 'operate',
    about: ['id', 'exists'],
    command: 'resolve',
    input: z.strictObject({ id: z.string(), exists: z.boolean(), ...reasoned }),
    answer: z.object({ resolved: z.boolean().describe('False when it is in another state.') }),
    handle: async ({ recovery, ids, orders }, { id, exists, ...why }, caller, visibility) => {
      const intentId = await ids.whole(id, ['intent'], visibility);
      orders.record('resolve', caller, { intentId, exists, ...why });
      const summary = `${caller.name} says that it ${exists ? 'exists' : 'does not exist'}`;
      const resolved = await recovery.resolve(intentId, exists, caller.name, { summary, detail: {} });
      orders.nudge();
      return { resolved };
    },
  }),
  approvals: operation({
    route: 'GET /v1/approvals',
    summary: "Intents that wait for a person's consent, oldest first",
    scope: 'read',
    command: 'approve',
    input: z.object({
      after: z.string().optional().describe('`next` of the page before: an intent.'),
      limit: limit(50),
    }),
    answer: pageByTime(shownIntent),
    handle: async ({ journal, ids }, { after: typed, limit: most }, _caller, visibility) => {
      const after = typed === undefined ? undefined : await ids.whole(typed, ['intent'], visibility);
      if (after !== undefined && !(await journal.intent(after)))
        throw new UserError('NOT_FOUND', `there is no intent ${after} that a page could begin behind`);
      return makePageByTime(
        {
          read: (count) => journal.waitingForApproval(count, visibility, after),
          rowsOf: (intents) => intents.map((intent) => withReasonText(intent)),
        },
        most,
      );
    },
  }),
  approve: operation({
    route: 'POST /v1/approvals/:id',
    summary: 'Approve or deny what waits for it: an intent, or all of a run',
    scope: 'approve',
    about: ['id', 'deny'],
    command: 'approve',
    input: z.strictObject({ id: z.string(), deny: z.boolean().default(false), ...reasoned }),
    answer: z.object({ intents: z.array(z.string()).describe('Those that it decided about.') }),
    handle: async (needs, { id: typed, deny, ...why }, caller, visibility) => {
      const { journal, ids, orders, alerts } = needs;
      const id = await ids.whole(typed, ['intent', 'run'], visibility);
      orders.record(deny ? 'deny' : 'approve', caller, { intentOrRunId: id, ...why });
      // Anybody with the scope may deny: a denial writes nothing.
      const beside = deny ? null : await secondPerson(needs, id, caller);
      const decided = await journal.decideApproval(id, deny ? 'denied' : 'given', caller.name, beside);
      const stillWaiting = await journal.waitingForApproval(STILL_WAITING);
      for (const one of decided) {
        const intent = await journal.intent(one);
        if (intent && !stillWaiting.some(({ org, rule }) => org === intent.org && rule === intent.rule))
          alerts.resolve(`rule.approval/${intent.org}/${intent.rule}`);
      }
      orders.nudge();
      return { intents: decided };
    },
  }),
};

/** @returns the names of the others; null = it takes one person only. @throws UserError when the caller is no second person */
async function secondPerson(
  { journal, inbox, twoPeople }: Pick<Needs, 'journal' | 'inbox' | 'twoPeople'>,
  intentOrRunId: string,
  by: ControlCaller,
): Promise<string | null> {
  const runId = (await journal.intent(intentOrRunId))?.runId ?? intentOrRunId;
  const [first] = (await journal.intentsOfRun(runId)).filter(
    (one) => one.twoPeople && waitsForApproval(one) && [runId, one.id].includes(intentOrRunId),
  );
  const run = first && (await journal.run(runId));
  if (!run) return null;
  const { cause } = run;
  const event = cause.kind === 'event' ? await inbox.event(cause.eventId) : null;
  return twoPeople.mayApprove(by, {
    requester: cause.kind === 'apply' ? cause.by : null,
    actor: event?.actor?.login ?? null,
    revisionId: first.revisionId,
  });
}

async function reports(
  {
    journal,
    inbox,
    keeper,
    clock,
    encryptor,
    explainer,
  }: Pick<Needs, 'journal' | 'inbox' | 'keeper' | 'clock' | 'encryptor' | 'explainer'>,
  runs: readonly Run[],
  caller: ControlCaller,
  visibility: Visibility,
): Promise<RunReport[]> {
  const work = await journal.workOfRuns(
    runs.map(({ id }) => id),
    visibility,
  );
  const events = await eventsById(
    inbox,
    runs.flatMap(({ cause }) => (cause.kind === 'event' ? [cause.eventId] : [])),
  );
  const now = clock.now();
  return Promise.all(
    runs.map(async (run, n) => {
      const ofRun = work[n] ?? [];
      const intents = ofRun.map(({ intent: one }) => one);
      const { cause } = run;
      const event = cause.kind === 'event' ? (events.get(cause.eventId) ?? null) : null;
      const active = cause.kind === 'tick' ? await keeper.active(run.org) : null;
      return {
        run: withReasonText(openedFor(caller, event ? await explainer.withTrace(run, event) : run, encryptor)),
        about: whatAbout({ run, event, intents, active, now }),
        effects: countEffects(intents),
        intents: ofRun.map(({ intent: one, attempts }) => ({ ...withReasonText(one), attempts_made: attempts })),
      };
    }),
  );
}

function openedFor(caller: ControlCaller, run: Run, encryptor: Needs['encryptor']): Run {
  return opensSealed(caller, run.org) ? openReads(run, encryptor) : run;
}

async function shadowPairs(
  journal: JournalStore,
  shadows: readonly Run[],
  visibility: Visibility,
): Promise<ShadowPair[]> {
  const runs: Array<Run | null> = [];
  for (const { org, rule, cause } of shadows) {
    const liveRuns =
      cause.kind === 'event'
        ? await journal.runs({ org, rule: ruleIdOf(rule), eventId: cause.eventId, visibility, limit: 1 })
        : [];
    runs.push(liveRuns[0] ?? null);
  }
  const live = runs.filter((run) => run !== null);
  const wanted = await intentsByRun(journal, live, visibility);
  return shadows.map((shadow, n) => {
    const run = runs[n] ?? null;
    return { shadow, live: run && { run, intents: wanted.get(run.id) ?? [] } };
  });
}
