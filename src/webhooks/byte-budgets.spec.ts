import { aConfig } from '../../test/builders/a-config.js';
import { describe, expect, it } from '@jest/globals';
import type { HookBytes } from '../pipeline/inbox-store.port.js';
import { REQUEST_BYTES, UnverifiedBytes, type Receipt } from '../platform/unverified-bytes.js';
import { UndecidedBytes } from './byte-budgets.js';
import { given } from '../../test/builders/given.js';

const KB = 1024;

function aBudget(bytes: number, bytesPerAddress = bytes) {
  let now = 0;
  const told: string[] = [];
  const receipts = new Map<string, Receipt>();
  const budget = new UnverifiedBytes({ bytes, bytesPerAddress }, () => now);
  const begin = (name: string, address = '10.0.0.1', announced = 1000 * KB): Receipt | null => {
    const receipt = budget.begin(address, {
      announced,
      drop: () => {
        told.push(`dropped ${name}`);
        receipts.get(name)?.release();
      },
      pause: () => void told.push(`paused ${name}`),
      resume: () => void told.push(`resumed ${name}`),
    });
    if (receipt) receipts.set(name, receipt);
    return receipt;
  };
  const receive = (name: string, bytes: number): void => given(receipts.get(name)).received(bytes, bytes);
  return {
    budget,
    told,
    begin,
    receive,
    of: (name: string) => given(receipts.get(name)),
    pass: (ms: number) => void (now += ms),
  };
}

describe('webhooks/unverified-bytes', () => {
  it('counts what is received, not what is announced, and nothing once it is released', () => {
    const { budget, begin, receive, of } = aBudget(1000 * KB);

    begin('a', '10.0.0.1', 100_000 * KB);
    receive('a', 10 * KB);
    expect(budget.bytes).toBe(10 * KB + REQUEST_BYTES);
    of('a').release();
    of('a').release();

    expect(budget.bytes).toBe(0);
  });

  it('drops the slowest request when it is full, and goes on with the others', () => {
    const { told, begin, receive, pass } = aBudget(210 * KB);
    for (const name of ['fast', 'slow', 'fair']) begin(name);
    pass(1_000);
    receive('slow', 1 * KB);
    receive('fair', 60 * KB);
    receive('fast', 90 * KB);
    expect(told).toEqual([]);

    receive('fast', 40 * KB);

    expect(told).toEqual(['dropped slow']);
  });

  it('takes a small body that has just begun for no slow one', () => {
    const { told, begin, receive, pass } = aBudget(200 * KB);
    begin('flood');
    begin('flood too');
    pass(500);
    receive('flood', 90 * KB);
    receive('flood too', 50 * KB);
    begin('real', '10.0.0.1', 20 * KB);
    pass(10);

    receive('flood', 40 * KB);

    expect(told).toEqual(['dropped flood too']);
  });

  it.each([
    ['the room of all is full', { all: 200, each: 200 }, { slow: 70, fast: 80, other: 30 }],
    ['its own room is full', { all: 1000, each: 100 }, { other: 80, slow: 20, fast: 70 }],
  ])('drops of the sender that holds most, and leaves the others alone: %s', (_bound, { all, each }, parts) => {
    const { told, begin, receive, pass } = aBudget(all * KB, each * KB);
    begin('slow', '10.0.0.1');
    begin('fast', '10.0.0.1');
    begin('other', '10.0.0.2');
    pass(1_000);
    const [first, second, last] = Object.entries(parts).map(
      ([name, kb]) =>
        () =>
          receive(name, kb * KB),
    );
    given(first)();
    given(second)();
    expect(told).toEqual([]);

    given(last)();

    expect(told).toEqual(['dropped slow']);
  });

  it('stops reading where nothing can be dropped, and reads on when there is room', () => {
    const { told, begin, receive, of } = aBudget(100 * KB);
    begin('complete');
    receive('complete', 60 * KB);
    of('complete').complete();
    begin('open');

    receive('open', 40 * KB);
    expect(told).toEqual(['paused open']);
    of('complete').release();

    expect(told).toEqual(['paused open', 'resumed open']);
  });

  it('drops the last request of a sender where no room would become free', () => {
    const { told, begin, receive, pass } = aBudget(100 * KB);
    begin('a', '10.0.0.1');
    begin('b', '10.0.0.2');
    pass(1_000);
    receive('a', 30 * KB);
    receive('b', 50 * KB);

    receive('b', 10 * KB);

    expect(told).toEqual(['dropped b']);
  });

  it('pauses nobody for longer than bodies wait to be judged', () => {
    const { told, begin, receive, of } = aBudget(100 * KB);
    begin('complete');
    receive('complete', 10 * KB);
    of('complete').complete();
    begin('open');
    receive('open', 110 * KB);

    of('complete').release();
    expect(told).toEqual(['paused open', 'resumed open']);
    receive('open', 1 * KB);

    expect(told.at(-1)).toBe('dropped open');
  });

  it('takes no new request where nothing can be dropped for it', () => {
    const { budget, told, begin, receive, of } = aBudget(100 * KB);
    begin('complete');
    receive('complete', 85 * KB);
    of('complete').complete();
    const before = budget.bytes;

    expect(begin('late')).toBeNull();
    expect(budget.bytes).toBe(before);
    of('complete').release();

    expect(begin('later')).not.toBeNull();
    expect(told).toEqual([]);
  });

  it('drops an older request for a new one', () => {
    const { told, begin, receive, pass } = aBudget(100 * KB);
    begin('old');
    pass(1_000);
    receive('old', 90 * KB);

    expect(begin('new')).not.toBeNull();

    expect(told).toEqual(['dropped old']);
  });
});

function counting(limits = { bytes: 1000, bytesPerHook: 600 }) {
  let now = 0;
  let counts = 0;
  const answer: { bytes: HookBytes[]; tookMs: number; fault: Error | null } = { bytes: [], tookMs: 0, fault: null };
  const undecidedBytes = async (): Promise<HookBytes[]> => {
    counts += 1;
    now += answer.tookMs;
    if (answer.fault) throw answer.fault;
    return answer.bytes;
  };
  return {
    undecided: new UndecidedBytes({ undecidedBytes }, aConfig({ server: { undecided: limits } }), {
      monotonicMs: () => now,
    }),
    answer,
    count: () => counts,
    pass: (ms: number) => void (now += ms),
  };
}

describe('webhooks/undecided-bytes', () => {
  it('is full for a hook that has its share, and for the others not', async () => {
    const { undecided, answer } = counting();
    answer.bytes = [{ hook: 'acme', bytes: 600 }];

    await undecided.count();

    expect([undecided.isFull('acme'), undecided.isFull('globex')]).toEqual([true, false]);
  });

  it('is full for all when all is taken', async () => {
    const { undecided, answer } = counting();
    answer.bytes = [
      { hook: 'acme', bytes: 500 },
      { hook: 'globex', bytes: 500 },
    ];

    await undecided.count();

    expect(undecided.isFull('initech')).toBe(true);
  });

  it('adds what is stored between two counts, and is rid of it when it is decided', async () => {
    const { undecided, answer, pass } = counting();

    undecided.stored('acme', 599);
    expect(undecided.isFull('acme')).toBe(false);
    undecided.stored('acme', 1);
    expect(undecided.isFull('acme')).toBe(true);
    answer.bytes = [];
    pass(2_000);
    await undecided.count();

    expect(undecided.isFull('acme')).toBe(false);
  });

  it('goes on with what it knew while a count runs', async () => {
    const { undecided } = counting();
    undecided.stored('acme', 600);

    const counted = undecided.count();
    expect(undecided.isFull('acme')).toBe(true);
    await counted;

    expect(undecided.isFull('acme')).toBe(false);
  });

  it('goes on with what it knew when a count fails', async () => {
    const { undecided, answer } = counting();
    undecided.stored('acme', 600);
    answer.fault = new Error('away');

    await expect(undecided.count()).rejects.toThrow('away');

    expect(undecided.isFull('acme')).toBe(true);
  });

  it('counts more seldom where a count takes long', async () => {
    const { undecided, answer, count, pass } = counting();
    answer.tookMs = 200;
    answer.bytes = [{ hook: 'acme', bytes: 1 }];

    await undecided.count();
    pass(9_000);
    await undecided.count();
    expect(count()).toBe(1);
    pass(2_000);
    await undecided.count();

    expect(count()).toBe(2);
  });

  it('counts no more where nothing waits, until something is stored here', async () => {
    const { undecided, count, pass } = counting();

    for (const _ of [1, 2, 3]) {
      await undecided.count();
      pass(2_000);
    }
    expect(count()).toBe(1);
    undecided.stored('acme', 1);
    await undecided.count();

    expect(count()).toBe(2);
  });
});
