import { isCelList, isCelMap } from '@bufbuild/cel';
import type { CelValue } from '@bufbuild/cel';

/** Steps of a call beside the one of every call, told by the size of its arguments (its target first) before it works. */
export type Charge = (args: readonly CelValue[]) => number;

const VALUES_A_STEP = 4;
/** Values that are counted below an argument; more than a decision has steps for. */
const MAX_COUNTED = 130_000;
/** Characters that are looked at to tell a cost; a longer text costs more than a decision has anyway. */
const MAX_READ = 512 * 1024;
/** Steps of compiling one character of a pattern. Calibrated by `npm run bench -- functions`, as are all figures below. */
export const PATTERN_STEPS = 16;

/** What takes the same time whatever it is given. */
const flat: Charge = () => 0;
/** The engine's own scan of a text, or copy of it. */
const scan = perCharacters(256);
/** One turn of a loop for each character. */
const walk = perCharacters(16);

/** What the standard functions and operators cost, by name: a function without a row is refused when the engine is made. */
const CHARGES: ReadonlyMap<string, Charge> = new Map([
  ...each(['!_', '-_', '_-_', '_*_', '_/_', '_%_', 'dyn', 'type'], flat),
  ...each(['_+_', '_<_', '_<=_', '_>_', '_>=_', 'charAt', 'substring', '@walk'], scan),
  ...each(['_==_', '_!=_', '@in'], deep(800)),
  ...each(['startsWith', 'endsWith'], scan),
  ...each(['contains', 'indexOf'], search),
  // The engine compares the whole sought text at each place.
  ...each(['lastIndexOf'], (args) => search(args) + (lengthOf(args[0]) * lengthOf(args[1])) / 4096),
  // Each character may become a part of its own.
  ...each(['split', 'replace'], (args) => walk(args) + search(args)),
  ...each(['bool', 'bytes', 'double', 'duration', 'string', 'timestamp', 'size'], walk),
  ...each(['lowerAscii', 'upperAscii', 'trim', 'strings.quote'], walk),
  // The engine reads a number of many digits in quadratic time.
  ...each(['int', 'uint'], (args) => walk(args) + lengthOf(args[0]) ** 2 / 65_536),
  ...each(['join'], deep(256)),
  // A placeholder may ask for the format of a language's numbers.
  ...each(['format'], (args) => walk(args) + deep(16)(args) + 64 * count(args[0], '%')),
  ...each(['getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear', 'getFullYear', 'getMonth'], ofTime),
  ...each(['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'], ofTime),
  // Compiling its pattern and searching with it are charged where that happens, before they do.
  ...each(['matches'], scan),
]);

/** @throws Error for a function that nobody has said the cost of */
export function chargeOf(name: string): Charge {
  const charge = CHARGES.get(name);
  if (!charge) throw new Error(`the function "${name}" has no charge`);
  return charge;
}

/** Texts by their characters, lists by their elements; what is below these is not looked at. */
export function perCharacters(characters: number): Charge {
  return (args) => {
    let cost = 0;
    for (const arg of args) cost += isCelList(arg) ? arg.size / 32 : lengthOf(arg) / characters;
    return cost;
  };
}

/** All values below the arguments, four a step, and so many characters of their texts. */
export function deep(characters: number): Charge {
  return (args) =>
    args.reduce<number>((total, arg) => total + weigh(arg, characters / VALUES_A_STEP, MAX_COUNTED) / VALUES_A_STEP, 0);
}

function weigh(value: CelValue, characters: number, cap: number): number {
  if (typeof value === 'string') return 1 + value.length / characters;
  let weight = 1;
  const add = (item: CelValue): boolean => (weight += weigh(item, characters, cap - weight)) > cap;
  if (isCelList(value)) for (const item of value) if (add(item)) break;
  if (isCelMap(value)) for (const item of value.values()) if (add(item)) break;
  return weight;
}

/** A text sought in another: a hostile one fits nearly everywhere. */
function search(args: readonly CelValue[]): number {
  const [text, sought] = args;
  return scan(args) + (lengthOf(text) * Math.min(lengthOf(sought), 64)) / 1024;
}

/** The parts of a time in a zone are told by the format of that zone, made anew each time. */
function ofTime(args: readonly CelValue[]): number {
  return walk(args) + (args.length > 1 ? 100 : 0);
}

function lengthOf(value: CelValue | undefined): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

function count(text: CelValue | undefined, sign: string): number {
  return typeof text === 'string' && text.length <= MAX_READ ? text.split(sign).length - 1 : 0;
}

function each(names: readonly string[], charge: Charge): Array<readonly [string, Charge]> {
  return names.map((name) => [name, charge] as const);
}
