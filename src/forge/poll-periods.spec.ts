import { beforeEach, describe, expect, it } from '@jest/globals';
import { aConfig } from '../../test/builders/a-config.js';
import { InMemoryKnownFacts } from '../../test/fakes/in-memory-known-facts.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { ThisProcess } from '../config/this-process.js';
import { silentLogger } from '../core/logger.js';
import { type FeedPeriod, PollPeriods } from './poll-periods.js';

const FITS: FeedPeriod = {
  stretch: 1,
  everyS: 60,
  wantedS: 60,
  organizations: 1000,
  neededPerMin: 1200,
  leftPerMin: 3000,
  ratePerS: 50,
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('forge/poll-periods', () => {
  let clock: ManualClock;
  let facts: InMemoryKnownFacts;
  let writes: number;
  let isAway: boolean;
  const aProcess = (): PollPeriods => {
    const orgs = [
      { forge: 'main', name: 'acme', auth: null },
      { forge: 'main', name: 'own', auth: { type: 'token' as const } },
    ];
    const store = {
      all: (kind: string) => facts.all(kind),
      write: async (...fact: Parameters<InMemoryKnownFacts['write']>) => {
        if (isAway) throw new Error('the store is away');
        writes += 1;
        await facts.write(...fact);
      },
    };
    return new PollPeriods(aConfig({ orgs }), new ThisProcess('worker', 'bot'), store, clock, silentLogger);
  };

  beforeEach(() => {
    clock = new ManualClock();
    facts = new InMemoryKnownFacts(clock);
    writes = 0;
    isAway = false;
  });

  it('are as the config says until somebody tells otherwise, and then for every process, by account', async () => {
    const [polls, counts] = [aProcess(), aProcess()];
    await counts.onModuleInit();
    expect(counts.stretchOf('main', 'acme')).toBe(1);

    polls.publish('main', { ...FITS, stretch: 4 });
    clock.advance(5_000);
    counts.stretchOf('main', 'acme');
    await settled();

    for (const one of [polls, counts])
      expect([one.stretchOf('main', 'acme'), one.stretchOf('main', 'own'), one.stretchOf('other', 'x')]).toEqual([
        4, 1, 1,
      ]);
    const later = aProcess();
    await later.onModuleInit();
    expect(later.stretchOf('main', 'acme')).toBe(4);
  });

  it('are stored when they change, not at every look', async () => {
    const polls = aProcess();
    for (const stretch of [1, 4, 4.1, 4, 5, 1, 1]) polls.publish('main', { ...FITS, stretch });
    await settled();

    expect(writes).toBe(3);
    expect((await polls.all()).get('main')?.stretch).toBe(1);
  });

  it('are told again when the store did not take them', async () => {
    const polls = aProcess();
    isAway = true;
    polls.publish('main', { ...FITS, stretch: 4 });
    await settled();
    isAway = false;
    polls.publish('main', { ...FITS, stretch: 4 });

    expect((await polls.all()).get('main')?.stretch).toBe(4);
  });
});
