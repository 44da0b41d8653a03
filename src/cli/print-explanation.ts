import { shortRevision } from '../core/ids.js';
import { describeOrigin } from './describe-origin.js';
import { isJsonObject, stringifyJson } from '../core/json.js';
import type { Json, JsonObject } from '../core/json.js';
import type {
  DecisionExplanation,
  EventExplanation,
  EventFacts,
  ExplainedCondition,
  ExplainedFilter,
  ExplainedIntent,
  ExplainedLookup,
  ExplainedLoop,
  ExplainedPart,
  ExplainedStep,
  Explanation,
  Look,
  Place,
  RevisionFacts,
  RunExplanation,
} from '../insight/explanation.js';
import { operationInWords } from '../forge/operation-words.js';
import { waitingLines } from './print-waiting.js';
import { plain, state, when } from './print.js';
import { colour } from './terminal.js';

/** An explanation for people: what happened, the line to look at, then everything it rests on. Times as the control API writes them. */
export function printExplanation(explanation: Explanation): string {
  const lines =
    explanation.about === 'run'
      ? ofRun(explanation)
      : explanation.about === 'decision'
        ? ofDecision(explanation)
        : ofEvent(explanation);
  const waits = waitingLines(explanation.waiting ?? []);
  const cut = isCut(explanation)
    ? [colour.dim('answers and results end at "…": forgehand explain --full shows all of them')]
    : [];
  return [
    ...lines,
    ...waits,
    ...cut,
    ...explanation.notes.map((note) => `${colour.yellow('note')}  ${plain(note)}`),
  ].join('\n');
}

/** Whether an answer of a lookup, or the result of an effect, was too long for its line. */
function isCut(explanation: Explanation): boolean {
  if (explanation.about === 'event') return false;
  const results = explanation.about === 'run' ? explanation.intents.map(({ result }) => result ?? '') : [];
  return [...explanation.lookups.map(({ answer }) => answer), ...results].some((text) => text.includes('…'));
}

function ofRun({
  run,
  context,
  intentId,
  event,
  revision,
  place,
  look,
  conditions,
  steps,
  sections,
  lookups,
  intents,
}: RunExplanation): string[] {
  return [
    `${colour.bold(`${run.org}/${run.rule}`)}  ${state(run.state)}  ${plain(run.reason)}`,
    ...lookAt(look),
    fact(
      'run',
      `${run.id}, decided ${when(run.decidedAt)} UTC${run.mode === 'dry-run' ? ', dry-run' : ''}${run.endedAt ? `, ended ${when(run.endedAt)}` : ''}`,
    ),
    ...(event ? ofFacts(event) : ofCause(run.cause, context)),
    fact(run.kind, `${place ? `${at(place)}, ` : ''}${revisionText(revision)}`),
    ...section('conditions', conditions.flatMap(ofCondition)),
    ...section('policy', sections ? Object.entries(sections).flatMap(([name, part]) => ofSection(name, part)) : []),
    ...section('lookups', lookups.map(ofLookup)),
    ...section('steps', steps.flatMap(ofStep)),
    ...section(
      'effects',
      intents.flatMap((intent) => ofIntent(intent, intent.id === intentId)),
    ),
  ];
}

function ofCause(cause: RunExplanation['run']['cause'], { repo, schedule }: RunExplanation['context']): string[] {
  const next = schedule?.next ? `next ${when(schedule.next)} UTC` : 'not scheduled any more';
  const why =
    cause.kind === 'tick'
      ? `schedule${schedule?.at ? `, occurrence ${when(schedule.at)} UTC` : ''}, ${next} (tick ${cause.tickId})`
      : cause.kind === 'apply'
        ? `plan ${plain(cause.plan)}, applied by ${plain(cause.by)}`
        : `event ${plain(cause.eventId)}`;
  return [fact('cause', why), ...(repo === null ? [] : [fact('in', plain(repo))])];
}

function ofDecision({
  rule,
  event,
  revision,
  place,
  verdict,
  reason,
  look,
  filters,
  conditions,
  steps,
  lookups,
  runs,
}: DecisionExplanation): string[] {
  return [
    `${colour.bold(`${event.org}/${rule}`)}  ${verdictText(verdict)}  ${plain(reason)}`,
    ...lookAt(look),
    ...ofFacts(event),
    ...(revision ? [fact('rule', `${place ? `${at(place)}, ` : ''}${revisionText(revision)}`)] : []),
    ...runs.map((run) => fact('run', `${run.id} ${state(run.state)}  ${plain(run.reason)}`)),
    ...section('filters that turn it away', filters.flatMap(ofFilter)),
    ...section('conditions', conditions.flatMap(ofCondition)),
    ...section('lookups', lookups.map(ofLookup)),
    ...section('steps', steps.flatMap(ofStep)),
  ];
}

function ofEvent({ event, revision, rules }: EventExplanation): string[] {
  const width = Math.max(0, ...rules.map(({ rule }) => rule.length));
  const lines = rules.map(({ rule, verdict, reason, place, runId }) => {
    const where = place ? `  ${colour.dim(at(place))}` : '';
    return `  ${verdictText(verdict, 9)}  ${colour.bold(rule.padEnd(width))}  ${plain(reason)}${where}${runId ? colour.dim(`  run ${runId}`) : ''}`;
  });
  return [
    ...ofFacts(event),
    ...(revision ? [fact('rules', revisionText(revision))] : []),
    ...(rules.length > 0 ? ['', ...lines] : ['  no rules']),
  ];
}

function ofFacts({ id, kind, repo, subject, actor, source, factAt, storedAt, arrivals }: EventFacts): string[] {
  const by = actor === null ? '' : ` by ${plain(actor)}`;
  const sources = arrivals.map((arrival) => `${arrival.source} ${when(arrival.at)} (${arrival.id})`);
  return [
    fact(
      'event',
      `${kind}${repo === null ? '' : ` in ${plain(repo)}`}${subject === null ? '' : ` ${plain(subject)}`}${by}, ${when(factAt ?? storedAt)} UTC (${id})`,
    ),
    fact('source', sources.length > 0 ? sources.join(', ') : `${source}, its arrival is no longer stored`),
  ];
}

export function ofFilter({ filter, wanted, seen, place }: ExplainedFilter): string[] {
  return [
    `  ${colour.red('false')}  ${colour.bold(filter)}${place ? `  ${at(place)}` : ''}`,
    `           asks for ${show(wanted)}, saw ${show(seen)}`,
  ];
}

const CONDITION_STATES: Readonly<Record<ExplainedCondition['state'], string>> = {
  true: colour.green('true '),
  false: colour.red('false'),
  error: colour.red('error'),
  unknown: colour.yellow('?    '),
  'not-evaluated': colour.dim('-    '),
};

export function ofCondition({
  name,
  text,
  place,
  state: conditionState,
  seen,
  because,
  why,
}: ExplainedCondition): string[] {
  const head = `  ${CONDITION_STATES[conditionState]}  ${colour.bold(plain(name))}  ${at(place)}  ${colour.dim(oneLine(text))}`;
  return [
    head,
    ...(why === null ? [] : [`           ${plain(why)}`]),
    ...ofSeen(seen, 11),
    ...ofParts(text, because, 11),
  ];
}

/** Where the one part is the whole, only its loop has something to add. */
function ofParts(whole: string, parts: readonly ExplainedPart[], indent: number): string[] {
  const [first] = parts;
  const isWhole = parts.length === 1 && first !== undefined && whole.startsWith(first.text.replace(/…$/, ''));
  if (!isWhole) return parts.flatMap((part) => ofPart(part, indent));
  return first.loop ? ofLoop(first.loop, indent) : [];
}

function ofPart({ text, place, value, loop }: ExplainedPart, indent: number): string[] {
  const head = `${' '.repeat(indent)}${oneLine(text)} is ${value ?? 'not known'}  ${at(place)}`;
  return [head, ...(loop ? ofLoop(loop, indent + 2) : [])];
}

function ofLoop({ variable, of, index, nearest, seen, because, others }: ExplainedLoop, indent: number): string[] {
  const space = ' '.repeat(indent);
  const element = index ?? nearest;
  if (element === null)
    return [
      `${space}none of ${of} decided it`,
      ...others.flatMap((one, at) => ofSeen(one, indent + 2, `${variable}[${at}] `)),
    ];
  const head =
    index === null
      ? `nearest of ${of}: ${variable} = element [${element}]`
      : `decided by ${variable} = element [${element}] of ${of}`;
  return [`${space}${head}`, ...ofSeen(seen, indent + 2), ...because.flatMap((part) => ofPart(part, indent + 2))];
}

function ofSeen(values: JsonObject | Readonly<Record<string, Json>>, indent: number, before = ''): string[] {
  return Object.entries(values).map(
    ([path, value]) => `${' '.repeat(indent)}${colour.dim(before)}${plain(path)} = ${show(value)}`,
  );
}

export function ofStep({ id, place, outcome, items, held }: ExplainedStep): string[] {
  const lines = [
    `  ${colour.bold(plain(id))}  ${at(place)}  ${plain(outcome)}${items.length > 0 ? `: ${plain(items.slice(0, 10).join(', '))}` : ''}`,
  ];
  if (held)
    lines.push(
      `           ${held.why}  ${at(held.place)}  ${colour.dim(oneLine(held.text))}`,
      ...ofSeen(held.seen, 11),
      ...ofParts(held.text, held.because, 11),
    );
  return lines;
}

function ofLookup({ name, use, answer }: ExplainedLookup): string {
  return `  ${colour.bold(plain(name))}${use === null ? '' : `  ${use}`}  ${plain(answer)}`;
}

/** A section of a policy: how much of it was wanted, missing and otherwise. */
function ofSection(name: string, part: Json): string[] {
  const facts = isJsonObject(part) ? Object.entries(part) : [['', part] as const];
  const factTexts = facts.map(([what, value]) => `${what.replace(/_/g, ' ')} ${plain(inWords(value))}`.trim());
  return [`  ${colour.bold(plain(name))}  ${factTexts.join('; ')}`];
}

/** A value without brackets, as far as it has words. */
function inWords(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ');
  if (isJsonObject(value)) {
    const { key, differences } = value;
    if (typeof key === 'string' && Array.isArray(differences)) return `${key} (${inWords(differences)})`;
    return Object.entries(value)
      .map(([name, of]) => `${name} ${inWords(of)}`)
      .join(', ');
  }
  return typeof value === 'string' ? value : stringifyJson(value);
}

function ofIntent(
  { id, action, itemKey, mode, state: of, reason, result, attempts }: ExplainedIntent,
  isAsked: boolean,
): string[] {
  const head = `${isAsked ? colour.bold('> ') : '  '}${colour.bold(action)} ${plain(itemKey)}  ${state(of)}${mode === 'dry-run' ? ' (dry-run)' : ''}${reason ? `  ${plain(reason)}` : ''}`;
  const lines = [head, `           intent ${id}`, ...(result ? [`           result ${plain(result)}`] : [])];
  for (const { n, operation, sentAt, outcome, status, message } of attempts) {
    lines.push(
      `           attempt ${n}: ${operationInWords(operation)}, sent ${when(sentAt)}, ${outcome ?? 'no answer stored'}${status ? ` (${status})` : ''}${message ? `: ${plain(message)}` : ''}`,
    );
  }
  return lines;
}

function lookAt(look: Look | null): string[] {
  return look ? [fact('look at', `${colour.bold(at(look))}${look.text === null ? '' : `  ${plain(look.text)}`}`)] : [];
}

function revisionText({ id, state: of, loadedAt, origin }: RevisionFacts): string {
  const from = origin ? `, from ${plain(describeOrigin(origin))}` : '';
  return `revision ${shortRevision(id)} (${of === 'gone' ? 'not kept any more' : `${of}, loaded ${when(loadedAt)} UTC`})${from}`;
}

export function verdictText(verdict: DecisionExplanation['verdict'], width = 0): string {
  const text = verdict === 'unknown' ? 'not known' : verdict;
  const tint =
    verdict === 'fired'
      ? colour.green
      : verdict === 'error' || verdict === 'absent'
        ? colour.red
        : verdict === 'unknown'
          ? colour.yellow
          : (word: string) => word;
  return tint(text.padEnd(width));
}

export function section(name: string, lines: string[]): string[] {
  return lines.length > 0 ? [colour.dim(name), ...lines] : [];
}

export function fact(name: string, text: string): string {
  return `  ${colour.dim(name.padEnd(7))}  ${text}`;
}

export function at({ file, line, col }: Place): string {
  return `${file}:${line}:${col}`;
}

export function show(value: Json): string {
  return plain(typeof value === 'string' && /^\(.*\)$/.test(value) ? value : stringifyJson(value));
}

function oneLine(text: string): string {
  return plain(text.replace(/\s+/g, ' '));
}
