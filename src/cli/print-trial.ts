import type { AnswerOf } from '../api/operations/index.js';
import { operationInWords } from '../forge/operation-words.js';
import { counted } from '../api/words.js';
import { at, fact, ofCondition, ofFilter, ofStep, section, show, verdictText } from './print-explanation.js';
import { plain, when } from './print.js';
import { colour } from './terminal.js';

type Trial = AnswerOf<'tryOnObject'>;
type TriedRule = Trial['rules'][number];
type Effect = TriedRule['effects'][number];

/** What rule files make of one object, for people: each rule with its verdict, the reasons, and what it would write. */
export function printTrial({ event, rules, reads, notes }: Trial, on: string): string {
  const happened = event?.factAt ? `, ${when(event.factAt)} UTC` : '';
  const by = event?.actor ? ` by ${plain(event.actor)}` : '';
  return [
    fact('event', event ? `${event.kind} on ${plain(on)}${by}${happened}` : 'none'),
    fact('reads', `${counted(reads, 'lookup')}; nothing was written`),
    ...rules.flatMap((rule) => ['', ...ofRule(rule)]),
    ...(rules.length > 0 ? [] : ['  no rules']),
    '',
    ...notes.map((note) => `${colour.yellow('note')}  ${plain(note)}`),
  ].join('\n');
}

function ofRule({ rule, verdict, reason, place, mode, steps, waits, effects }: TriedRule): string[] {
  return [
    `${colour.bold(plain(rule))}  ${verdictText(verdict)}  ${plain(reason)}${mode === 'live' ? '' : `  ${colour.dim(mode)}`}`,
    ...(place ? [fact('look at', at(place))] : []),
    ...(steps
      ? [
          ...section('filters that turn it away', steps.filters.flatMap(ofFilter)),
          ...section('conditions', steps.conditions.flatMap(ofCondition)),
          ...section(
            'lookups',
            steps.lookups.map(({ name, answer }) => `  lookups.${plain(name)} = ${plain(answer)}`),
          ),
          ...section('steps', steps.steps.flatMap(ofStep)),
        ]
      : []),
    ...section(
      'before it writes',
      waits.map((line) => `  ${colour.yellow(plain(line))}`),
    ),
    ...section('effects', effects.flatMap(ofEffect)),
  ];
}

function ofEffect({ action, itemKey, params, does, operation, reason }: Effect): string[] {
  const head = `  ${WORDS[does]}  ${colour.bold(plain(action))} ${plain(itemKey)}`;
  const why = does === 'write' ? operationInWords(operation ?? '') : (reason ?? '');
  return [
    `${head}  ${plain(why)}`,
    ...(does === 'nothing'
      ? []
      : Object.entries(params).map(([name, value]) => `           ${colour.dim(plain(name))} = ${show(value)}`)),
  ];
}

const WORDS: Readonly<Record<Effect['does'], string>> = {
  write: colour.green('would write'),
  nothing: colour.dim('as it is   '),
  waits: colour.yellow('would wait '),
  cannot: colour.red('cannot     '),
  'not-looked': colour.yellow('not known  '),
  sealed: colour.dim('not shown  '),
};
