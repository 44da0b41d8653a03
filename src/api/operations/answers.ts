import { z } from 'zod';
import { BUDGET_HELD } from '../../core/budgets.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { Json } from '../../core/json.js';
import { OPERATOR_SCOPES } from '../../core/operators.js';
import { RUN_STATES } from '../../core/run.js';
import { INTENT_STATES } from '../../core/states.js';
import type { Target } from '../../core/target.js';
import type { ExplainedCondition, ExplainedStep } from '../../insight/explanation.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { Gap } from '../../pipeline/gap-store.port.js';
import type { ServerAccess } from '../../forge/server-access.js';
import type { PlanLine } from '../../policies/policy-plan.js';
import { SEVERITIES } from '../../rules/language/revision.js';

/** What operations answer, as the handlers make it. On the wire a time is an ISO text. */

const text = z.string();
const maybeText = text.nullable();
const texts = z.array(text);
const time = z.date();
const maybeTime = time.nullable();
const count = z.number();
const json = z.custom<Json>();
export const jsonObject = z.record(text, json) as unknown as z.ZodRecord<z.ZodString, z.ZodType<Json>>;
const mode = z.enum(['live', 'dry-run']);
const source = z.enum(['webhook', 'feed', 'tasks', 'lists']);
const entrySource = source.exclude(['webhook']);
const counts = z.record(text, count);

/** A text of a set of words that another part of the program defines. */
const word = <Word extends string>() => text as unknown as z.ZodType<Word>;

type Words<Line extends string> = Line extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Line;

/** Several fields of one kind: `...fields('id org rule', text)`. */
function fields<Line extends string, Of extends z.ZodType>(names: Line, of: Of): Record<Words<Line>, Of> {
  return Object.fromEntries(names.split(' ').map((name) => [name, of])) as Record<Words<Line>, Of>;
}

const origin = z.object({
  ...fields('repository branch commit', text),
  ...fields('author signer', maybeText),
  review: z.object({ pull: count, ...fields('author mergedBy', maybeText), approvedBy: texts }).nullable(),
});

const cause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: text }),
  z.object({ kind: z.literal('tick'), ...fields('tickId subject', text) }),
  z.object({ kind: z.literal('apply'), ...fields('by plan subject', text) }),
]);

const run = z.object({
  ...fields('id forge org rule revisionId runKey reason code', text),
  kind: z.enum(['rule', 'policy']),
  cause,
  mode,
  state: z.enum(RUN_STATES),
  trace: json,
  lookups: jsonObject,
  decidedAt: time,
  endedAt: maybeTime,
  dueAt: time.exactOptional(),
  coalescedInto: text.exactOptional(),
});

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

const attempt = z.object({
  ...fields('id intentId operation requestHash', text),
  ...fields('n epoch', count),
  snapshot: jsonObject.nullable(),
  sentAt: time,
  answeredAt: maybeTime,
  outcome: z.enum(['done', 'refused', 'not-sent', 'rate-limited', 'moved', 'not-offered', 'unknown']).nullable(),
  status: count.nullable(),
  ...fields('message objectId', maybeText),
});

export const runReport = z.object({
  run,
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

const check = z.object({
  ...fields('check code forge said', text),
  state: z.enum(['ok', 'note', 'warning', 'problem']),
  org: maybeText,
  fix: texts,
});
export type Check = z.output<typeof check>;
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

export const hookReport = z.object({
  org: text,
  does: z.enum(['nothing', 'create', 'repair', 'replace', 'refused']),
  hook: maybeText.describe('Number of the webhook; null while it is not made.'),
  changes: z.array(z.object({ ...fields('field after', text), before: maybeText })),
  written: z.boolean().describe('False on a dry run, and where nothing was to be done or it was refused.'),
  notes: texts,
});
export type HookReport = z.output<typeof hookReport>;

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
    run
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

const place = z.object({ file: text, ...fields('line col', count) });
const revisionFacts = z.object({
  id: text,
  state: z.enum(['active', 'replaced', 'broken', 'gone']),
  loadedAt: maybeTime,
  origin: origin.exactOptional(),
});
const eventFacts = z.object({
  ...fields('id kind org', text),
  ...fields('repo actor', maybeText),
  source,
  factAt: maybeTime,
  storedAt: time,
  arrivals: z.array(z.object({ id: text, source, at: time })),
});
const verdict = z.enum(['fired', 'rejected', 'not-fired', 'error', 'unknown', 'absent']);
const why = {
  place: place.nullable(),
  look: place.extend({ text: maybeText }).nullable(),
  conditions: z.array(z.custom<ExplainedCondition>()),
  steps: z.array(z.custom<ExplainedStep>()),
  lookups: z.array(z.object({ ...fields('name answer', text), use: maybeText })),
  notes: texts,
};
export const explanation = z.discriminatedUnion('about', [
  z.object({
    about: z.literal('run'),
    run: run.omit({ trace: true, lookups: true, runKey: true, forge: true }),
    intentId: maybeText,
    event: eventFacts.nullable(),
    revision: revisionFacts,
    ...why,
    sections: jsonObject.nullable(),
    intents: z.array(
      z.object({
        ...fields('id action itemKey', text),
        mode,
        state: z.enum(INTENT_STATES),
        ...fields('reason code result', maybeText),
        attempts: z.array(
          attempt.pick({
            n: true,
            operation: true,
            sentAt: true,
            answeredAt: true,
            outcome: true,
            status: true,
            message: true,
          }),
        ),
      }),
    ),
  }),
  z.object({
    about: z.literal('decision'),
    ...fields('rule reason', text),
    event: eventFacts,
    revision: revisionFacts.nullable(),
    verdict,
    filters: z.array(
      z.object({ ...fields('filter reason', text), ...fields('wanted seen', json), place: place.nullable() }),
    ),
    ...why,
    runs: z.array(z.object({ ...fields('id reason code', text), state: z.enum(RUN_STATES) })),
  }),
  z.object({
    about: z.literal('event'),
    event: eventFacts,
    revision: revisionFacts.nullable(),
    rules: z.array(
      z.object({
        ...fields('rule reason', text),
        kind: z.enum(['rule', 'policy']),
        verdict,
        ...fields('away unknown', count),
        place: place.nullable(),
        runId: maybeText,
      }),
    ),
    notes: texts,
  }),
]);

const repo = z.object(fields('id name', text)).nullable();
const finding = z.object({ ...fields('name message', text), severity: z.enum(SEVERITIES) });
const planLine = z.object({
  ...fields('policy step action key valueHash', text),
  mode,
  repo,
  does: z.enum(['write', 'cannot']),
  ...fields('operation reason', maybeText),
  fields: z.array(z.object({ field: text, before: z.custom<PlanLine['fields'][number]['before']>(), after: json })),
});
export const planReport = z.object({
  ...fields('hash id forge org madeBy', text),
  ...fields('policy decidedBy appliedBy', maybeText),
  about: texts.nullable().describe('Numbers of the repositories it is about; null = every subject.'),
  revision: z.object(fields('id hash', text)),
  ...fields('now madeAt', time),
  ...fields('decidedAt appliedAt', maybeTime),
  subjects: count,
  lines: z.array(planLine),
  findings: z.array(finding.extend({ policy: text, repo })),
  notes: z.array(z.object({ ...fields('policy reason', text), code: text.exactOptional(), repo: maybeText })),
  overCaps: texts.describe('Why all of it is given up: more than a cap allows. Empty = nothing.'),
  overCapReasons: z.array(z.object({ code: text, params: jsonObject })).exactOptional(),
  needsApproval: z.boolean(),
  twoPeople: z.boolean().exactOptional(),
  heldBack: z.array(z.object({ ...fields('policy reason', text), code: text.exactOptional() })),
  calls: z.object({
    ...fields('reads writes', counts),
    runs: z.array(z.object({ policy: text, repo, calls: count })),
    atLeastS: count,
  }),
  state: z.enum(['open', 'approved', 'denied', 'applied']),
  /** Where its policies came from, when they came from a repository. */
  origin: origin.exactOptional(),
});
export type PlanReport = z.output<typeof planReport>;

export const applyReport = z.object({
  outcome: z.enum(['applied', 'applied-before', 'refused']),
  plan: planReport,
  reasons: texts,
  code: maybeText.describe('Why it was refused; of the first reason. Null = it was not refused.'),
  drift: z.array(z.object({ line: planLine.pick({ policy: true, repo: true, action: true, key: true }), told: text })),
  runs: texts,
});
export const planDecision = z.object({
  plan: planReport,
  decided: z.boolean().describe('False when it had been decided or applied before.'),
  applied: applyReport.nullable().describe('Of a plan that a schedule made, and that was applied with the yes.'),
});
export type PlanDecision = z.output<typeof planDecision>;

export const keptFinding = finding.extend({
  ...fields('forge org policy subject subjectName', text),
  ...fields('since lastSeenAt', time),
  endedAt: maybeTime.describe('When it was first seen to hold again; null = it does not hold.'),
});

export const auditPage = z.object({
  org: text,
  checked: count,
  head: z.object({ n: count, link: text }).nullable().describe('The last link looked at.'),
  broken: z.object({ n: count, ...fields('runId why', text) }).nullable(),
  again: texts.describe('Runs that a person took up again after they were sealed.'),
  isEnd: z.boolean(),
});

export const operator = z.object({
  ...fields('id name madeBy', text),
  ...fields('login revokedBy', maybeText),
  scopes: z.array(z.enum(OPERATOR_SCOPES)),
  ...fields('madeAt expiresAt', time),
  revokedAt: maybeTime,
});

export const jobRun = z.object({
  ...fields('forge org by', text),
  at: time,
  outcome: z.object({ summary: text, ...fields('findings changes', texts) }).nullable(),
  error: maybeText.describe('Why it could not be done; null = it was.'),
});
export type JobRun = z.output<typeof jobRun>;
export const jobStatus = z.object({
  ...fields('job summary when', text),
  per: z.enum(['organization', 'forge', 'bot']),
  last: z.array(jobRun),
});
export type JobStatus = z.output<typeof jobStatus>;

export const restoreReport = z.object(fields('putBack stored kept', count));
export type RestoreReport = z.output<typeof restoreReport>;
export const storeFiles = z.object({ dir: text, ...fields('bytes pauseMs', count) });
