import type { AnswerOf } from '../../api/operations/index.js';
import type { Json } from '../../core/json.js';
import type { Tone } from '../../api/words.js';
import { Source, Table, Tree, type TreeNode } from './components.js';
import { oneLine, placeText, ReadValues, value } from './words.js';

/** An explanation as `explain` answers it, for people to look at: the rule's source with the lines that decided, and the tree of reasons. */

type Explained = AnswerOf<'explain'>;
export type ExplainedRun = Extract<Explained, { about: 'run' }>;
type ExplainedDecision = Extract<Explained, { about: 'decision' }>;
export type ExplainedEvent = Extract<Explained, { about: 'event' }>;
type Why = Pick<ExplainedRun, 'conditions' | 'steps' | 'lookups' | 'look' | 'source'> &
  Partial<Pick<ExplainedDecision, 'filters'>>;
type Condition = Why['conditions'][number];
type Part = Condition['because'][number];
type Loop = NonNullable<Part['loop']>;
type Step = Why['steps'][number];

export const CONDITION_TONES: Readonly<Record<Condition['state'], Tone>> = {
  true: 'good',
  false: 'bad',
  error: 'bad',
  unknown: 'attention',
  'not-evaluated': 'neutral',
};
const CONDITION_WORDS: Readonly<Record<Condition['state'], string>> = {
  true: 'holds',
  false: 'does not hold',
  error: 'failed',
  unknown: 'not known',
  'not-evaluated': 'not evaluated',
};

/** The place that decided, for the line below a verdict. */
export function LookAt({ look }: Pick<Why, 'look'>) {
  if (!look) return null;
  return (
    <p>
      Look at <code>{placeText(look)}</code>
      {look.text !== null && (
        <>
          : <code>{look.text}</code>
        </>
      )}
    </p>
  );
}

/** The rule in its file. Of several marks on one line the worst counts; the line to look at first says so. */
export function RuleSource({ why }: { why: Why }) {
  const { source } = why;
  if (!source) return null;
  return (
    <Source
      file={source.file}
      firstLine={source.firstLine}
      text={source.lines.join('\n')}
      marks={marksOf(why, source.firstLine, source.firstLine + source.lines.length - 1)}
    />
  );
}

type Mark = { readonly tone: Tone; readonly note?: string };
const RANK: readonly Tone[] = ['neutral', 'good', 'info', 'attention', 'bad'];

function marksOf({ conditions, steps, look, filters = [] }: Why, from: number, to: number): ReadonlyMap<number, Mark> {
  const marks = new Map<number, Mark>();
  const mark = (line: number | undefined, tone: Tone, note: string): void => {
    if (line === undefined || line < from || line > to) return;
    const earlier = marks.get(line);
    if (!earlier || RANK.indexOf(tone) > RANK.indexOf(earlier.tone)) marks.set(line, { tone, note });
  };
  for (const { place, wanted, seen } of filters)
    mark(place?.line, 'bad', `asks for ${value(wanted)}, saw ${value(seen)}`);
  for (const condition of conditions) {
    const { state, because, seen } = condition;
    const tone = CONDITION_TONES[state];
    if (tone === 'neutral') continue;
    const decided = state === 'true' ? [] : because.flatMap(deepest);
    if (decided.length === 0) mark(condition.look.line, tone, noteOf(CONDITION_WORDS[state], seen));
    for (const part of decided)
      mark(part.place.line, tone, noteOf(part.value === null ? 'not known' : `is ${part.value}`, seen));
  }
  for (const { place, held, items } of steps)
    if (held) mark(held.place.line, 'attention', held.why);
    else if (items.length > 0) mark(place.line, 'good', `wants ${items.length}`);
  if (look && look.line >= from && look.line <= to && !marks.has(look.line))
    marks.set(look.line, { tone: 'bad', note: 'look here' });
  return marks;
}

function deepest(part: Part): readonly Part[] {
  const inner = part.loop?.because ?? [];
  return inner.length > 0 ? inner.flatMap(deepest) : [part];
}

const NOTED = 2;

function noteOf(word: string, readValues: Readonly<Record<string, Json>>): string {
  const values = Object.entries(readValues)
    .slice(0, NOTED)
    .map(([path, of]) => `${path} = ${value(of)}`);
  return [word, ...values].join('; ');
}

/** Filters, conditions with the parts that decided, and steps with what they wanted. */
export function Reasons({ why }: { why: Why }) {
  const { filters = [], conditions, steps } = why;
  const nodes: TreeNode[] = [
    ...filters.map(({ filter, reason, wanted, seen, place }): TreeNode => ({
      tone: 'bad',
      label: `filter ${filter}: ${reason}`,
      detail: (
        <>
          asks for <code>{value(wanted)}</code>, saw <code>{value(seen)}</code>
          {place && `, ${placeText(place)}`}
        </>
      ),
    })),
    ...conditions.map(nodeOfCondition),
    ...steps.map(nodeOfStep),
  ];
  return nodes.length === 0 ? null : <Tree nodes={nodes} />;
}

function nodeOfCondition({ name, text, place, state, seen, because, why }: Condition): TreeNode {
  return {
    tone: CONDITION_TONES[state],
    label: `condition ${name} ${CONDITION_WORDS[state]}`,
    detail: (
      <>
        <code>{oneLine(text)}</code> {placeText(place)}
        {why !== null && <div>{why}</div>}
        <ReadValues values={seen} />
      </>
    ),
    children: because.map(nodeOfPart),
    open: state !== 'true',
  };
}

function nodeOfPart({ text, place, value: of, loop }: Part): TreeNode {
  return {
    tone: of === null ? 'attention' : 'neutral',
    label: (
      <>
        <code>{oneLine(text)}</code> {of === null ? 'is not known' : `is ${of}`}
      </>
    ),
    detail: placeText(place),
    ...(loop ? { children: [nodeOfLoop(loop)] } : {}),
  };
}

function nodeOfLoop({ variable, of, index, nearest, seen, because, others }: Loop): TreeNode {
  const element = index ?? nearest;
  const label =
    element === null
      ? `none of ${of} decided it`
      : index === null
        ? `nearest of ${of}: ${variable} is element ${element}`
        : `decided by ${variable}, element ${element} of ${of}`;
  return {
    label,
    detail:
      element === null ? others.map((one, n) => <ReadValues values={one} key={n} />) : <ReadValues values={seen} />,
    children: because.map(nodeOfPart),
  };
}

function nodeOfStep({ id, action, place, outcome, items, held }: Step): TreeNode {
  return {
    tone: held ? 'attention' : items.length > 0 ? 'good' : 'neutral',
    label: (
      <>
        step {id}: <code>{action}</code> {outcome}
      </>
    ),
    detail: (
      <>
        {placeText(place)}
        {items.length > 0 &&
          `: ${items.slice(0, 10).join(', ')}${items.length > 10 ? `, and ${items.length - 10} more` : ''}`}
      </>
    ),
    ...(held
      ? {
          children: [
            {
              tone: 'attention' as const,
              label: (
                <>
                  {held.why}: <code>{oneLine(held.text)}</code>
                </>
              ),
              detail: (
                <>
                  {placeText(held.place)}
                  <ReadValues values={held.seen} />
                </>
              ),
              children: held.because.map(nodeOfPart),
            },
          ],
        }
      : {}),
  };
}

/** What the rule asked the forge, and what it was told. */
export function Lookups({ lookups }: { lookups: Why['lookups'] }) {
  if (lookups.length === 0) return null;
  return (
    <Table
      caption="Lookups and what they said"
      rows={lookups}
      keyOf={({ name }) => name}
      empty=""
      columns={[
        { head: 'Lookup', cell: ({ name }) => <code>{name}</code> },
        { head: 'Asked', cell: ({ use }) => use && <code>{use}</code> },
        { head: 'Answer', kind: 'wide', cell: ({ answer }) => answer },
      ]}
    />
  );
}
