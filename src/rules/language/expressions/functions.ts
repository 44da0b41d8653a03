import {
  CelScalar,
  celEnv,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  mapType,
} from '@bufbuild/cel';
import type { CelEnv, CelFunc, CelInput, CelList, CelType, CelValue } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import type { FunctionType, RuleFunction } from '../functions/define-function.js';
import { isRealTime } from '../../../core/real-time.js';
import { chargeOf, deep } from './charges.js';
import type { Charge } from './charges.js';
import { concat, convert, fromCel, listOf } from './cel-values.js';
import { MAX_LIST, MAX_TEXT } from './meter.js';
import type { Meter } from './meter.js';
import { MAX_SUBJECT, compileRegex, costOfSearch } from './regex.js';

const { BOOL, DYN, INT, STRING } = CelScalar;
const LIST = listType(DYN);
/** Wraps what a loop walks; no author can write this name. */
export const WALK = '@walk';
/** A variable that is read before each turn of a loop: reading it costs a step, and ends the evaluation when none is left. */
export const ALIVE = '@alive';
/** The same, in a loop that is the whole expression: these turns are counted. */
export const TURN = '@turn';

/** What it takes to hand the arguments to a function of ours; the function says the rest. */
const OF_ARGUMENTS = deep(800);
const MAX_MESSAGE = 300;

/**
 * CEL's standard functions and strings extension plus our own, each behind the meter: every call costs, a text or list it makes has a
 * cap, and those of the library that take quadratic time or compile a pattern per call are replaced.
 */
export function meteredEnv(ownFunctions: readonly RuleFunction[], meter: Meter): CelEnv {
  const standard = [...celEnv({ funcs: strings }).funcs] as unknown as CelFunc[];
  const library = [...standard, ...ownVersions(meter)].map((func) => metered(func, meter, chargeOf(func.name)));
  const own = ownFunctions.map((definition) => metered(fromDefinition(definition, meter), meter, OF_ARGUMENTS));
  return celEnv({ funcs: [...library, ...own] });
}

function metered(func: CelFunc, meter: Meter, charge: Charge): CelFunc {
  const run = (target: CelValue | undefined, args: CelValue[]): CelInput => {
    meter.charge(Math.ceil(1 + charge(target === undefined ? args : [target, ...args])));
    const result = func.call(0, target, args);
    if (result === undefined) throw new Error(`${func.name} does not take these arguments`);
    // The library writes a whole argument into some of its messages.
    if (isCelError(result)) throw new Error(result.message.slice(0, MAX_MESSAGE));
    checkSize(result);
    return result;
  };
  if (func.target === undefined)
    return celFunc(func.name, func.arguments, func.result, (...args: CelValue[]) => run(undefined, args) as never);
  return celMethod(func.name, func.target, func.arguments, func.result, function (this: CelValue, ...args: CelValue[]) {
    return run(this, args) as never;
  });
}

function checkSize(value: CelValue): void {
  if (typeof value === 'string' && value.length > MAX_TEXT)
    throw new Error(`a text longer than ${MAX_TEXT} characters`);
  if (isCelList(value) && value.size > 10 * MAX_LIST) throw new Error(`a list of more than ${10 * MAX_LIST} elements`);
}

function ownVersions(meter: Meter): CelFunc[] {
  return [
    celFunc(WALK, [DYN], DYN, (range) => {
      checkWalk(isCelList(range) || isCelMap(range) ? range.size : 0);
      return range as CelInput;
    }),
    celFunc('_+_', [LIST, LIST], LIST, concat),
    // The library takes 30 February for 2 March.
    celFunc('timestamp', [STRING], standardTimestamp.result, (text) => {
      if (!isRealTime(text)) throw new Error(noTime(text));
      return standardTimestamp.call(0, undefined, [text]) as never;
    }),
    celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
      return search(this, pattern, meter);
    }),
    celFunc('matches', [STRING, STRING], BOOL, (subject, pattern) => search(subject, pattern, meter)),
    celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
      return replace(this, from, to, -1n);
    }),
    celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, times) {
      return replace(this, from, to, times);
    }),
    celMethod('join', LIST, [], STRING, function () {
      return join(this, '');
    }),
    celMethod('join', LIST, [STRING], STRING, function (separator) {
      return join(this, separator);
    }),
    celMethod('format', STRING, [LIST], STRING, function (args) {
      const text = standardFormat?.call(0, this, [args]);
      if (typeof text !== 'string')
        throw new Error(isCelError(text) ? text.message : 'format does not take these arguments');
      return text;
    }),
  ];
}

/** Why a text is no time. */
export function noTime(text: string): string {
  return `"${text.slice(0, 40)}" is no time that exists: write one such as 2027-01-31T12:00:00Z`;
}

const standardTimestamp = [...celEnv().funcs].find(
  ({ name, arguments: [argument] }) => name === 'timestamp' && argument?.name === 'string',
) as unknown as CelFunc;

const standardFormat = (strings as readonly CelFunc[]).find(({ name }) => name === 'format');

function search(subject: string, pattern: string, meter: Meter): boolean {
  if (subject.length > MAX_SUBJECT)
    throw new Error(`matches takes texts of at most ${MAX_SUBJECT} characters, this has ${subject.length}`);
  meter.chargeOnce(pattern);
  const regex = compileRegex(pattern);
  meter.charge(costOfSearch(regex, subject));
  return regex.test(subject);
}

/** At most `times` replacements, all when negative; an empty `from` stands before each character and at the end. */
function replace(text: string, from: string, to: string, times: bigint): string {
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  const count = times < 0n ? parts.length - 1 : Math.min(Number(times), parts.length - 1);
  if (text.length + count * to.length > MAX_TEXT) throw new Error(`a text longer than ${MAX_TEXT} characters`);
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => from + part)
      .join('')
  );
}

function join(list: CelList, separator: string): string {
  const texts: string[] = [];
  let length = 0;
  for (const item of list) {
    if (typeof item !== 'string') throw new Error('join takes a list of texts');
    length += item.length + separator.length;
    if (length > MAX_TEXT) throw new Error(`a text longer than ${MAX_TEXT} characters`);
    texts.push(item);
  }
  return texts.join(separator);
}

function fromDefinition({ name, params, result, run, charge, patterns }: RuleFunction, meter: Meter): CelFunc {
  const types = timestampTypes();
  return celFunc(
    name,
    params.map(({ type }) => types[type]),
    types[result],
    (...args: CelValue[]) => {
      const plain = args.map((arg, index) =>
        params[index]?.type === 'list' && isCelList(arg) ? plainList(arg) : fromCel(arg),
      );
      for (const pattern of patterns?.(plain as never[]) ?? [])
        if (typeof pattern === 'string') meter.chargeOnce(pattern);
      meter.charge(Math.ceil(charge(plain as never[])));
      const context = { now: meter.now, charge: (steps: number) => meter.charge(steps) };
      return toResult(run(plain as never[], context), result) as never;
    },
  );
}

function plainList(list: CelList): unknown[] {
  checkWalk(list.size);
  return [...list].map(fromCel);
}

function checkWalk(size: number): void {
  if (size > MAX_LIST) throw new Error(`a list of ${size} elements; an expression may walk ${MAX_LIST}`);
}

function toResult(value: unknown, type: FunctionType): CelInput {
  if (type === 'duration') {
    const { seconds, nanos } = value as { seconds: bigint; nanos: number };
    return { $typeName: 'google.protobuf.Duration', seconds, nanos } as unknown as CelInput;
  }
  return Array.isArray(value) ? listOf(value.map(convert)) : convert(value);
}

/** The package exports no name for its two time types; its own functions' signatures have them. */
function timestampTypes(): Record<FunctionType, CelType> {
  const signatureOf = (name: string): CelType => [...celEnv().funcs].find((func) => func.name === name)?.result ?? DYN;
  return {
    string: STRING,
    int: INT,
    bool: BOOL,
    timestamp: signatureOf('timestamp'),
    duration: signatureOf('duration'),
    list: LIST,
    map: mapType(DYN, DYN),
    dyn: DYN,
  };
}
