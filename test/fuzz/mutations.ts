import type { JsonObject } from '../../src/core/json.js';
import type { SeededRandom } from '../../src/core/seeded-random.js';

/** What a hook sends, before somebody spoils it. */
export interface Sample {
  readonly eventType: string;
  readonly event: string;
  readonly text: string;
}

const WORDS = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  'toJSON',
  'length',
  'then',
  '',
];
const NUMBERS = [
  '9'.repeat(300),
  '-0',
  '1e999999',
  '-1',
  '0.1e-9999',
  '18446744073709551616',
  '9007199254740993',
  '01',
  '0x10',
  'NaN',
  '1e',
  '-',
];
const VALUES: readonly unknown[] = [
  null,
  true,
  [],
  {},
  '',
  -1,
  2 ** 53,
  1e308,
  'x'.repeat(5000),
  '\u0000',
  '\ud800',
  '\u202e',
  [[]],
  { id: {} },
  [null],
  { login: 7 },
  '../..',
];
const BYTES = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xe2, 0x82],
  [0x00],
  [0xf4, 0x90, 0x80, 0x80],
  [0xef, 0xbb, 0xbf],
];

type Mutation = (text: Buffer, random: SeededRandom, other: Sample) => Buffer;

const insert = (text: Buffer, at: number, part: Buffer | string, drop = 0): Buffer =>
  Buffer.concat([text.subarray(0, at), Buffer.from(part as string), text.subarray(at + drop)]);

/** Where a character stands, from a place that chance chose; -1 = nowhere behind it. */
const placeOf = (text: Buffer, char: string, random: SeededRandom): number =>
  text.indexOf(char, random.below(text.length + 1));

export const MUTATIONS = {
  none: (text) => text,
  'byte flips': (text, random) => {
    const copy = Buffer.from(text);
    for (let n = random.below(8); n >= 0 && copy.length > 0; n -= 1)
      copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  truncation: (text, random) => text.subarray(0, random.below(text.length + 1)),
  splice: (text, random, other) => {
    const theirs = Buffer.from(other.text);
    return Buffer.concat([
      text.subarray(0, random.below(text.length + 1)),
      theirs.subarray(random.below(theirs.length + 1)),
    ]);
  },
  'a value of another body': (text, random, other) =>
    withPlace(text, random, (copy, key) => (copy[key] = pickPlace(JSON.parse(other.text), random)?.value)),
  'another value': (text, random) =>
    withPlace(text, random, (copy, key) => (copy[key] = structuredClone(random.pick(VALUES)))),
  'a missing key': (text, random) => withPlace(text, random, (copy, key) => delete copy[key]),
  'a name of every object': (text, random) =>
    withPlace(text, random, (copy, key) => {
      if (random.below(2) === 0) copy[key] = random.pick(WORDS);
      else if (!Array.isArray(copy))
        Object.defineProperty(copy, random.pick(WORDS), {
          value: copy[key],
          enumerable: true,
          configurable: true,
          writable: true,
        });
    }),
  'deep nests': (text, random) => {
    const depth = random.pick([10, 63, 64, 65, 1000, 20_000]);
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    const at = placeOf(text, ':', random);
    return at < 0
      ? Buffer.from(open.repeat(depth))
      : insert(text, at + 1, `${open.repeat(depth)}1${random.below(4) === 0 ? '' : close.repeat(depth)},"z":`);
  },
  'huge numbers': (text, random) => {
    const at = placeOf(text, ':', random);
    return at < 0 ? text : insert(text, at + 1, `${random.pick(NUMBERS)},"z${random.below(99)}":`);
  },
  'a key twice': (text, random) => {
    const at = placeOf(text, '{', random);
    return at < 0
      ? text
      : insert(
          text,
          at + 1,
          `"${random.pick(['id', 'action', 'repository', '\\u0069d', '__proto__', 'z'])}":${random.pick(['1', '{}', '"x"'])},`,
        );
  },
  'invalid UTF-8': (text, random) =>
    insert(text, random.below(text.length + 1), Buffer.from(random.pick(BYTES)), random.below(3)),
} satisfies Record<string, Mutation>;

export type MutationName = keyof typeof MUTATIONS;

/** Ways to break a form that holds the text. */
export const FORMS: ReadonlyArray<(form: string, random: SeededRandom) => string> = [
  (form) => form,
  (form, random) => form.slice(0, random.below(form.length + 1)),
  (form, random) =>
    `${form.slice(0, random.below(form.length))}%${random.pick(['', '%', 'z', 'g1', '2', 'C0%AF', '00', 'ED%A0%80'])}${form.slice(random.below(form.length))}`,
  (form) => `${form}&payload=1`,
  (form) => `a=1&&${form}&=&`,
  (form) => form.replaceAll('%22', '"'),
  (form, random) => form.replace(/%[0-9A-F]{2}/g, (code) => (random.below(50) === 0 ? code.slice(0, 2) : code)),
];

type Holder = Record<string, unknown>;

/** A place anywhere in the body: steps down for as long as chance says so. */
function pickPlace(body: unknown, random: SeededRandom): { holder: Holder; key: string; value: unknown } | null {
  let found: { holder: Holder; key: string; value: unknown } | null = null;
  for (let value = body; typeof value === 'object' && value !== null;) {
    const keys = Object.keys(value);
    if (keys.length === 0) break;
    const key = random.pick(keys);
    found = { holder: value as Holder, key, value: (value as Holder)[key] };
    if (random.below(3) === 0) break;
    value = found.value;
  }
  return found;
}

function withPlace(text: Buffer, random: SeededRandom, change: (holder: Holder, key: string) => unknown): Buffer {
  const body = JSON.parse(text.toString('utf8')) as JsonObject;
  for (let n = random.below(3); n >= 0; n -= 1) {
    const place = pickPlace(body, random);
    if (place) change(place.holder, place.key);
  }
  return Buffer.from(JSON.stringify(body));
}
