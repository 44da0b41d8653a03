import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { silentLogger } from '../../core/logger.js';
import type { Visibility } from '../../core/visibility.js';
import { LiveHub, type Viewer } from './hub.js';

interface Row {
  readonly id: string;
  readonly org: string;
  readonly text: string;
}

const SEES_ACME: Visibility = [{ org: 'acme', repositories: null }];

let hub: LiveHub<Row>;
let rows: Row[];
let mark: number;
let asked: { news: number; visibilities: string[][] };
let visibilities: Map<string, Visibility>;
let nowMs: number;

class Window implements Viewer {
  readonly told: string[] = [];
  isEnded = false;
  reads = true;

  get person(): string {
    return `operator ${this.token}`;
  }

  constructor(
    readonly token: string,
    readonly query: Readonly<Record<string, string>> = {},
  ) {
    hub.open(this);
  }

  send(event: string, data: string): boolean {
    const ids = event === 'rows' ? (JSON.parse(data) as Array<{ id: string }>).map(({ id }) => id).join(',') : '';
    this.told.push(`${event} ${ids}`.trim());
    return this.reads;
  }

  end(): void {
    this.isEnded = true;
  }
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    nowMs += 10;
    await jest.advanceTimersByTimeAsync(10);
  }
}

beforeEach(() => {
  jest.useFakeTimers();
  rows = [{ id: '1', org: 'acme', text: 'a' }];
  mark = 1;
  nowMs = 0;
  asked = { news: 0, visibilities: [] };
  visibilities = new Map<string, Visibility>([
    ['ann', null],
    ['bea', SEES_ACME],
  ]);
  hub = new LiveHub<Row>({
    source: {
      news: async (since) => {
        asked.news += 1;
        return { mark: String(mark), rows: since === String(mark) ? [] : rows };
      },
      idOf: ({ id }) => id,
      tell: ({ id, org }, visibility, query) =>
        (visibility === null || visibility.some((one) => one.org === org)) && (query['org'] ?? org) === org
          ? { id, html: `<tr>${id}` }
          : null,
    },
    visibilitiesOf: async (tokens) => {
      asked.visibilities.push([...tokens]);
      return new Map([...visibilities].filter(([token]) => tokens.includes(token)));
    },
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    logger: silentLogger,
    everyMs: 10,
  });
});

afterEach(() => {
  hub.closeAll();
  jest.useRealTimers();
});

describe('LiveHub', () => {
  it('asks once for all viewers, and nothing while nobody looks', async () => {
    await turns(5);
    expect(asked.news).toBe(0);

    const windows = [new Window('ann'), new Window('ann'), new Window('bea')];
    await turns(1);
    // The first turn is at once.
    expect(asked).toEqual({ news: 2, visibilities: [['ann', 'bea']] });
    expect(windows.map(({ told }) => told)).toEqual([['rows 1'], ['rows 1'], ['rows 1']]);

    for (const window of windows) hub.close(window);
    const before = asked.news;
    await turns(5);
    expect(asked.news).toBe(before);
  });

  it('tells each viewer what is new and visible to it, by its filters', async () => {
    const [ann, bea, filtered] = [new Window('ann'), new Window('bea'), new Window('ann', { org: 'butler' })];
    await turns(1);
    rows = [{ id: '2', org: 'butler', text: 'b' }, ...rows];
    mark += 1;
    await turns(1);
    rows = [rows[0]!, { id: '1', org: 'acme', text: 'changed' }];
    mark += 1;
    await turns(1);

    expect(ann.told).toEqual(['rows 1', 'rows 2', 'rows 1']);
    expect(bea.told).toEqual(['rows 1', 'still-here', 'rows 1']);
    expect(filtered.told).toEqual(['still-here', 'rows 2', 'still-here']);
  });

  it('ends the stream of who may see nothing any more, before it is told anything', async () => {
    const [ann, bea] = [new Window('ann'), new Window('bea')];
    await turns(1);
    visibilities.delete('bea');
    rows = [{ id: '2', org: 'acme', text: 'b' }, ...rows];
    mark += 1;
    await turns(1);

    expect(bea).toMatchObject({ told: ['rows 1', 'over'], isEnded: true });
    expect(ann.told).toEqual(['rows 1', 'rows 2']);
    expect(hub.size).toBe(1);
  });

  it('asks also without news whether viewers may still look', async () => {
    const bea = new Window('bea');
    await turns(1);
    visibilities.delete('bea');
    nowMs += 15_000;
    await turns(1);

    expect(bea).toMatchObject({ told: ['rows 1', 'over'], isEnded: true });
  });

  it('tells who comes later what is there, and ends who does not read', async () => {
    const ann = new Window('ann');
    await turns(2);
    const late = new Window('bea');
    late.reads = false;
    await turns(1);

    expect(late).toMatchObject({ told: ['rows 1'], isEnded: true });
    expect(ann.told).toEqual(['rows 1', 'still-here']);
  });

  it('keeps room for others where one person has most of the streams, and ends the oldest of that person', async () => {
    const eve = Array.from({ length: 5 }, () => new Window('ann'));
    expect([hub.hasRoomFor('operator ann', 5, 20), hub.hasRoomFor('operator ann', 50, 5)]).toEqual([false, false]);

    expect(hub.hasRoomFor('operator bea', 5, 20)).toBe(true);
    expect(eve.map(({ isEnded }) => isEnded)).toEqual([true, false, false, false, false]);
    expect(hub.size).toBe(4);
  });
});
