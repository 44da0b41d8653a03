import { shortReason } from '../core/run-reasons.js';
import { INTENT_STATES, RUN_STATES } from '../core/states.js';
import type { Check } from '../housekeeping/doctor/check.js';
import type { BacktestRule } from '../insight/backtest/backtest-report.js';
import type { List, ListFilter } from './list.js';
import type { AnswerOf } from './operations/index.js';
import { duration } from './words.js';

type RowOf<Rows extends readonly unknown[]> = Rows[number];
type Plan = NonNullable<AnswerOf<'planOf'>['plan']>;
type Rule = RowOf<AnswerOf<'rules'>['rows']>;
type JobResult = RowOf<AnswerOf<'jobs'>['rows']>;
type Act = RowOf<AnswerOf<'acts'>['rows']>;
type Gap = RowOf<AnswerOf<'gaps'>['rows']>;

/** Of a list that comes in pages. */
export const SEARCH: ListFilter = {
  ...{ name: 'search', label: 'Search', placeholder: 'text' },
  help: 'only rows whose names contain this text',
};

/** Filters of the timeline. */
export const ACTIVITY_FILTERS: readonly ListFilter[] = [
  { name: 'repo', label: 'Repository', help: 'only this repository', placeholder: 'owner/name' },
  { name: 'person', label: 'Person', help: 'only events that this person caused', placeholder: 'login' },
  {
    ...{ name: 'kind', label: 'Kind of event', placeholder: 'issue, push, …' },
    help: 'only events of this kind (issue.opened) or family (issue)',
  },
  { name: 'rule', label: 'Rule or policy', help: 'only events that this rule or policy evaluated', placeholder: 'id' },
  { name: 'state', label: 'Run in state', help: 'only events with a run in this state', choices: RUN_STATES },
  {
    ...{ name: 'effects', label: 'Effect in state', choices: INTENT_STATES },
    help: 'only events with an effect in this state',
  },
];

/** What became of a gap. */
const GAP_OUTCOMES: Readonly<Record<Gap['outcome'], string>> = {
  repaired: 'repaired',
  'not-representable': 'lost',
  late: 'late',
};

export const GAPS: List<Gap> = {
  columns: [
    { head: 'Found', form: 'time', value: ({ foundAt }) => foundAt },
    { head: 'Happened', form: 'time', value: ({ factAt }) => factAt },
    {
      head: 'What',
      value: ({ kind }) => kind ?? 'a row without an event',
      page: ({ eventId, arrivalId }) => (eventId === null ? ['deliveries', arrivalId] : ['events', eventId]),
    },
    { head: 'Where', value: ({ repo, org }) => repo ?? org },
    { head: 'Found in', value: ({ source }) => source },
    { head: 'Row', on: 'terminal', value: ({ entryKey }) => entryKey },
    { head: 'Class', on: 'terminal', value: (gap) => gap.class },
    { head: 'Cause', form: 'wide', value: ({ reason }) => reason },
    {
      head: 'Outcome',
      form: 'state',
      value: ({ outcome, lateByS }) =>
        lateByS === null ? GAP_OUTCOMES[outcome] : `late by ${duration(lateByS * 1000)}`,
    },
  ],
  keyOf: ({ arrivalId, eventId }) => `${arrivalId}-${eventId ?? ''}`,
  empty: 'No gap: every row that the bot read has its delivery.',
};

export const COVERAGE: List<RowOf<AnswerOf<'gaps'>['coverage']['rows']>> = {
  columns: [
    { head: 'Organization', value: ({ org }) => org },
    { head: 'Kind', form: 'code', value: ({ kind }) => kind },
    { head: 'In both', form: 'number', value: ({ both }) => both },
    { head: 'Deliveries alone', form: 'number', value: ({ webhook }) => webhook },
    { head: 'Feed rows alone', form: 'number', value: ({ rows }) => rows },
    { head: 'A lost delivery is visible in', value: ({ visibleIn }) => visibleIn ?? 'nothing: deliveries alone' },
  ],
  keyOf: ({ org, kind }) => `${org}-${kind}`,
  empty: 'No event yet. Push something, or see whether the webhook is there: run the doctor.',
};

export const FINDINGS: List<RowOf<AnswerOf<'findings'>['rows']>> = {
  columns: [
    { head: 'Severity', form: 'state', value: ({ severity }) => severity },
    { head: 'Where', value: ({ subjectName, org }) => subjectName || org },
    { head: 'Policy', value: ({ policy }) => policy, page: ({ org, policy }) => ['rules', org, policy] },
    { head: 'Expectation', value: ({ name }) => name },
    { head: 'Since', form: 'time', value: ({ since }) => since },
    { head: 'Last seen', form: 'time', on: 'terminal', value: ({ lastSeenAt }) => lastSeenAt },
    { head: 'Ended', form: 'time', on: 'terminal', value: ({ endedAt }) => endedAt },
    { head: 'Finding', form: 'wide', value: ({ message }) => message },
  ],
  empty: 'Every expectation holds, or no policy has one.',
};

export const PLANS: List<Plan> = {
  columns: [
    { head: 'Made', form: 'time', value: ({ madeAt }) => madeAt },
    {
      head: 'Plan',
      value: ({ org, policy }) => (policy === null ? `all policies of ${org}` : `${org}/${policy}`),
      page: ({ hash }) => ['plans', hash],
    },
    { head: 'State', form: 'state', value: (plan) => stateOfPlan(plan) },
    { head: 'Changes', form: 'number', value: (plan) => writesOf(plan).length },
    { head: 'By', value: ({ madeBy }) => madeBy },
    { head: 'Hash', form: 'code', value: ({ hash }) => hash.slice(0, 12) },
  ],
  keyOf: ({ id }) => id,
  empty: 'No plan was made yet. Make one: it shows what the policies would change, and writes nothing.',
};

/** What a plan would write. */
export function writesOf({ lines }: Pick<Plan, 'lines'>): Plan['lines'] {
  return lines.filter(({ does }) => does === 'write');
}

export function stateOfPlan({ state, lines, needsApproval }: Plan): string {
  if (state !== 'open') return state;
  if (lines.length === 0) return 'no changes';
  return needsApproval ? 'waits' : 'open';
}

export const RULES: List<Rule> = {
  columns: [
    { head: 'Rule', value: ({ org, id }) => `${org}/${id}`, page: ({ org, id }) => ['rules', org, id] },
    { head: 'Mode', form: 'state', value: (rule) => modeOfRule(rule) },
    { head: 'Starts on', value: (rule) => startsOn(rule) },
    { head: 'Fired', form: 'number', value: ({ counts }) => counts.fired },
    { head: 'Not fired', form: 'number', value: ({ counts }) => counts.notFired },
    { head: 'Failed', form: 'number', value: ({ counts }) => counts.failed },
    { head: 'Held', form: 'number', value: ({ counts }) => counts.held },
    { head: 'Next', form: 'time', value: ({ schedule }) => (schedule ? schedule.next : '') },
    {
      head: 'Held back by, or main reason for not firing',
      form: 'wide',
      value: (rule) => heldBackBy(rule) ?? shortReason(rule.counts.mainReason?.because ?? ''),
    },
  ],
  keyOf: ({ org, id }) => `${org}-${id}`,
  empty: 'No rules are loaded. Write one (docs/first-rule.md), and run forgehand check.',
};

export function startsOn({ on, schedule }: Pick<Rule, 'on' | 'schedule'>): string {
  const { cron = '', tz = 'UTC' } = schedule ?? {};
  return [...on, ...(schedule ? [tz === 'UTC' ? cron : `${cron} ${tz}`] : [])].join(', ');
}

/** What the rule may do now: what its file says, or the stage that people promoted it to. */
export function modeOfRule({ mode, stage, disabled }: Pick<Rule, 'mode' | 'stage' | 'disabled'>): string {
  if (disabled !== null) return 'disabled';
  if (stage === null) return mode;
  return stage.stage === 'canary' ? `canary ${stage.percent ?? 0}%` : stage.stage;
}

/** Null = nothing holds it back. */
export function heldBackBy({ disabled, pause, unmet }: Pick<Rule, 'disabled' | 'pause' | 'unmet'>): string | null {
  if (disabled !== null) return `disabled: ${disabled}`;
  if (pause) return `paused by ${pause.by}${pause.reason === null ? '' : `: ${pause.reason}`}`;
  return unmet;
}

export const CONDITIONS: List<RowOf<AnswerOf<'rule'>['conditions']>> = {
  columns: [
    { head: 'Condition', value: ({ name }) => name },
    { head: 'Line', form: 'number', value: ({ line }) => line },
    { head: 'Turned away', form: 'number', value: ({ turnedAway }) => turnedAway },
    { head: 'Text', form: 'code', value: ({ text }) => text.replace(/\s+/g, ' ') },
  ],
  keyOf: ({ name, line }) => `${name}-${line}`,
  empty: 'It has no conditions.',
};

export const SCHEDULES: List<RowOf<AnswerOf<'schedules'>['rows']>> = {
  columns: [
    { head: 'Rule', value: ({ org, id }) => `${org}/${id}`, page: ({ org, id }) => ['rules', org, id] },
    { head: 'Schedule', value: ({ cron, tz }) => `${cron} ${tz}` },
    {
      head: 'Last',
      form: 'time',
      // What became of its runs stands beside it.
      value: ({ last, runs }) => (last === null && runs.length > 0 ? 'when loaded' : last),
    },
    { head: 'Runs then', value: ({ runs }) => runs.map(({ state, count }) => `${count} ${state}`).join(', ') },
    { head: 'Next', form: 'time', value: ({ next }) => next },
    { head: 'Why not', form: 'wide', value: ({ why }) => why.map(({ text }) => text).join('; ') },
  ],
  keyOf: ({ org, id }) => `${org}-${id}`,
  empty: 'No rule or policy has a schedule, or they are for owners of the organization.',
};

/** The bot's own jobs. */
export const JOBS: List<RowOf<AnswerOf<'jobs'>['jobs']>> = {
  columns: [
    { head: 'Job', form: 'code', value: ({ job }) => job },
    { head: 'Does', form: 'wide', value: ({ summary }) => summary },
    { head: 'For each', on: 'terminal', value: ({ per }) => per },
    { head: 'When', value: ({ when }) => when },
    { head: 'Ended well', form: 'number', value: ({ done }) => done },
    { head: 'To look at', form: 'count', value: ({ troubled }) => troubled },
  ],
  keyOf: ({ job }) => job,
  empty: 'The bot has no job that you may see.',
};

/** What came out of them. */
export const JOB_RESULTS: List<JobResult> = {
  columns: [
    { head: 'Job', form: 'code', value: ({ job }) => job },
    { head: 'About', value: ({ org, forge }) => org || forge || 'the bot' },
    { head: 'Last', form: 'time', value: ({ at }) => at },
    { head: 'By', value: ({ by }) => by },
    { head: 'Outcome', form: 'wide', value: (run) => outcomeOfJob(run) },
  ],
  keyOf: ({ job, forge, org }) => `${job}-${forge}-${org}`,
  empty: 'No job has run yet.',
};

function outcomeOfJob({ outcome, error }: JobResult): string {
  if (!outcome) return `could not be done: ${error ?? ''}`;
  const { missed, changes, findings, summary } = outcome;
  const parts = [
    missed ? `${missed.length} not done` : '',
    changes.length > 0 ? `${changes.length} changed` : '',
    findings.length > 0 ? `${findings.length} to look at` : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || summary;
}

export const ACTS: List<Act> = {
  columns: [
    { head: 'When', form: 'time', value: ({ at }) => at },
    { head: 'Who', value: ({ by }) => by },
    { head: 'What', value: ({ operation }) => inWords(operation) },
    {
      head: 'About',
      form: 'wide',
      value: (act) =>
        factsOf(act)
          .map((fact) => fact.join(' '))
          .join(', '),
    },
    { head: 'Organization', value: ({ org }) => org ?? 'none alone' },
    { head: 'Reason', value: ({ reason }) => reason ?? 'none given' },
    { head: 'Outcome', form: 'state', value: ({ outcome }) => outcome ?? 'not known' },
  ],
  keyOf: ({ id }) => id,
  empty: 'Nobody has given an order yet. Retry, approve, pause and their like appear here.',
};

/** `runSchedule` and `scope_missing` as words. */
export function inWords(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** What an act was about, without what was not asked for. */
export function factsOf({ about, operation }: Pick<Act, 'about' | 'operation'>): Array<[name: string, value: string]> {
  return Object.entries(about)
    .filter(([, value]) => value !== false || operation === 'resolve')
    .map(([name, value]) => [name, value === true ? '' : String(value)]);
}

export const SESSIONS: List<RowOf<AnswerOf<'consoleSessions'>['sessions']>> = {
  columns: [
    { head: 'Id', on: 'terminal', value: ({ id }) => id },
    { head: 'Who', value: ({ name }) => name },
    { head: 'By', value: ({ kind }) => ({ local: 'link', operator: 'operator token', person: 'forge' })[kind] },
    { head: 'Browser', form: 'wide', value: ({ agent }) => agent },
    { head: 'Begun', form: 'time', value: ({ madeAt }) => madeAt },
    { head: 'Last seen', form: 'time', value: ({ seenAt }) => seenAt },
    { head: 'Ends', form: 'time', value: ({ endsAt }) => endsAt },
  ],
  keyOf: ({ id }) => id,
  empty: 'No browser is logged in: forgehand console prints a link.',
};

export const CHECKS: List<Check> = {
  columns: [
    { head: 'State', form: 'state', value: ({ state }) => state },
    { head: 'Check', form: 'code', value: ({ check }) => check },
    { head: 'About', value: ({ org, forge }) => org ?? forge },
    { head: 'Seen', form: 'wide', value: ({ said }) => said },
    { head: 'Age', value: ({ ageS }) => (ageS === null ? null : duration(ageS * 1000)) },
  ],
  empty: 'The doctor looked at nothing.',
};

export const FORGES: List<RowOf<AnswerOf<'status'>['forges']>> = {
  columns: [
    { head: 'Forge', value: ({ id }) => id },
    { head: 'Server', value: ({ product, version }) => (product ? `${product} ${version ?? ''}` : 'not known') },
    { head: 'Bot account', value: ({ self }) => self ?? 'not known' },
    {
      head: 'State',
      form: 'state',
      value: ({ reachable }) => (reachable === null ? 'not known here' : reachable ? 'answers' : 'unreachable'),
    },
  ],
  keyOf: ({ id }) => id,
  empty: 'The config names no forge that you may see.',
};

export const BACKTEST: List<BacktestRule> = {
  columns: [
    { head: 'Rule', form: 'code', value: ({ rule, mode }) => (mode === null ? `${rule} (not in these rules)` : rule) },
    { head: 'Would fire', form: 'number', value: ({ would }) => would.fired },
    { head: 'Did fire', form: 'number', value: ({ did }) => did.fired },
    { head: 'New', form: 'count', value: ({ differences }) => differences.firesNow.count },
    { head: 'Gone', form: 'count', value: ({ differences }) => differences.firesNoMore.count },
    { head: 'Other', form: 'count', value: ({ differences }) => differences.otherEffects.count },
    { head: 'Errors', form: 'count', value: ({ would }) => would.error + would.held },
    { head: 'Not known', form: 'count', value: ({ would }) => would.unknown },
    { head: 'Effects', form: 'number', on: 'terminal', value: ({ effects: { would, did } }) => `${would} (${did})` },
    {
      head: 'Agrees',
      on: 'terminal',
      value: ({ agreement: { compared, agreed } }) => (compared === 0 ? null : `${agreed} of ${compared}`),
    },
  ],
  keyOf: ({ rule }) => rule,
  empty: 'No rule takes any of these events.',
};
