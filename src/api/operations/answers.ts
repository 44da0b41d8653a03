import { z } from 'zod';
import { BUDGET_HELD } from '../../core/budgets.js';
import type { EventKind } from '../../core/event-kinds.js';
import { attempt, shownRun } from '../../core/run.js';
import {
  count,
  fields,
  json,
  jsonObject,
  maybeText,
  maybeTime,
  mode,
  text,
  texts,
  time,
  word,
} from '../../core/schema.js';
import { INTENT_STATES } from '../../core/states.js';
import type { Target } from '../../core/target.js';
import type { ServerAccess } from '../../forge/server-access.js';
import { check } from '../../housekeeping/doctor/check.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { Gap } from '../../pipeline/gap-store.port.js';
import { applyReport, keptPlan } from '../../policies/policy-plan.js';
import { origin } from '../../rules/sources/rule-repository.port.js';

/** What operations answer, as the handlers make it. On the wire a time is an ISO text. */

const source = z.enum(['webhook', 'feed', 'tasks', 'lists']);
const entrySource = source.exclude(['webhook']);

export const intent = z.object({
  ...fields('id runId forge org rule revisionId stepId itemKey intentKey action lane effectKey', text),
  ...fields('stepNo epoch attempts tries', count),
  ...fields('plannedAt dueAt updatedAt', time),
  params: jsonObject,
  target: z.custom<Target>(),
  mode,
  state: z.enum(INTENT_STATES),
  ...fields('reason code', maybeText),
  result: json,
  failingSince: maybeTime,
  approval: z.enum(['wanted', 'given', 'denied']).exactOptional(),
  ...fields('approvalBy approvalBeside', text.exactOptional()),
  ...fields('approvalAt heldSince', time.exactOptional()),
  ...fields('twoPeople upkeep held', z.literal(true).exactOptional()),
  countsFor: z
    .object({
      rule: z.boolean(),
      actor: z.object(fields('id login', text)).nullable(),
      claim: text.exactOptional(),
    })
    .exactOptional(),
});

export const runReport = z.object({
  run: shownRun,
  /** Where the rules of its revision came from, when they came from a repository. */
  origin: origin.exactOptional(),
  intents: z.array(intent.extend({ attempts_made: z.array(attempt) })),
});
export type RunReport = z.output<typeof runReport>;

const difference = z.object(fields('run verdict reason', text));
export const orgShadow = z.object({
  org: text,
  rules: z.array(
    z.object({
      rule: text,
      ...fields('decided fired agree differ', count),
      samples: z.array(z.object({ eventId: text, shadow: difference, live: difference.nullable() })),
    }),
  ),
});
export type OrgShadow = z.output<typeof orgShadow>;

export const rollout = z.object({
  ...fields('id org rule ruleHash by', text),
  kind: z.enum(['file', 'promoted', 'fallback']),
  stage: z.enum(['shadow', 'canary', 'live']),
  percent: count.nullable().describe('Of the repositories, in a canary.'),
  at: time,
  evidence: jsonObject,
  forced: z.boolean(),
});

const orgStatus = z.object({
  ...fields('name forge', text),
  revision: z
    .object({ hash: text, ...fields('rules policies', count.nullable()), loadedAt: time })
    .nullable()
    .describe('Counts are null where another process loaded it and this one (role web) loads none.'),
  heldBack: texts.describe('Problems of a newer revision that was not taken.'),
  source: z
    .object({
      repository: text,
      ...fields('commit branch code history unposted', maybeText),
      state: z.enum(['active', 'refused', 'unreachable']),
      ...fields('problems notes', texts),
      origin: origin.nullable(),
      learnedAt: time,
    })
    .nullable()
    .describe(
      'Where its rules come from and what was said about their newest commit; null where they lie in a folder.',
    ),
  lacking: texts.describe('What its rules need and the forge or the token does not offer, as far as it was asked.'),
  stages: z.array(rollout).describe('Rules that are tried before they write everywhere: the newest stage of each.'),
  pollers: z
    .array(z.object({ source: entrySource, ...fields('advancedAt oldestReadAt', maybeTime) }))
    .describe('`oldestReadAt`: when the repository that waits longest was read last; null where it is not known.'),
});

export const statusReport = z.object({
  version: text,
  deployment: z.enum(['embedded', 'distributed']),
  roles: texts,
  startedAt: maybeTime.describe('Null when the answer comes from the store, without a running bot.'),
  queueHealthy: z.boolean().nullable(),
  intents: z.record(z.enum(INTENT_STATES), count),
  backlog: z.object(fields('arrivals events', count)).describe('What is stored and not decided yet.'),
  quarantined: z
    .array(z.object({ topic: z.enum(['arrival', 'event']), id: text, deaths: count, since: time }))
    .describe('Arrivals and events that ended processes and are left alone; at most 20.'),
  paused: z.array(z.object({ ...fields('org rule', maybeText), by: text, at: time })),
  held: z
    .array(
      z.object({
        code: z.literal(BUDGET_HELD),
        ...fields('org of', text),
        kind: z.enum(['organization', 'repository', 'rule', 'actor']),
        ...fields('perHour effects', count),
        ...fields('since next until', time),
      }),
    )
    .describe('Spent budgets that hold effects, the one that holds most first; at most 20.'),
  orgs: z.array(orgStatus),
  forges: z.array(
    z.object({ id: text, ...fields('product version self', maybeText), reachable: z.boolean().nullable() }),
  ),
});
export type StatusReport = z.output<typeof statusReport>;

const pageSizes = z.object({ default: count.nullable(), most: count.nullable() });
export const doctorReport = z.object({
  findings: count,
  checks: z.array(check),
  forges: z.array(
    z.object({
      id: text,
      learnedAt: time,
      product: word<NonNullable<ServerAccess['product']>>().nullable(),
      version: maybeText,
      self: z.object({ id: maybeText, login: text }).nullable(),
      isSiteAdmin: z.boolean().nullable(),
      clockAheadMs: count.nullable(),
      pages: pageSizes.nullable(),
      scopes: texts.nullable(),
      operations: z.record(text, word<ServerAccess['operations'][string]>()),
    }),
  ),
});
export type DoctorReport = z.output<typeof doctorReport>;

export const arrivalSummary = z.object({
  ...fields('id org eventType', text),
  kind: z.enum(['delivery', 'entry']),
  ...fields('hook deliveryId reason code eventId', maybeText),
  source,
  state: word<ArrivalSummary['state']>(),
  eventKinds: z.array(word<EventKind>()),
  repeats: count,
  verdict: z.enum(['signed', 'unsigned']).nullable(),
  at: time,
  archivedAt: maybeTime,
});

export const gapReport = z.object({
  gaps: z.array(
    z.object({
      ...fields('forge org arrivalId entryKey reason', text),
      ...fields('eventId repo', maybeText),
      source: entrySource,
      kind: word<EventKind>().nullable(),
      class: word<Gap['class']>(),
      outcome: word<Gap['outcome']>(),
      factAt: maybeTime,
      foundAt: time,
    }),
  ),
  coveredSince: time.describe('Coverage counts events stored since.'),
  coverage: z
    .array(
      z.object({
        org: text,
        kind: word<EventKind>(),
        ...fields('both webhook rows', count),
        visibleIn: entrySource.nullable(),
      }),
    )
    .describe('`visibleIn`: which rows can tell the kind; null = none: what a delivery loses there stays lost.'),
});
export type GapReport = z.output<typeof gapReport>;

export const replayReport = z.object({
  arrivalId: text,
  archivedAt: maybeTime.describe('When its body was given up (retention); its events were evaluated all the same.'),
  eventIds: texts,
  newRuns: count.describe('Runs that the replay made; those that existed stay as they are.'),
  details: z.array(jsonObject),
});
export type ReplayReport = z.output<typeof replayReport>;

const event = z.object({
  ...fields('id forge org factKey', text),
  kind: word<EventKind>(),
  source,
  factAt: maybeTime,
  actor: z.object(fields('id login', text)).nullable(),
  repo: z.looseObject(fields('id owner name full_name', text)).nullable(),
  data: jsonObject,
  storedAt: time,
});
const account = z.object({ id: maybeText, login: text });
export const toldHistory = z.object({
  events: z.array(event),
  runs: z.array(
    shownRun
      .pick({ id: true, rule: true, kind: true, revisionId: true, mode: true, state: true, reason: true, code: true })
      .extend({
        lookups: jsonObject,
        decidedAt: time,
        eventId: text,
        intents: z.array(intent.pick({ stepId: true, action: true, itemKey: true, params: true, state: true })),
      }),
  ),
  next: maybeText.describe('Where the next page begins; null = this was the last one.'),
  bot: account
    .extend({ others: z.array(account).exactOptional() })
    .nullable()
    .describe('Who the bot is on the forge of this organization; null while no forge told it.'),
});

export const planReport = keptPlan.extend({
  /** Where its policies came from, when they came from a repository. */
  origin: origin.exactOptional(),
});
export type PlanReport = z.output<typeof planReport>;

export const planDecision = z.object({
  plan: planReport,
  decided: z.boolean().describe('False when it had been decided or applied before.'),
  applied: applyReport.nullable().describe('Of a plan that a schedule made, and that was applied with the yes.'),
});
export type PlanDecision = z.output<typeof planDecision>;

export const restoreReport = z.object(fields('putBack stored kept', count));
export type RestoreReport = z.output<typeof restoreReport>;
export const storeFiles = z.object({ dir: text, ...fields('bytes pauseMs', count) });
