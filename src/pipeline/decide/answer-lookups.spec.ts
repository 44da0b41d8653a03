import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../../core/errors.js';
import { because } from '../../../test/builders/reasons.js';
import type { Evaluation, LookupAnswers, LookupRequest } from '../../rules/language/revision.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { answerLookups, askKey } from './answer-lookups.js';
import type { LookupAnswer } from '../../actions/lookups/lookup-reader.port.js';

const clock = new ManualClock();
const scope = { forge: 'main', org: 'acme', repo: null };
const decided: Evaluation = {
  kind: 'decided',
  report: { rule: 'r', verdict: 'fired', reason: because(''), trace: null },
  steps: [],
};
const asks = (as: string): Evaluation => ({
  kind: 'needs-lookup',
  request: { as, use: 'branch.get', params: { branch: as }, onMissing: 'none' },
});

/** Asks for each name in turn, then decides. */
const askingFor =
  (...names: string[]) =>
  (answers: LookupAnswers): Evaluation => {
    const open = names.find((name) => !Object.hasOwn(answers, name));
    return open === undefined ? decided : asks(open);
  };

describe('pipeline/decide/answer-lookups', () => {
  it('reads one by one what is asked for, and keeps the answers', async () => {
    const read: string[] = [];
    const answers: Record<string, LookupAnswer> = { a: { value: [1] }, b: { missing: true }, c: { failed: 'no' } };
    const reader = { read: async ({ as }: { as: string }) => (read.push(as), answers[as] as LookupAnswer) };

    const { lookups } = await answerLookups(askingFor('a', 'b', 'c'), { reader, scope, clock, since: clock.now() });

    expect(read).toEqual(['a', 'b', 'c']);
    expect(lookups).toMatchObject(answers);
    expect(lookups['a']).toMatchObject({ asked: askKey({ use: 'branch.get', params: { branch: 'a' } }) });
  });

  it('reads nothing for a decision that asks for nothing', async () => {
    const reader = { read: async () => Promise.reject(new Error('asked')) };

    expect((await answerLookups(() => decided, { reader, scope, clock, since: clock.now() })).lookups).toEqual({});
  });

  it('lets the decision wait while the forge cannot be asked, for a day', async () => {
    const away = new ForgeError('not-sent', 'connection refused', { operation: 'getBranch' });
    const reader = { read: async () => Promise.reject(away) };
    const aDayAgo = new Date(clock.now().getTime() - 24 * 3_600_000);

    await expect(answerLookups(askingFor('a'), { reader, scope, clock, since: clock.now() })).rejects.toBe(away);
    expect((await answerLookups(askingFor('a'), { reader, scope, clock, since: aDayAgo })).lookups).toEqual({
      a: { failed: expect.stringContaining('connection refused'), asked: expect.any(String) },
    });
  });

  it('lets through what is no failure of the forge, however old the cause is', async () => {
    const reader = { read: async () => Promise.reject(new TypeError('our own fault')) };

    await expect(answerLookups(askingFor('a'), { reader, scope, clock, since: new Date(0) })).rejects.toThrow(
      'our own fault',
    );
  });

  describe('for_each', () => {
    const each = (onMissing: 'none' | 'fail', ...branches: string[]): Parameters<typeof answerLookups>[0] => {
      return (answers) =>
        Object.hasOwn(answers, 'heads')
          ? decided
          : {
              kind: 'needs-lookup',
              request: {
                as: 'heads',
                use: 'branch.get',
                params: {},
                onMissing,
                each: branches.map((branch) => ({ branch })),
              },
            };
    };
    const read = async (onMissing: 'none' | 'fail', known: Record<string, LookupAnswer>, ...branches: string[]) => {
      const asked: unknown[] = [];
      const reader = {
        read: async ({ params }: LookupRequest) => (
          asked.push(params['branch']),
          known[String(params['branch'])] ?? { missing: true as const }
        ),
      };
      const { lookups } = await answerLookups(each(onMissing, ...branches), {
        reader,
        scope,
        clock,
        since: clock.now(),
      });
      return { asked, heads: lookups['heads'] };
    };

    it('makes one read per item and keeps their answers as one list', async () => {
      const cachedAt = '2026-11-20T12:00:00.000Z';

      expect(await read('none', { a: { value: 1 }, b: { value: 2, cachedAt } }, 'b', 'x', 'a')).toEqual({
        asked: ['b', 'x', 'a'],
        heads: { value: [2, null, 1], cachedAt, asked: expect.any(String) },
      });
      expect(await read('none', {})).toStrictEqual({ asked: [], heads: { value: [], asked: expect.any(String) } });
    });

    it('is as old as the oldest of them', async () => {
      const [older, newer] = ['2026-11-20T11:00:00.000Z', '2026-11-20T12:00:00.000Z'];

      expect(
        await read(
          'none',
          { a: { value: 1, cachedAt: newer }, b: { value: 2, cachedAt: older }, c: { value: 3 } },
          'a',
          'b',
          'c',
        ),
      ).toMatchObject({
        heads: { cachedAt: older },
      });
    });

    it('stops at the first item that cannot be read, and names it', async () => {
      expect(await read('fail', { a: { value: 1 } }, 'a', 'x', 'y')).toEqual({
        asked: ['a', 'x'],
        heads: { failed: 'item 2 of 3 found nothing (on_missing: none makes it null)', asked: expect.any(String) },
      });
      expect(await read('none', { x: { failed: 'the forge said 500' } }, 'x', 'a')).toMatchObject({
        asked: ['x'],
        heads: { failed: 'item 1 of 2: the forge said 500' },
      });
    });
  });

  it('takes a name such as __proto__ for a name', async () => {
    const { lookups } = await answerLookups(askingFor('__proto__'), {
      reader: { read: async () => ({ value: 1 }) },
      scope,
      clock,
      since: clock.now(),
    });

    expect(Object.keys(lookups)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['value']).toBeUndefined();
  });

  it('answers a hundred questions of one evaluation', async () => {
    const names = Array.from({ length: 100 }, (_, n) => `l${n}`);

    const { lookups } = await answerLookups(askingFor(...names), {
      reader: { read: async () => ({ value: 1 }) },
      scope,
      clock,
      since: clock.now(),
    });

    expect(Object.keys(lookups)).toHaveLength(100);
  });

  it('ends an evaluation that never decides', async () => {
    let n = 0;
    const endless = (): Evaluation => asks(`l${(n += 1)}`);

    await expect(
      answerLookups(endless, { reader: { read: async () => ({ missing: true }) }, scope, clock, since: clock.now() }),
    ).rejects.toThrow('more than 100 lookups');
  });
});
