import type { Json } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';
import type { SeededRandom } from '../../src/core/seeded-random.js';
import type { Answer } from './answer.js';
import type { Leaf, Path } from './leaves.js';
import { isSetTime, isTime, leavesOf, showPath } from './leaves.js';

export type MutationKind = 'status' | 'length' | 'key' | 'leaf';

export interface Mutation {
  readonly what: string;
  readonly answer: Answer;
}

/** Everywhere one change of this kind can be made in a recorded answer; drawing one of them uniformly is up to the caller. */
export function placesFor(kind: MutationKind, answer: Answer): Path[] {
  if (kind === 'status') return [[]];
  if (answer.status >= 400 || typeof answer.body === 'string') return [];
  if (kind === 'leaf')
    return leavesOf(answer.body)
      .filter((leaf) => !leaf.closed)
      .map((leaf) => leaf.path);
  return containers(answer.body, [])
    .filter(([, value]) => Array.isArray(value) === (kind === 'length'))
    .flatMap(([path, value]) =>
      kind === 'length' ? [path] : Object.keys(value as object).map((key) => [...path, key]),
    );
}

function containers(value: Json, path: Path): [Path, Json][] {
  if (Array.isArray(value)) return [[path, value], ...value.flatMap((item, i) => containers(item, [...path, i]))];
  if (isJsonObject(value))
    return [[path, value], ...Object.entries(value).flatMap(([key, item]) => containers(item, [...path, key]))];
  return [];
}

/** A copy of the answer with one thing changed. */
export function mutate(kind: MutationKind, place: Path, answer: Answer, random: SeededRandom): Mutation {
  switch (kind) {
    case 'status': {
      const status = random.pick(
        [200, 201, 204, 301, 400, 403, 404, 409, 422, 500].filter((one) => one !== answer.status),
      );
      return { what: `status ${status}`, answer: { ...answer, status } };
    }
    case 'length':
      return changed(answer, place, 'length of', (array) => resized(array as Json[], random));
    case 'key':
      return changed(answer, place.slice(0, -1), `without ${String(place.at(-1))} in`, (object) =>
        without(object, String(place.at(-1))),
      );
    case 'leaf':
      return changed(answer, place, 'leaf', (leaf) => otherThan(leaf as Leaf, random));
  }
}

function changed(answer: Answer, place: Path, what: string, change: (value: Json) => Json): Mutation {
  return { what: `${what} ${showPath(place)}`, answer: { ...answer, body: replaceAt(answer.body, place, change) } };
}

function replaceAt(value: Json, place: Path, change: (value: Json) => Json): Json {
  const [first, ...rest] = place;
  if (first === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, i) => (i === first ? replaceAt(item, rest, change) : item));
  const object = value as Record<string, Json>;
  return { ...object, [first]: replaceAt(object[first] as Json, rest, change) };
}

function resized(array: Json[], random: SeededRandom): Json[] {
  return array.length > 0 && random.next() < 0.5 ? array.slice(0, -1) : [...array, array.at(-1) ?? 'more'];
}

function without(object: Json, key: string): Json {
  return Object.fromEntries(Object.entries(object as Record<string, Json>).filter(([name]) => name !== key));
}

/** A value that the rules tell from this one: of a time, set for unset and the other way round. */
function otherThan(leaf: Leaf, random: SeededRandom): Leaf {
  if (leaf === null) return random.pick(['x', 1, true]);
  if (typeof leaf === 'boolean') return !leaf;
  if (typeof leaf === 'number') return leaf + random.pick([-1, 1, 10]);
  if (typeof leaf === 'bigint') return leaf + 1n;
  return otherText(leaf, random);
}

function otherText(text: string, random: SeededRandom): string {
  if (isTime(text)) return isSetTime(text) ? '1970-01-01T00:00:00Z' : '2026-11-20T20:00:00Z';
  return random.pick([`${text}x`, text === '' ? 'x' : text.slice(0, -1)]);
}
