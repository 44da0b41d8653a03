import pc from 'picocolors';
import { tableOf } from '../core/table.js';
import { visible } from '../core/visible.js';

/** A stream that may be a terminal. */
type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Programs get the JSON lines; people at a terminal get the same facts to read. */
export function forReader(output: Output): Pick<NodeJS.WritableStream, 'write'> {
  return output.isTTY === true ? { write: (line: string) => output.write(peopleLine(line)) } : output;
}

const TINTS = new Map<string, (text: string) => string>([
  ['warn', pc.yellow],
  ['error', pc.red],
  ['fatal', pc.red],
  ['info', pc.green],
]);

/** What a person who starts the bot waits for, as a sentence; all else is told fact by fact. */
const SENTENCES = tableOf<(facts: Readonly<Record<string, unknown>>) => string>({
  'forgehand.started': ({ places }) =>
    `The bot runs: ${Array.isArray(places) ? places.join(', ') : ''}. Ctrl-C stops it.`,
  'forgehand.stopped': () => 'The bot stopped.',
  'forge.connected': ({ forge, product, version, self }) =>
    `The forge ${wordOf(forge)} answers: ${wordOf(product)} ${wordOf(version)}${self ? `, where the bot is ${wordOf(self)}` : ''}.`,
  'revision.active': ({ org, rules, policies }) =>
    `The rules of ${wordOf(org)} are active: ${many(rules, 'rule', 'rules')}, ${many(policies, 'policy', 'policies')}.`,
});

function wordOf(fact: unknown): string {
  return typeof fact === 'string' || typeof fact === 'number' ? String(fact) : '';
}

function many(fact: unknown, one: string, more: string): string {
  return `${wordOf(fact)} ${fact === 1 ? one : more}`;
}

/**
 * `19:24:01 info  revision.active The rules of acme are active: 12 rules, 1 policy.`, or `… poll.failed org=acme`, in local time. A line that is no
 * JSON stays as it is.
 */
export function peopleLine(json: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return `${visible(json.trimEnd())}\n`;
  }
  const { time, level, msg, app: _, ...facts } = entry;
  const at = new Date(String(time));
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
  const word = String(level);
  const tint = TINTS.get(word) ?? pc.dim;
  const sentence = SENTENCES[String(msg)]?.(facts);
  const shownFacts =
    sentence === undefined ? Object.entries(facts).flatMap(([key, value]) => factsOf(key, value)) : [visible(sentence)];
  return `${pc.dim(clock)} ${tint(word.padEnd(5))} ${pc.bold(visible(String(msg)))}${shownFacts.map((fact) => ` ${fact}`).join('')}\n`;
}

/** `error.code=X`: an object is told field by field, one level deep. */
function factsOf(key: string, value: unknown): string[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'object' && !Array.isArray(value))
    return Object.entries(value).map(([inner, it]) => fact(`${key}.${inner}`, it));
  return [fact(key, value)];
}

function fact(key: string, value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const isPlain = typeof value !== 'string' || /^[^\s"=]+$/.test(text);
  return `${pc.dim(`${visible(key)}=`)}${visible(isPlain ? text : JSON.stringify(text))}`;
}
