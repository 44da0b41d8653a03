import { beforeEach, describe, expect, it } from '@jest/globals';
import { anIntent, aRun } from '../../../test/builders/journal.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { AnyAction } from '../../actions/define-action.js';
import type { EventMatcher } from '../../actions/support/recovery.js';
import type { ForgeEvent } from '../../core/event.js';
import type { Cause } from '../../core/run.js';
import { EffectEchoDetector } from './detect-echoes.js';

const BOT = { id: '1', login: 'forgehand' };
const ANN = { id: '5', login: 'ann' };
const AT = new Date('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** An effect that was sent, by the time of its calls before the event. */
interface Sent {
  readonly id: string;
  readonly rule?: string;
  readonly action?: string;
  readonly state?: string;
  readonly org?: string;
  readonly sentMs: readonly number[];
  readonly cause?: Cause;
  /** Which calls raised the event; default all. */
  readonly echoOf?: readonly number[];
}

/** The bounds in time and place, on actions that tell all; what real actions tell: `detect-echoes.spec.ts`. */
describe('pipeline/decide/detect-echoes: bounds', () => {
  let sent: Sent[];
  let known: Map<string, { eventId: string; intentId: string; depth: number }>;
  let happened: string[];
  let orderKeys: string[];
  let keys: string[][];
  let matcher: EventMatcher;
  let targets: string[];
  let lines: Array<[object, string]>;
  let self: typeof BOT | null;

  beforeEach(() => {
    [sent, happened, orderKeys, keys, lines] = [[], [], [], [], []];
    known = new Map();
    targets = ['repository'];
    self = BOT;
    matcher = {} as EventMatcher;
  });

  function detector(): EffectEchoDetector {
    const actions = new Map<string, AnyAction>([
      ['silent', { name: 'silent', target: 'repository' } as AnyAction],
      ...targets.map((target, n): [string, AnyAction] => {
        const name = n === 0 ? 'make' : `make-${n}`;
        return [
          name,
          {
            name,
            target,
            naturalKey: 'name',
            operations: [name],
            keyOf: () => 'x',
            recover: { matcher },
          } as unknown as AnyAction,
        ];
      }),
    ]);
    const intentOf = ({ id, rule, action, state, org }: Sent) => ({
      ...anIntent({ id, rule: rule ?? 'fix', action: action ?? 'make', org: org ?? 'acme', runId: `run of ${id}` }),
      state: state ?? 'done',
    });
    const ofId = (id: string): Sent | undefined => sent.find((one) => one.id === id);
    const line = (facts: object, name: string): void => void lines.push([facts, name]);
    return new EffectEchoDetector(
      {
        echoOf: async (eventId: string) => known.get(eventId) ?? null,
        intentOf: async (id: string) => {
          const of = ofId(id);
          return of ? intentOf(of) : null;
        },
        sentWithOrderKey: async ({ orderKey, actions: asked }: { orderKey: string; actions: readonly string[] }) => {
          orderKeys.push(`${orderKey}: ${asked.join()}`);
          return sent.map((one) => ({
            intent: intentOf(one),
            attempts: one.sentMs.map((ms, n) => ({
              sentAt: new Date(AT.getTime() + ms),
              objectId: String(n),
              snapshot: { isEcho: one.echoOf?.includes(n) ?? true },
            })),
          }));
        },
        sentOfEffects: async (asked: readonly string[]) => {
          keys.push([...asked]);
          return sent.map((one) => ({ intent: intentOf(one), sentAt: new Date(AT.getTime() + (one.sentMs[0] ?? 0)) }));
        },
        noteEcho: async ({ eventId, intentId, depth }: { eventId: string; intentId: string; depth: number }) => {
          happened.push(`echo of ${intentId} at depth ${depth}`);
          if (!known.has(eventId)) known.set(eventId, { eventId, intentId, depth });
        },
        noteUndo: async ({ by, summary }: { by: string; summary: string }) => (
          happened.push(`undone: ${summary} (${by})`),
          true
        ),
      } as never,
      {
        move: async ({ intentId, to, result }: Record<string, unknown>) => {
          happened.push(`${intentId} ${to} ${JSON.stringify(result)}`);
          return true;
        },
        run: async (id: string) => {
          const of = ofId(id.replace('run of ', ''));
          return of ? ({ ...aRun({ cause: of.cause ?? { kind: 'event', eventId: 'before' } }) } as never) : null;
        },
        pause: async ({ org, rule, by }: Record<string, unknown>) =>
          void happened.push(`paused ${org} ${rule} by ${by}`),
      } as never,
      { actions },
      { self: () => self },
      new ManualClock(AT.toISOString()),
      { debug: line, info: line, warn: line, error: line } as never,
      {
        raise: (key, { code }, facts) => void happened.push(`raised ${key} ${code} ${JSON.stringify(facts)}`),
        resolve: () => undefined,
      },
    );
  }

  const event = (over: Partial<ForgeEvent> = {}): ForgeEvent =>
    anEvent({ id: 'seen', kind: 'issue.opened', factAt: AT, storedAt: AT, actor: BOT, ...over });
  const look = (over: Partial<ForgeEvent> = {}) => detector().look(event(over));

  describe('an effect that raised the event', () => {
    beforeEach(() => {
      matcher = {
        echoes: ['issue.opened'],
        isEcho: (_: unknown, { snapshot }: { snapshot: { isEcho: boolean } }) => snapshot.isEcho,
      } as never;
    });

    it.each<[string, readonly number[], boolean]>([
      ['at the same time', [0], true],
      ['two minutes after it, by its own clock', [2 * MINUTE], true],
      ['more than two minutes after it', [2 * MINUTE + 1], false],
      ['a day before it', [-DAY], true],
      ['more than a day before it', [-DAY - 1], false],
      ['again within the day', [-2 * DAY, -DAY], true],
      ['at first in time', [MINUTE, 9 * MINUTE], true],
    ])('was sent %s', async (_what, sentMs, expected) => {
      sent = [{ id: 'i', sentMs }];

      expect(await look()).toEqual(
        expected ? { depth: 1, holdReason: null, rule: 'fix' } : { depth: 0, holdReason: null },
      );
    });

    it('was sent to this repository, by this organization, and raises such events', async () => {
      sent = [{ id: 'i', sentMs: [0], org: 'umbra' }];
      expect(await look()).toMatchObject({ depth: 0 });
      expect(orderKeys).toEqual([expect.stringMatching(/7: make$/)]);

      sent = [{ id: 'i', sentMs: [0], action: 'another' }];
      expect(await look()).toMatchObject({ depth: 0 });

      sent = [{ id: 'i', sentMs: [0] }];
      expect(await look({ kind: 'issue.closed' })).toMatchObject({ depth: 0 });
      expect(await look({ actor: ANN })).toMatchObject({ depth: 0 });
      expect(await look({ actor: null })).toMatchObject({ depth: 0 });
      self = null;
      expect(await look()).toMatchObject({ depth: 0 });
    });

    it('is one of whose calls one raised it', async () => {
      sent = [{ id: 'i', sentMs: [-1, 0], echoOf: [1] }];
      expect(await look()).toMatchObject({ depth: 1 });
      known.clear();
      sent = [{ id: 'i', sentMs: [-1, 0], echoOf: [] }];
      expect(await look()).toMatchObject({ depth: 0 });
    });

    it('is asked for once for all actions of one place, wherever that is', async () => {
      targets = ['repository', 'account', 'organization', 'repository', 'account'];
      await look();

      expect(orderKeys).toEqual([
        expect.stringMatching(/7: make,make-3$/),
        expect.stringMatching(/forgehand: make-1,make-4$/),
        expect.stringMatching(/acme: make-2$/),
      ]);
      expect(new Set(orderKeys).size).toBe(3);

      orderKeys = [];
      await look({ repo: null });
      expect(orderKeys).toEqual([expect.stringMatching(/make-1,make-4$/), expect.stringMatching(/make-2$/)]);
    });

    it('is the newest of the nearest, where several fit', async () => {
      sent = [
        { id: 'near', rule: 'near', sentMs: [-1_000] },
        { id: 'nearer', rule: 'nearer', sentMs: [-500] },
        { id: 'far', rule: 'far', sentMs: [-MINUTE, 5_501] },
      ];
      expect(await look()).toMatchObject({ rule: 'far' });
      known.clear();

      sent = sent.slice(0, 2);
      expect(await look()).toMatchObject({ rule: 'nearer' });
      known.clear();

      // Five seconds after the event is as near as can be told; a little more is not.
      sent = [
        { id: 'at once', rule: 'at once', sentMs: [0] },
        { id: 'after', rule: 'after', sentMs: [5_000] },
      ];
      expect(await look()).toMatchObject({ rule: 'after' });
      known.clear();
      sent = [
        { id: 'at once', rule: 'at once', sentMs: [0] },
        { id: 'after', rule: 'after', sentMs: [5_001] },
      ];
      expect(await look()).toMatchObject({ rule: 'at once' });
    });

    it('stands one deeper than what its run was an answer to, and the third is held', async () => {
      const depthOf = async (before: number | null, cause?: Cause): Promise<unknown> => {
        known = new Map(before === null ? [] : [['before', { eventId: 'before', intentId: 'i0', depth: before }]]);
        sent = [{ id: 'i', sentMs: [0], ...(cause ? { cause } : {}) }];
        const { depth, holdReason: held } = await look();
        return [depth, held?.code ?? null];
      };

      expect(await depthOf(null)).toEqual([1, null]);
      expect(await depthOf(1)).toEqual([2, null]);
      expect(await depthOf(2)).toEqual([3, 'run.echo']);
      expect(await depthOf(2, { kind: 'tick', tickId: 't', subject: '', at: '' })).toEqual([1, null]);
    });
  });

  it('opens the breaker for the rules of the chain, from the first that takes part', async () => {
    sent = [
      { id: 'i1', rule: 'led', sentMs: [0], cause: { kind: 'tick', tickId: 't', subject: '', at: '' } },
      { id: 'i2', rule: 'b', sentMs: [0], cause: { kind: 'event', eventId: 'first' } },
      { id: 'i3', rule: 'a', sentMs: [0], cause: { kind: 'event', eventId: 'second' } },
    ];
    known = new Map([
      ['first', { eventId: 'first', intentId: 'i1', depth: 1 }],
      ['second', { eventId: 'second', intentId: 'i2', depth: 2 }],
      ['seen', { eventId: 'seen', intentId: 'i3', depth: 3 }],
    ]);

    expect(await look({ actor: ANN })).toMatchObject({ depth: 3, chain: ['led', 'b', 'a'] });
    await detector().openBreaker(event(), ['b']);

    expect(happened).toEqual([
      'paused acme b by breaker: effects in a chain',
      'paused acme a by breaker: effects in a chain',
      'raised breaker.chain/acme/a+b breaker.chain {"eventId":"seen"}',
    ]);
    expect(lines).toEqual([[{ eventId: 'seen', org: 'acme', rules: ['b', 'a'] }, 'breaker.chain-opened']]);

    happened = [];
    await detector().openBreaker(event(), ['stranger'], ['x']);
    expect(happened.slice(0, 2)).toEqual([
      'paused acme x by breaker: effects in a chain',
      'paused acme stranger by breaker: effects in a chain',
    ]);
  });

  it('follows a chain without end for thirty effects', async () => {
    sent = [{ id: 'i', rule: 'round', sentMs: [0], cause: { kind: 'event', eventId: 'seen' } }];
    known = new Map([['seen', { eventId: 'seen', intentId: 'i', depth: 3 }]]);

    const { chain } = await look({ actor: ANN });

    expect(chain).toHaveLength(30);
  });

  describe('an object that an effect may have made', () => {
    const settledBy = async (
      over: Partial<EventMatcher>,
      state: string,
      by: Partial<ForgeEvent> = {},
    ): Promise<string[]> => {
      [happened, known] = [[], new Map()];
      matcher = { shownBy: () => [{}], ...over } as never;
      sent = [{ id: 'i', sentMs: [0], state }];
      await look(by);
      return happened;
    };
    const SETTLED = 'i done {"detail":{},"event":"seen"}';
    const ECHO = 'echo of i at depth 1';

    it('settles what is not known or waits, by our own act or where anybody tells it', async () => {
      expect(await settledBy({}, 'unknown')).toEqual([SETTLED, ECHO]);
      expect(lines.at(-1)).toEqual([
        { intentId: 'i', eventId: 'seen', rule: 'fix', org: 'acme' },
        'unknown.settled-by-event',
      ]);
      expect(await settledBy({}, 'waiting')).toEqual([SETTLED, ECHO]);
      expect(await settledBy({}, 'done')).toEqual([ECHO]);
      expect(await settledBy({}, 'unknown', { actor: ANN })).toEqual([]);
      expect(await settledBy({ byAnybody: true }, 'unknown', { actor: ANN })).toEqual([SETTLED]);
      expect(await settledBy({ byAnybody: true, fits: () => false }, 'unknown', { actor: ANN })).toEqual([]);
      expect(await settledBy({ echoes: ['issue.opened'] }, 'done')).toEqual([]);
    });

    it.each<[number, boolean]>([
      [2 * MINUTE, true],
      [2 * MINUTE + 1, false],
      [-DAY, true],
      [-DAY - 1, false],
    ])('is the echo of a call %d ms from it: %s', async (sentMs, expected) => {
      matcher = { shownBy: () => [{}] } as never;
      sent = [{ id: 'i', sentMs: [sentMs] }];
      await look();

      expect(happened).toEqual(expected ? [ECHO] : []);
    });

    it('is not looked for where the event shows none, or in another place', async () => {
      matcher = { shownBy: () => [], undoneBy: () => [] } as never;
      await look();
      await look({ actor: ANN });
      matcher = { shownBy: () => [{}] } as never;
      await look({ repo: null });

      expect(keys).toEqual([]);
    });
  });

  describe('an undo', () => {
    const undone = async (
      sentMs: number,
      by: Partial<ForgeEvent> = {},
      over: Partial<EventMatcher> = {},
    ): Promise<string[]> => {
      happened = [];
      matcher = { undoneBy: () => [{}], ...over } as never;
      sent = [{ id: 'i', sentMs: [sentMs] }];
      await look({ actor: ANN, ...by });
      return happened;
    };
    const UNDONE = 'undone: ann undid it (issue.opened) (ann)';

    it('comes after the call, and from somebody else', async () => {
      expect(await undone(-1)).toEqual([UNDONE]);
      expect(lines).toEqual([[{ eventId: 'seen', intentId: 'i', org: 'acme', by: 'ann' }, 'effect.undone']]);
      expect(await undone(0)).toEqual([]);
      expect(await undone(-1, { actor: BOT })).toEqual([]);
      expect(await undone(-1, { actor: null })).toEqual(['undone: somebody undid it (issue.opened) (somebody)']);
      expect(await undone(-1, {}, { isUndo: () => false })).toEqual([]);
      expect(await undone(-1, {}, { isUndo: () => true })).toEqual([UNDONE]);
    });

    it('is given the slack of its action where the event does not tell when it was', async () => {
      expect(await undone(-1, { factAt: null })).toEqual([UNDONE]);
      expect(await undone(-1_000, { factAt: null }, { slackMs: 1_000 })).toEqual([]);
      expect(await undone(-1_001, { factAt: null }, { slackMs: 1_000 })).toEqual([UNDONE]);
      expect(await undone(-1, {}, { slackMs: 1_000 })).toEqual([UNDONE]);
    });
  });

  it('says which effects an event may tell of, or that it must be looked at: an act of ours', () => {
    matcher = { shownBy: () => [{}], undoneBy: () => [{}, {}] } as never;
    targets = ['repository', 'organization'];

    expect(detector().effectsToldBy(event())).toBeNull();
    const keysOf = detector().effectsToldBy(event({ actor: ANN }));
    expect(keysOf).toHaveLength(2);
    expect(new Set(keysOf).size).toBe(2);
    expect(detector().effectsToldBy(event({ actor: ANN, repo: null }))).toEqual([keysOf?.[1]]);
    matcher = {} as EventMatcher;
    expect(detector().effectsToldBy(event({ actor: ANN }))).toEqual([]);
  });
});
