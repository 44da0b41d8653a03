import { z } from 'zod';
import { BUDGET_HELD } from '../../core/budgets.js';
import { ENTRY_SOURCES } from '../../core/event.js';
import type { EventKind } from '../../core/event-kinds.js';
import { attempt, shownIntent, shownRun } from '../../core/run.js';
import {
  type Shape,
  count,
  fields,
  jsonObject,
  maybeText,
  maybeTime,
  mode,
  text,
  texts,
  time,
  word,
} from '../../core/schema.js';
import { INTENT_STATES, RUN_STATES } from '../../core/states.js';
import { about, aboutRun, effectCount } from '../../insight/about-run.js';
import { place } from '../../insight/explanation.js';
import { pageOf } from './page-of.js';
import { coverage } from '../../insight/coverage.js';
import { ruleCounts } from '../../insight/rule-counts.js';
import { sourceText } from '../../insight/source-text.js';
import { arrivalSummary } from '../../pipeline/inbox-store.port.js';
import { gap } from '../../pipeline/gap-store.port.js';
import { check, doctorReport } from '../../housekeeping/doctor/check.js';
import { shownWaiting } from '../../core/waiting.js';
import { rolloutRow } from '../../pipeline/rollout-store.port.js';
import { applyReport, keptPlan } from '../../policies/policy-plan.js';
import { origin } from '../../rules/sources/rule-repository.port.js';

/** What operations answer, as the handlers make it. On the wire a time is an ISO text. */

const entrySource = z.enum(ENTRY_SOURCES);

export const runReport = z.object({
  run: shownRun,
  /** Where the rules of its revision came from, when they came from a repository. */
  origin: origin.exactOptional(),
  about: aboutRun,
  /** Of its intents, equal ones counted. */
  effects: z.array(effectCount),
  intents: z.array(shownIntent.extend({ attempts_made: z.array(attempt) })),
});
export type RunReport = z.output<typeof runReport>;

export const deliveryReport = arrivalSummary.extend({
  about: about.nullable().describe('Of its first event; null = it made no event.'),
  rules: texts.describe('Rules and policies that fired for its events.'),
  effects: z.array(effectCount).describe('Their planned effects, equal effects counted.'),
});
export type DeliveryReport = Shape<typeof deliveryReport>;

/** What the doctor says, in pages. */
export const doctorPage = pageOf(check).extend({
  findings: count.describe('Problems and warnings, of all pages.'),
  forges: doctorReport.shape.forges.describe('Those that the checks of this page are about.'),
});
export type DoctorPage = Shape<typeof doctorPage>;

export const longCall = z.object({
  id: text,
  state: z.enum(['running', 'done', 'failed']),
  progress: z.object(fields('done of', count)).nullable().describe('Null until the call tells how far it is.'),
  answer: z.unknown().optional().describe('What the operation answers, once it is done.'),
  ...fields('error message', text.exactOptional()),
});

/** What a schedule would do about one repository, or about the organization. */
export const rehearsedRun = z.object({
  repo: maybeText,
  state: z.enum(RUN_STATES),
  mode,
  ...fields('reason code', text),
  effects: z.array(z.object({ action: text, itemKey: text, waits: z.boolean().describe('For an approval.') })),
});
export type RehearsedRun = Shape<typeof rehearsedRun>;

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

const orgStatus = z.object({
  ...fields('name forge', text),
  revision: z
    .object({ id: text, hash: text, ...fields('rules policies', count.nullable()), loadedAt: time })
    .nullable()
    .describe('Counts are null where another process loaded it and this one (role web) loads none.'),
  heldBack: texts.describe(
    'Problems of a newer revision that was not taken; at most 20, then how many more there are.',
  ),
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
  stages: z.array(rolloutRow).describe('Rules that are tried before they write everywhere: the newest stage of each.'),
  pollers: z
    .array(
      z.object({
        source: entrySource,
        ...fields('advancedAt oldestReadAt', maybeTime),
        isQuiet: z.boolean().describe('Of tasks: no rule waits for them, so one poll in ten reads them.'),
      }),
    )
    .describe('`oldestReadAt`: when the repository that waits longest was read last; null where it is not known.'),
});

export const statusReport = pageOf(orgStatus).extend({
  version: text,
  deployment: z.enum(['embedded', 'distributed']),
  roles: texts,
  startedAt: maybeTime.describe('Null when the answer comes from the store, without a running bot.'),
  queueHealthy: z.boolean().nullable(),
  intents: z.record(z.enum(INTENT_STATES), count).describe('Among the newest 10,000 of each state.'),
  behind: z
    .array(
      z.object({
        state: z.enum(INTENT_STATES),
        ...fields('org rule', text),
        count,
        byCommand: z.boolean().describe('Whether people ask for its effects by a command; they are answered.'),
      }),
    )
    .describe('The rules of intents that wait for a person or ended badly; of each state the oldest 100 count.'),
  backlog: z.object(fields('arrivals events', count)).describe('What is stored and not decided yet.'),
  quarantined: z
    .array(z.object({ topic: z.enum(['arrival', 'event']), id: text, deaths: count, since: time }))
    .describe('Arrivals and events that ended processes and are left alone.'),
  paused: z.array(
    z.object({
      ...fields('org rule', maybeText),
      by: text,
      at: time,
      reason: maybeText.optional(),
      waiting: count.describe('Effects that wait for its end.'),
    }),
  ),
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
    .describe('Spent budgets that hold effects, the one that holds most first.'),
  waiting: z
    .array(shownWaiting)
    .describe(
      'What is not decided or not done since something else is in the way, the longest first; of each kind the oldest 200 are looked at.',
    ),
  deliveries: z
    .object({
      since: time,
      hooks: z
        .array(
          z.object({
            ...fields('org hook', text),
            count,
            last: maybeTime.describe('Null = none came since.'),
          }),
        )
        .describe('Of the organizations of this page.'),
      hours: z.array(z.object({ at: time, count })).describe('Each hour of the last day.'),
    })
    .describe('Deliveries of the last day by webhook, of the newest 10,000; only hooks in sight.'),
  gaps: z
    .object({ since: time, ...fields('repaired late lost', count) })
    .describe('Gaps that polling found in the last day; of the newest 200.'),
  alerts: z
    .array(z.object({ ...fields('code message', text), at: time }))
    .describe(
      'Raised and not resolved, by any process of the bot; those of another process may be some seconds old. The same one of more than ten organizations is one.',
    ),
  forges: z.array(
    z.object({ id: text, ...fields('product version self', maybeText), reachable: z.boolean().nullable() }),
  ),
  cut: z
    .array(z.enum(['alerts', 'behind', 'held', 'paused', 'quarantined', 'waiting']))
    .describe(
      'Which of these lists have more than they show: as many rows as the page may have. `org` shows those of one organization.',
    ),
});
export type StatusReport = z.output<typeof statusReport>;

export const gapReport = z.object({
  rows: z.array(gap),
  next: maybeText.describe('Where the next page of gaps begins; null = this was the last one.'),
  coveredSince: time.describe('Coverage counts events stored since.'),
  coverage: pageOf(
    coverage.extend({
      visibleIn: entrySource
        .nullable()
        .describe('Which rows show the kind; null = none: a lost delivery of this kind cannot be repaired.'),
    }),
  ).describe('By kind of event; what rows alone told needs attention, and comes first.'),
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
  source: z.enum(['webhook', ...ENTRY_SOURCES]),
  factAt: maybeTime,
  actor: z.object(fields('id login', text)).nullable(),
  repo: z.looseObject(fields('id owner name full_name', text)).nullable(),
  data: jsonObject,
  storedAt: time,
});
const account = z.object({ id: maybeText, login: text });
export const historyAnswer = z.object({
  events: z.array(event),
  runs: z.array(
    shownRun
      .pick({
        id: true,
        rule: true,
        kind: true,
        revisionId: true,
        mode: true,
        state: true,
        reason: true,
        code: true,
        parameters: true,
      })
      .extend({
        lookups: jsonObject,
        decidedAt: time,
        eventId: text,
        intents: z.array(shownIntent.pick({ stepId: true, action: true, itemKey: true, params: true, state: true })),
      }),
  ),
  next: maybeText.describe('Where the next page begins; null = this was the last one.'),
  bot: account
    .extend({ others: z.array(account).exactOptional() })
    .nullable()
    .describe('Who the bot is on the forge of this organization; null while no forge said it.'),
});

const pause = z.object({ ...fields('org rule reason', maybeText), by: text, at: time });

/** A rule or policy of the active revision. */
export const ruleSummary = z.object({
  ...fields('org id', text),
  kind: z.enum(['rule', 'policy']),
  place,
  mode: z
    .enum(['live', 'dry-run', 'shadow'])
    .describe('As written in its file; `stage` is what people promoted it to.'),
  canary: count.nullable().describe('Percent of the repositories in which it writes, as its file says.'),
  disabled: maybeText.describe('Why nothing starts it; null = it is not switched off.'),
  on: texts.describe('Kinds of event that start it.'),
  schedule: z.object({ ...fields('cron tz', text), next: maybeTime }).nullable(),
  stage: rolloutRow.nullable().describe('Rollout stage of a rule that does not write everywhere yet.'),
  pause: pause.nullable().describe('The pause that holds its effects back.'),
  unmet: maybeText.describe('What it needs and the forge or the token does not offer.'),
  counts: ruleCounts,
});
export type RuleSummary = Shape<typeof ruleSummary>;

export const rulesPage = pageOf(ruleSummary).extend({
  refused: z
    .array(z.object({ org: text, problems: texts }))
    .describe('Organizations whose newer rules were not taken: at most ten, and of each at most ten problems.'),
});
export type RulesPage = z.output<typeof rulesPage>;

export const ruleReport = ruleSummary.extend({
  revision: z.object({ id: text, loadedAt: time, origin: origin.exactOptional() }),
  source: sourceText.nullable().describe('As it stands in its file; for owners of the organization.'),
  conditions: z
    .array(
      z.object({
        ...fields('name text', text),
        line: count,
        turnedAway: count.describe('How often this condition rejected an event, in the same days.'),
      }),
    )
    .describe('Coverage: a condition that never rejected an event may be needless, or was never reached.'),
  actions: texts,
  operations: texts.describe('Operations of the forge that it may call.'),
});
export type RuleReport = Shape<typeof ruleReport>;

export const planReport = keptPlan.extend({
  /** Where its policies came from, when they came from a repository. */
  origin: origin.exactOptional(),
});
export type PlanReport = z.output<typeof planReport>;

export const planDecision = z.object({
  plan: planReport,
  decided: z
    .boolean()
    .describe('False when it had been decided or applied before, or nothing could be decided: it is open still.'),
  applied: applyReport.nullable().describe('Of a plan that a schedule made, and that was applied with the yes.'),
});
export type PlanDecision = z.output<typeof planDecision>;

export const restoreReport = z.object(fields('putBack stored history unchanged', count));
export type RestoreReport = z.output<typeof restoreReport>;
export const storeFiles = z.object({ dir: text, ...fields('bytes pauseMs', count) });
