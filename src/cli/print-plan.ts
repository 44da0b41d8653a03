import type { PlanReport, RunReport } from '../api/operations/answers.js';
import { describeOrigin } from './describe-origin.js';
import { callsMade, countsInWords, sumOf, type CallCounts } from '../core/call-counts.js';
import { operationInWords } from '../forge/operation-words.js';
import { stringifyJson } from '../core/json.js';
import type { Json } from '../core/json.js';
import type { ApplyReport, Before, FieldChange, KeptPlan, PlanLine, PredictedCalls } from '../policies/policy-plan.js';
import { areRepeated, countChanges, signOf } from './count-changes.js';
import { plain, state, when } from './print.js';
import { colour } from './terminal.js';
import { byRepository, counted, duration } from '../api/words.js';

/**
 * A plan for people: what is made in green, what is written over in yellow, what is otherwise and cannot be written in red. Equal changes are
 * counted over the repositories.
 * @param options.all each change is listed by its repository, with the values before and after; so is a plan in which none repeats
 * @param options.now what ages are counted from
 */
export function describePlan(plan: PlanReport, { all, now }: { all: boolean; now: Date }): string {
  const isCounted = !all && areRepeated(plan.lines);
  const lines = isCounted
    ? [...countChanges(plan.lines), colour.dim('equal changes are grouped: --all lists each with its values'), '']
    : [...byRepository(plan)].flatMap(([where, of]) => [
        colour.bold(plain(where)),
        ...of.flatMap((line) => describeLine(line, now)),
        '',
      ]);
  const findings = plan.findings.map(({ policy, name, severity, repo, message }) => {
    return `  ${severity.padEnd(8)} ${plain(repo?.name ?? plan.org)}  ${policy}: ${name}: ${plain(message)}`;
  });
  const notes = plan.notes.map(
    ({ policy, repo, reason }) => `  ${policy}${repo === null ? '' : ` (${plain(repo)})`}: ${plain(reason)}`,
  );
  return [
    ...lines,
    ...(findings.length > 0 ? [colour.bold('Expectations that do not hold'), ...findings, ''] : []),
    ...(notes.length > 0 ? [colour.bold('Not decided'), ...notes, ''] : []),
    ...(plan.heldBack.length > 0
      ? [
          colour.bold('Held back'),
          ...plan.heldBack.map(({ policy, reason }) => `  ${colour.red(policy)}  ${plain(reason)}`),
          '',
        ]
      : []),
    ...(plan.newPolicies
      ? [
          `New in this store: ${plan.newPolicies.join(', ')}. A new policy waits once for approval; later the bot applies it by itself.`,
        ]
      : []),
    ...(plan.origin ? [`policies from ${plain(describeOrigin(plan.origin))}`] : []),
    summaryOf(plan),
  ].join('\n');
}

function describeLine(line: PlanLine, now: Date): string[] {
  const [sign, tint] = signOf(line);
  const head = `  ${sign} ${line.action} ${plain(line.key)}`;
  const how =
    line.does === 'write'
      ? `${operationInWords(line.operation ?? '')}${line.mode === 'dry-run' ? ', dry-run: not written' : ''}`
      : (line.reason ?? '');
  return [
    `${tint(head)}  ${colour.dim(`${plain(how)}; ${line.policy}`)}`,
    ...line.fields.map((change) => describeField(change, now)),
  ];
}

function describeField({ field, before, after }: FieldChange, now: Date): string {
  const wanted = colour.green(text(after));
  return before.is === 'absent'
    ? `      ${field}: ${wanted}`
    : `      ${field}: ${beforeText(before, now)} -> ${wanted}`;
}

function beforeText(before: Exclude<Before, { is: 'absent' }>, now: Date): string {
  switch (before.is) {
    case 'value':
      return colour.red(text(before.value));
    case 'other':
      return colour.dim('(another value)');
    case 'not-readable':
      return before.last
        ? colour.dim(
            `(not readable, last written ${text(before.last.value)} ${duration(now.getTime() - Date.parse(before.last.at))} ago)`,
          )
        : colour.dim('(not readable, never written from here)');
  }
}

function text(value: Json): string {
  return plain(typeof value === 'string' ? value : stringifyJson(value)).slice(0, 200);
}

function summaryOf(plan: KeptPlan): string {
  const short = plan.hash.slice(0, 12);
  const writes = plan.lines.filter(({ does }) => does === 'write').length;
  const cannot = plan.lines.length - writes;
  const undecided = plan.notes.length > 0 ? `, ${plan.notes.length} not decided` : '';
  const subjects = `${counted(plan.subjects, 'subject')} looked at${undecided}`;
  if (plan.lines.length === 0)
    return plan.heldBack.length + plan.notes.length > 0
      ? `Nothing else to change: ${subjects}.`
      : `Nothing to change: ${subjects}.`;
  const changes = `Plan ${colour.bold(short)}: ${counted(writes, 'call')}${cannot > 0 ? `, ${cannot} that no call can change` : ''}; ${subjects}.`;
  const summary = writes === 0 ? changes : `${changes}\n${callsOf(plan)}`;
  if (plan.overCaps.length > 0) return `${summary}\n${colour.red('Given up whole')}: ${plan.overCaps.join('; ')}`;
  if (writes === 0) return summary;
  if (!plan.needsApproval) return `${summary}\nforgehand apply ${short}`;
  return plan.state === 'approved'
    ? `${summary}\nApproved by ${plan.decidedBy ?? 'somebody'}: forgehand apply ${short}`
    : `${summary}\nIt needs an approval: forgehand approve ${short}, then forgehand apply ${short}`;
}

function callsOf({ calls: { reads, writes, runs, atLeastS } }: KeptPlan): string {
  const of = (counts: CallCounts, what: string): string =>
    sumOf(counts) === 0 ? `no ${what}` : `${counted(sumOf(counts), what)} (${countsInWords(counts, operationInWords)})`;
  const most = Math.max(0, ...runs.map(({ calls }) => calls));
  const [total, parts] = [
    sumOf(reads) + sumOf(writes),
    runs.length > 1 ? `; ${runs.length} runs of ${most} or fewer` : '',
  ];
  return `API calls of its runs, at most ${total}: ${of(writes, 'write')}, ${of(reads, 'read')}${parts}; at least ${duration(atLeastS * 1000)}`;
}

export function describeApply({ outcome, plan, reasons, drift, runs }: ApplyReport): string {
  const short = plan.hash.slice(0, 12);
  if (outcome === 'applied-before')
    return `plan ${short} was applied before, by ${plan.appliedBy ?? 'somebody'} at ${when(plan.appliedAt)} UTC: nothing is written`;
  if (outcome === 'applied')
    return runs.length === 0
      ? `plan ${short} has nothing to write`
      : `plan ${short} is applied: ${counted(runs.length, 'run')}`;
  const changed = drift.map(
    ({ line, told }) => `  ${plain(line.repo?.name ?? plan.org)}  ${line.action} ${plain(line.key)} ${told}`,
  );
  return [`${colour.red('refused')}: nothing is written: ${reasons.join('; ')}`, ...changed].join('\n');
}

/** @param predicted what the plan said that it would cost */
export function describeDone(runs: readonly RunReport[], predicted: PredictedCalls): string {
  const calls = callsMade(runs.flatMap(({ intents }) => intents.map(({ result }) => result)));
  const predictedCalls = sumOf(predicted.reads) + sumOf(predicted.writes);
  const effects = runs
    .flatMap(({ run, intents }) =>
      intents.map((intent) => {
        const { target } = intent;
        const where = target.kind === 'repository' ? `${target.owner}/${target.name}` : run.org;
        return `  ${state(intent.state).padEnd(10)} ${plain(where)}  ${intent.action} ${plain(intent.itemKey)}${intent.reason === null ? '' : `: ${plain(intent.reason)}`}`;
      }),
    )
    .join('\n');
  return sumOf(calls) === 0
    ? effects
    : `${effects}\n${counted(sumOf(calls), 'API call')} of at most ${predictedCalls} that were predicted: ${countsInWords(calls, operationInWords)}`;
}
