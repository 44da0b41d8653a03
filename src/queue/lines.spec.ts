import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/services/until.js';
import { silentLogger } from '../core/logger.js';
import { Lines, type Bell } from './lines.js';

describe('queue/lines', () => {
  let rung: string[];
  let helped: string[];
  let begun: string[];
  let isHeard: boolean;
  let lines: Lines;
  /** Of the turns that run, by organization. */
  let ends: Map<string, (isLeft: boolean) => void>;

  const bell: Bell = {
    ring: async (_topic, org) => (rung.push(org), isHeard),
    help: (_topic, org) => void helped.push(org),
    listen: () => undefined,
    healthy: async () => true,
    close: async () => undefined,
  };

  beforeEach(async () => {
    [rung, helped, begun, isHeard, ends] = [[], [], [], true, new Map()];
    lines = new Lines(silentLogger, bell);
    await lines.serve('intents', 2, async (org, help) => {
      begun.push(org);
      help();
      return new Promise((end) => ends.set(org, end));
    });
  });

  const end = (org: string, isLeft = false): void => ends.get(org)?.(isLeft);

  it('gives a line its turn here where no other process hears the ring, and else not', async () => {
    lines.ring('intents', 'heard');
    isHeard = false;
    lines.ring('intents', 'unheard');

    await until(() => begun.length > 0);

    expect([rung, begun]).toEqual([['heard', 'unheard'], ['unheard']]);
  });

  it('gives the poll its turns past the bell', async () => {
    lines.ringHere('intents', 'acme');

    await until(() => begun.length > 0);

    expect([rung, begun, helped]).toEqual([[], ['acme'], ['acme']]);
  });

  it('tells a job of the end of its turn, and one whose line has its turn here already at once', async () => {
    const turn = lines.turn('intents', 'acme');
    await until(() => begun.length === 1);

    expect(await lines.turn('intents', 'acme')).toBe(false);
    end('acme');

    // The second one may have told of more.
    expect(await turn).toBe(true);
  });

  it('rings for a line that left work behind, at the tail', async () => {
    lines.ringHere('intents', 'acme');
    await until(() => begun.length === 1);

    end('acme', true);

    await until(() => rung.length === 1);
    expect([rung, begun]).toEqual([['acme'], ['acme']]);
  });

  it('looks at a line behind its turn, but not at one that has its turn', async () => {
    const asked: string[] = [];
    await lines.serve(
      'events',
      1,
      async (org) => new Promise((ended) => ends.set(org, ended)),
      async (org) => asked.push(org) > 0,
    );
    lines.ringHere('events', 'running');
    await until(() => ends.has('running'));

    await lines.look('events', 'running');
    await lines.look('events', 'acme');

    expect([asked, rung]).toEqual([['acme'], ['acme']]);
    end('running');
  });
});
