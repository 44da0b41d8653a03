import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { currentCaller } from '../../src/core/caller.js';
import type { WakeQueue } from '../../src/pipeline/wake-queue.port.js';
import { until } from '../services/until.js';

/** A handler that holds every id until it is let go. */
class Gate {
  readonly entered: string[] = [];
  private readonly doors = new Map<string, () => void>();
  private isOpen = false;

  readonly handle = async (id: string): Promise<void> => {
    this.entered.push(id);
    if (!this.isOpen) await new Promise<void>((resolve) => this.doors.set(id, resolve));
  };

  letGo(id: string): void {
    this.doors.get(id)?.();
  }

  open(): void {
    this.isOpen = true;
    for (const door of this.doors.values()) door();
  }
}

/** What every queue does, on whatever it stands. */
export function wakeQueueSuite(make: () => Promise<WakeQueue>): void {
  let queue: WakeQueue;
  let gate: Gate;

  beforeEach(async () => {
    queue = await make();
    gate = new Gate();
    await until(() => queue.healthy());
  });

  afterEach(async () => {
    gate.open();
    await queue.close(1_000);
  });

  it('wakes the consumer of a topic with the ids announced there', async () => {
    const heard: string[] = [];
    await queue.consume('arrival', 2, async (id) => void heard.push(`arrival ${id}`));
    await queue.consume('intent', 2, async (id) => void heard.push(`intent ${id}`));

    await queue.announce('arrival', ['a', 'b']);
    await queue.announce('intent', ['i']);
    await queue.announce('event', ['nobody listens']);

    await until(() => heard.length === 3);
    expect(heard.sort()).toEqual(['arrival a', 'arrival b', 'intent i']);
  });

  it('keeps what was announced before the consumer came', async () => {
    await queue.announce('event', ['early']);

    await queue.consume('event', 1, gate.handle);

    await until(() => gate.entered.length === 1);
    expect(gate.entered).toEqual(['early']);
  });

  it('runs no more than the concurrency at once, and all in the end', async () => {
    let running = 0;
    let most = 0;
    let ended = 0;
    const ids = Array.from({ length: 60 }, (_, n) => `id-${n}`);
    await queue.consume('intent', 3, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      ended++;
    });

    await queue.announce('intent', ids);

    await until(() => ended === ids.length);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('does not keep one organization waiting behind the flood of another', async () => {
    // As handlers do, it takes a moment: one that takes none is through the flood before a slow server hands out the next jobs.
    await queue.consume('event', 1, async (id) => {
      await gate.handle(id);
      await sleep(2);
    });
    await queue.announce('event', ['first'], 'acme');
    await until(() => gate.entered.length === 1);

    await queue.announce(
      'event',
      Array.from({ length: 300 }, (_, n) => `flood-${n}`),
      'acme',
    );
    await queue.announce('event', ['quiet'], 'beta');
    gate.open();

    await until(() => gate.entered.length === 302);
    expect(gate.entered.indexOf('quiet')).toBeLessThan(60);
  });

  it('keeps the last place of a topic for another organization than all the rest', async () => {
    const floods = Array.from({ length: 40 }, (_, n) => `flood-${n}`);
    await queue.consume('event', 3, gate.handle);

    await queue.announce('event', floods, 'acme');
    await until(() => gate.entered.length === 2);
    await queue.announce('event', ['quiet'], 'beta');
    await until(() => gate.entered.length === 3);

    expect(gate.entered).toEqual(['flood-0', 'flood-1', 'quiet']);
    gate.open();
    await until(() => gate.entered.length === 41);
    expect(gate.entered.filter((id) => id !== 'quiet')).toEqual(floods);
  });

  it('handles each id on behalf of its organization', async () => {
    const callers: Array<string | null | undefined> = [];
    await queue.consume('event', 1, async () => void callers.push(currentCaller()?.org));

    for (const org of ['acme', 'beta', undefined]) await queue.announce('event', [`of ${org}`], org);

    await until(() => callers.length === 3);
    expect(new Set(callers)).toEqual(new Set(['acme', 'beta', null]));
  });

  it('handles an id once that is announced again while it waits', async () => {
    await queue.consume('intent', 1, gate.handle);
    await queue.announce('intent', ['first']);
    await until(() => gate.entered.length === 1);

    await queue.announce('intent', ['second', 'second']);
    await queue.announce('intent', ['second', 'third']);
    gate.open();

    await until(() => gate.entered.includes('third'));
    expect(gate.entered.filter((id) => id === 'second')).toHaveLength(1);
  });

  it('handles an id again that is announced while it runs, after its end', async () => {
    await queue.consume('intent', 4, gate.handle);
    await queue.announce('intent', ['a']);
    await until(() => gate.entered.length === 1);

    await queue.announce('intent', ['a']);
    await queue.announce('intent', ['b']);
    await until(() => gate.entered.includes('b'));
    expect(gate.entered).toEqual(['a', 'b']);
    gate.letGo('a');

    await until(() => gate.entered.length === 3);
    expect(gate.entered.at(-1)).toBe('a');
  });

  it('handles an id again that is announced after its end', async () => {
    gate.open();
    await queue.consume('intent', 1, gate.handle);

    await queue.announce('intent', ['a']);
    await until(() => gate.entered.length === 1);
    // The end of the first may still be on its way into the books.
    await until(async () => {
      await queue.announce('intent', ['a']);
      return gate.entered.length >= 2;
    });

    expect(gate.entered.slice(0, 2)).toEqual(['a', 'a']);
  });

  it('goes on after a handler that throws', async () => {
    const heard: string[] = [];
    await queue.consume('intent', 1, async (id) => {
      heard.push(id);
      if (id === 'bad') throw new Error('as asked');
    });

    await queue.announce('intent', ['bad', 'good']);

    await until(() => heard.includes('good'));
    expect(heard.sort()).toEqual(['bad', 'good']);
  });

  it('has one consumer for a topic', async () => {
    await queue.consume('intent', 1, gate.handle);

    await expect(queue.consume('intent', 1, gate.handle)).rejects.toThrow(/has a consumer/);
  });

  it('waits for what runs when it is closed, and starts nothing more', async () => {
    let ended = false;
    await queue.consume('intent', 1, async (id) => {
      await gate.handle(id);
      ended = true;
    });
    await queue.announce('intent', ['running', 'waiting']);
    await until(() => gate.entered.length === 1);

    const closing = queue.close(60_000);
    gate.letGo('running');
    await closing;

    expect([ended, gate.entered]).toEqual([true, ['running']]);
  });

  it('does not wait longer than it was given', async () => {
    await queue.consume('intent', 1, gate.handle);
    await queue.announce('intent', ['never ends']);
    await until(() => gate.entered.length === 1);

    await queue.close(1);

    expect(await queue.healthy()).toBe(false);
  });

  it('takes announcements after the end without a word', async () => {
    await queue.close(1);

    await expect(queue.announce('intent', ['late'])).resolves.toBeUndefined();
  });
}
