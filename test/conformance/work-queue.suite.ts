import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { currentCaller } from '../../src/core/caller.js';
import type { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import { until } from '../services/until.js';

/** Turns that last until they are ended. */
class Turns {
  readonly begun: string[] = [];
  private readonly ends: Array<{ org: string; end: (isLeft: boolean) => void }> = [];
  private isOpen = false;

  readonly turn = async (org: string): Promise<boolean> => {
    this.begun.push(org);
    if (this.isOpen) return false;
    return new Promise<boolean>((end) => this.ends.push({ org, end }));
  };

  /** Ends the oldest turn of the line. */
  end(org: string, isLeft = false): void {
    const at = this.ends.findIndex((one) => one.org === org);
    this.ends.splice(at, 1)[0]?.end(isLeft);
  }

  open(): void {
    this.isOpen = true;
    for (const { end } of this.ends.splice(0)) end(false);
  }
}

/**
 * What every queue does, on whatever it stands.
 * @param keepsRings whether a ring is kept while nobody serves; else the poll finds the work
 */
export function workQueueSuite(make: () => Promise<WorkQueue>, { keepsRings = true } = {}): void {
  let queue: WorkQueue;
  let turns: Turns;

  beforeEach(async () => {
    queue = await make();
    turns = new Turns();
    await until(() => queue.healthy());
  });

  afterEach(async () => {
    turns.open();
    await queue.close(1_000);
  });

  it('gives a line of the topic that was rung a turn', async () => {
    const heard: string[] = [];
    await queue.serve('arrivals', 2, async (org) => heard.push(`arrivals of ${org}`) < 0);
    await queue.serve('intents', 2, async (org) => heard.push(`intents of ${org}`) < 0);

    queue.ring('arrivals', 'acme');
    queue.ring('intents', 'beta');
    queue.ring('events', 'nobody serves');

    await until(() => heard.length === 2);
    expect(heard.sort()).toEqual(['arrivals of acme', 'intents of beta']);
  });

  (keepsRings ? it : it.skip)('keeps a ring that came before somebody serves', async () => {
    queue.ring('events', 'acme');

    await queue.serve('events', 1, turns.turn);

    await until(() => turns.begun.length === 1);
  });

  it('gives one turn for many rings of one breath, and none beside it: one more after it', async () => {
    await queue.serve('intents', 4, turns.turn);
    for (let n = 0; n < 9; n += 1) queue.ring('intents', 'acme');
    await until(() => turns.begun.length === 1);

    for (let n = 0; n < 9; n += 1) queue.ring('intents', 'acme');
    queue.ring('intents', 'beta');
    await until(() => turns.begun.includes('beta'));
    expect(turns.begun).toEqual(['acme', 'beta']);
    turns.end('acme');

    await until(() => turns.begun.length === 3);
    turns.end('acme');
    queue.ring('intents', 'gamma');
    await until(() => turns.begun.includes('gamma'));
    expect(turns.begun).toEqual(['acme', 'beta', 'acme', 'gamma']);
  });

  it('gives lines their turns one after another, and what left work behind goes to the tail', async () => {
    await queue.serve('intents', 1, turns.turn);
    for (const org of ['acme', 'beta', 'gamma']) queue.ring('intents', org);
    await until(() => turns.begun.length === 1);

    for (const [org, begun] of [
      ['acme', 2],
      ['beta', 3],
      ['gamma', 4],
    ] as const) {
      turns.end(org, org === 'acme');
      await until(() => turns.begun.length === begun);
    }

    expect(turns.begun).toEqual(['acme', 'beta', 'gamma', 'acme']);
  });

  it('gives no more turns at once than were asked for, and all in the end', async () => {
    let [running, most, ended] = [0, 0, 0];
    await queue.serve('intents', 3, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      ended++;
      return false;
    });

    for (let n = 0; n < 60; n += 1) queue.ring('intents', `org-${n}`);

    await until(() => ended === 60);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('gives each turn on behalf of its organization', async () => {
    const callers: Array<string | null | undefined> = [];
    await queue.serve('events', 1, async () => callers.push(currentCaller()?.org) < 0);

    for (const org of ['acme', 'beta', '']) queue.ring('events', org);

    await until(() => callers.length === 3);
    expect(new Set(callers)).toEqual(new Set(['acme', 'beta', null]));
  });

  it('goes on after a turn that throws', async () => {
    const heard: string[] = [];
    await queue.serve('intents', 1, async (org) => {
      heard.push(org);
      if (org === 'bad') throw new Error('as asked');
      return false;
    });

    queue.ring('intents', 'bad');
    queue.ring('intents', 'good');

    await until(() => heard.includes('good'));
    expect(heard.sort()).toEqual(['bad', 'good']);
  });

  it('has one server of a topic', async () => {
    await queue.serve('intents', 1, turns.turn);

    await expect(queue.serve('intents', 1, turns.turn)).rejects.toThrow(/is served already/);
  });

  it('waits for the turns that run when it is closed, and gives no more', async () => {
    let ended = false;
    await queue.serve('intents', 1, async (org) => {
      await turns.turn(org);
      ended = true;
      return true;
    });
    queue.ring('intents', 'running');
    queue.ring('intents', 'waiting');
    await until(() => turns.begun.length === 1);

    const closing = queue.close(60_000);
    turns.end('running');
    await closing;

    expect([ended, turns.begun]).toEqual([true, ['running']]);
  });

  it('does not wait longer than it was given', async () => {
    await queue.serve('intents', 1, turns.turn);
    queue.ring('intents', 'never ends');
    await until(() => turns.begun.length === 1);

    await queue.close(1);

    expect(await queue.healthy()).toBe(false);
  });

  it('takes rings after the end without a word', async () => {
    await queue.close(1);

    expect(() => queue.ring('intents', 'late')).not.toThrow();
  });
}
