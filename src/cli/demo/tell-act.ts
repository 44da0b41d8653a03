import type { RunReport } from '../../api/operations/answers.js';
import { ENTRY_SOURCES } from '../../core/event.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { ForgeNow } from './forge-now.js';
import type { Cell, Lines, Paint } from './lines.js';
import type { BotProgress } from './watch-bot.js';
import { colour } from '../terminal.js';

type Intents = [RunReport['intents'][number], ...RunReport['intents']];

/** Groups of effects of one run and action: `label.ensure` eight times is one line. */
interface Effects {
  readonly rule: string;
  readonly intents: Intents;
}

/** Kinds of arrival that fit; statuses and jobs of workflows come last. */
const SHOWN = 2;

/** In the order in which they are told, whichever was read first: the end of a long line is cut. */
const SOURCES: ReadonlyArray<ArrivalSummary['source']> = ['webhook', ...ENTRY_SOURCES];

type Arrived = Pick<ArrivalSummary, 'source' | 'eventKinds' | 'eventType' | 'repeats'>;

const PAINTS: Readonly<Record<string, Paint>> = {
  done: colour.green,
  unchanged: colour.dim,
  refused: colour.yellow,
  conflict: colour.yellow,
  waiting: colour.yellow,
  dead: colour.red,
};

/** Writes the line (or lines) of one act: arrival -> rule -> effect -> what the forge now holds. */
export async function tellAct(
  lines: Lines,
  now: ForgeNow,
  what: { no: string; act: string; arrival: string },
  runs: readonly RunReport[],
): Promise<void> {
  const effects = effectsOf(runs);
  const act = { text: what.act };
  const arrival = { text: what.arrival };
  if (effects.length === 0) {
    lines.row(what.no, act, [
      arrival,
      { text: ruleText(runs), paint: colour.dim },
      ...(runs.length === 0
        ? []
        : [
            { text: '-', paint: colour.dim },
            { text: whyNothing(runs), paint: colour.dim },
          ]),
    ]);
    return;
  }
  for (const [index, { rule, intents }] of effects.entries()) {
    const worst = intents.find(({ state }) => state !== 'done' && state !== 'unchanged') ?? intents[0];
    const holds =
      worst.state === 'done' || worst.state === 'unchanged' ? await now.after(intents) : (worst.reason ?? worst.state);
    const cells: Cell[] = [
      { text: rule, paint: colour.cyan },
      { text: effectText(intents), paint: PAINTS[worst.state] ?? colour.red },
      { text: holds },
    ];
    if (index === 0) lines.row(what.no, act, [arrival, ...cells]);
    else lines.row('', null, [{ text: '' }, ...cells]);
  }
}

/** By rule, action and repository, in the order in which they were decided. */
function effectsOf(runs: readonly RunReport[]): Effects[] {
  const groups = new Map<string, { rule: string; intents: Intents }>();
  for (const { run, intents } of runs) {
    for (const intent of intents) {
      const key = `${run.id} ${intent.action}`;
      const group = groups.get(key);
      if (group) group.intents.push(intent);
      else groups.set(key, { rule: run.rule, intents: [intent] });
    }
  }
  return [...groups.values()];
}

function effectText(intents: Intents): string {
  const states = new Map<string, number>();
  for (const { state } of intents) states.set(state, (states.get(state) ?? 0) + 1);
  const text = [...states].map(([state, count]) => (intents.length === 1 ? state : `${count} ${state}`)).join(', ');
  return `${intents[0].action} ${text}`;
}

/** How the act reached the bot: arrivals by kind, and how many were duplicates, lost or refused. */
export function arrivalText({
  arrivals,
  deliveries,
}: Pick<BotProgress, 'deliveries'> & { readonly arrivals: readonly Arrived[] }): string {
  const count = (word: string, number: number): string => (number > 0 ? `(${number} ${word})` : '');
  const duplicates = arrivals.reduce((sum, { repeats }) => sum + repeats, 0);
  const words = [
    kindsText(arrivals),
    count(duplicates === 1 ? 'duplicate' : 'duplicates', duplicates),
    count('lost', deliveries.filter(({ state }) => state === 'dropped').length),
    count('refused', deliveries.filter(({ status, state }) => state === 'failed' && status !== null).length),
  ].filter((word) => word !== '');
  return words.join(' ') || 'no delivery (the forge sends none for this)';
}

function kindsText(arrivals: readonly Arrived[]): string {
  const kinds = new Map<string, number>();
  const inOrder = [...arrivals].sort((one, other) => SOURCES.indexOf(one.source) - SOURCES.indexOf(other.source));
  for (const { source, eventKinds, eventType } of inOrder) {
    const word = source === 'webhook' ? eventKinds.join(' and ') || eventType : `found in the ${source}`;
    kinds.set(word, (kinds.get(word) ?? 0) + 1);
  }
  const texts = [...kinds].map(([word, count]) => (count > 1 ? `${count} ${word}` : word));
  return texts.length > SHOWN ? `${texts.slice(0, SHOWN).join(', ')} +${texts.length - SHOWN}` : texts.join(', ');
}

/** Why nothing is done: no rule is about it, or the rules that are have a condition that does not hold. */
function ruleText(runs: readonly RunReport[]): string {
  return runs.length === 0 ? 'no rule matched' : [...new Set(runs.map(({ run }) => run.rule))].join(', ');
}

function whyNothing(runs: readonly RunReport[]): string {
  const reasons = [...new Set(runs.map(({ run }) => (run.state === 'error' ? `error: ${run.reason}` : run.reason)))];
  return reasons.join('; ');
}
