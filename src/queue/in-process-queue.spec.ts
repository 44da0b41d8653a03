import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import { InProcessQueue } from './in-process-queue.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('queue/in-process-queue', () => {
  it('keeps the last place of a topic for another organization than all the rest', async () => {
    const queue = new InProcessQueue(silentLogger);
    const begun: string[] = [];
    const ends: Array<() => void> = [];
    await queue.consume('event', 3, (id) => {
      begun.push(id);
      return new Promise<void>((resolve) => ends.push(resolve));
    });

    await queue.announce('event', ['flood-1', 'flood-2', 'flood-3', 'flood-4'], 'acme');
    await nextTurn();
    expect(begun).toEqual(['flood-1', 'flood-2']);
    await queue.announce('event', ['quiet'], 'beta');
    await nextTurn();
    expect(begun).toEqual(['flood-1', 'flood-2', 'quiet']);

    for (let n = 0; n < 5; n += 1) {
      ends.shift()?.();
      await nextTurn();
      await nextTurn();
    }
    expect(begun).toEqual(['flood-1', 'flood-2', 'quiet', 'flood-3', 'flood-4']);
    await queue.close(0);
  });
});
