import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { answer, startScriptedServer, type ScriptedServer } from '../../test/fakes/scripted-server.js';
import { countSkipped } from '../core/objects/base.js';
import { Secret } from '../core/secret.js';
import { listAll, type ForgeClient } from './forge-client.js';
import { createForgeClient } from './http/create-forge-client.js';
import { checkReply, WrongShape } from './http/reply.js';
import { isWrite, operationNames, operationOf, type OperationName, type PagedOperationName } from './operations.js';

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
}

const defOf = (schema: z.ZodType): Def => schema.def as unknown as Def;

/** Every place of an answer where a list may stand, as the keys that lead to it; `*` is an entry of a list. */
function listPlaces(schema: z.ZodType, place: readonly string[] = [], above: readonly z.ZodType[] = []): string[][] {
  if (above.includes(schema)) return [];
  const below = [...above, schema];
  const { type, shape, innerType, element, in: input, out } = defOf(schema);
  if (type === 'array') return [[...place], ...listPlaces(element as z.ZodType, [...place, '*'], below)];
  if (type === 'object')
    return Object.entries(shape ?? {}).flatMap(([key, field]) => listPlaces(field, [...place, key], below));
  if (type === 'pipe') {
    const side = defOf(input as z.ZodType).type === 'transform' ? out : input;
    return listPlaces(side as z.ZodType, place, below);
  }
  return innerType ? listPlaces(innerType, place, below) : [];
}

/** An answer that holds nothing but `value`, at this place. */
function answerWith([key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  return key === '*' ? [answerWith(rest, value)] : { [key]: answerWith(rest, value) };
}

function valueAt(read: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key === '*' ? '0' : key],
    read,
  );
}

const places = operationNames.flatMap((name) =>
  listPlaces(operationOf(name).result).map((place): [OperationName, string, string[]] => [
    name,
    place.join('.') || 'the whole',
    place,
  ]),
);

/** A null entry is an answer of these two: the file cannot be had. */
const NULL_IS_AN_ANSWER = new Set<OperationName>(['getFiles', 'getFilesByQuery']);

/** An answer with `value` at this place, and with the operation's own list. */
function answerOf(name: OperationName, place: readonly string[], value: unknown): never {
  const { list } = operationOf(name);
  const body = answerWith(place, value);
  return (list === undefined || place[0] === list ? body : { [list]: [], ...(body as object) }) as never;
}

describe('forge/lists-of-answers', () => {
  it('finds lists in every paged operation, and below other lists', () => {
    const paged = operationNames.filter((name) => operationOf(name).paged === true);

    expect(paged.filter((name) => !places.some(([of]) => of === name))).toEqual([]);
    expect(places.map(([name, text]) => `${name} ${text}`)).toEqual(
      expect.arrayContaining([
        'listTimeline the whole',
        'listBranches the whole',
        'getCombinedStatus statuses',
        'listIssues *.labels',
        'listIssues *.assignees',
        'getIssue assignees',
        'listMyJobs jobs.*.labels',
      ]),
    );
  });

  it.each(places)('reads null as the empty list: %s %s', (name, text, place) => {
    const read = (value: unknown): unknown =>
      checkReply(operationOf(name), answerOf(name, place, value), isWrite(name));

    expect(valueAt(read(null), place)).toEqual([]);
    expect(valueAt(read([]), place)).toEqual([]);
    const entries = countSkipped(() => read([null]));
    const isAnswer = NULL_IS_AN_ANSWER.has(name) && place.length === 0;
    expect([text, valueAt(entries.answer, place), entries.skipped]).toEqual([
      text,
      isAnswer ? [null] : [],
      isAnswer ? 0 : 1,
    ]);
  });

  it.each(places.filter(([, , place]) => place.length > 0 && place.at(-1) !== '*'))(
    'takes a missing list for unknown, not for empty: %s %s',
    (name, text, place) => {
      if (operationOf(name).list === text)
        expect(() => checkReply(operationOf(name), { total_count: 0 }, false)).toThrow(WrongShape);
      else {
        const body = answerOf(name, place.slice(0, -1), {});
        expect(valueAt(checkReply(operationOf(name), body, false), place)).toBeUndefined();
      }
    },
  );

  describe('by pages, from a server that tells no count and no link', () => {
    const paged = operationNames.filter((name) => operationOf(name).paged === true) as PagedOperationName[];
    let server: ScriptedServer;
    let client: ForgeClient;
    let pages: readonly unknown[] = [];
    let pageKey: string | undefined;
    const warned: object[] = [];
    beforeAll(async () => {
      server = await startScriptedServer((request, reply, socket) => {
        const number = Number(new URL(request.url, server.url).searchParams.get('page'));
        const list = number > pages.length ? pages.at(-1) : pages[number - 1];
        const body = pageKey === undefined ? list : { [pageKey]: list };
        answer(200, JSON.stringify(body))(request, reply, socket);
      });
      client = createForgeClient({
        baseUrl: `${server.url}/api/v1`,
        auth: { type: 'token', token: new Secret('t0ken') },
        ratePerS: 100_000,
        logger: { debug: () => undefined, warn: (facts, message) => void warned.push({ ...facts, message }) },
      });
    });
    afterAll(() => server.close());

    const read = async (name: PagedOperationName, all: readonly unknown[]): Promise<number> => {
      const operation = operationOf(name);
      [pages, pageKey] = [all, operation.list];
      const args = Object.fromEntries([...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, key = '']) => [key, '1']));
      return (await listAll(client, name, args as never)).length;
    };
    /** An entry with whatever this list tells its entries by. */
    const entryOf = (name: PagedOperationName, n: number): object => {
      const { result, list } = operationOf(name);
      const candidates = [{ id: n }, { sha: `${n}` }, { name: `${n}` }, { content: `${n}` }];
      const fitting = candidates.find(
        (one) => result.safeParse(list === undefined ? [one] : { [list]: [one] }).success,
      );
      return fitting as object;
    };

    it.each(paged)('%s ends at null, at an empty page, and at a page that brings nothing new', async (name) => {
      const entry = (n: number): object => entryOf(name, n);
      const first = Array.from({ length: 50 }, (_, n) => entry(n));

      expect(await read(name, [null])).toBe(0);
      expect(await read(name, [first, [entry(50)], null])).toBe(51);
      expect(await read(name, [first, [entry(50)], []])).toBe(51);
      // The last page again and again.
      expect(await read(name, [first, [entry(50)]])).toBe(51);
    });

    it('counts the null entries that it skips, by operation', async () => {
      warned.length = 0;

      expect(await read('listLabels', [[null, { id: 1, name: 'a' }, null], null])).toBe(1);

      expect(warned).toEqual([{ operation: 'listLabels', skipped: 2, message: 'forge.null-entries-skipped' }]);
    });
  });
});
