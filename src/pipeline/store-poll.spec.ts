import { aConfig } from '../../test/builders/a-config.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying } from '../../test/builders/reasons.js';
import { StorePoll } from './store-poll.js';
import { claimOne } from '../../test/builders/journal.js';

const label = (name: string) => ({ name, color: '#d73a4a' });

describe('pipeline/store-poll', () => {
  let rig: EffectRig;
  let rung: string[];
  let poll: StorePoll;

  beforeEach(() => {
    rig = new EffectRig();
    rung = [];
    poll = aPoll();
  });

  function aPoll(journal = rig.journal): StorePoll {
    const queue = { ringHere: (topic: string, org: string) => void rung.push(`${topic} of ${org}`) };
    return new StorePoll(aConfig({ queue: { sweepS: 1 } }), journal, journal, queue, rig.unknown, silentLogger);
  }

  it('rings for each line that has due work, once', async () => {
    for (const name of ['a', 'b']) await rig.plan('label.ensure', label(name));
    await rig.plan('label.ensure', label('c'), { tickId: 'tick-1' });
    rig.journal.undecidedLines = async () => [
      { topic: 'arrivals', org: 'other' },
      { topic: 'events', org: 'acme' },
    ];

    await poll.pass();

    expect(rung.sort()).toEqual(['arrivals of other', 'background of acme', 'events of acme', 'intents of acme']);
  });

  it('takes back what a lost owner held, and has unknown outcomes read about', async () => {
    const claimed = await rig.plan('label.ensure', label('a'));
    const sent = await rig.plan('org_variable.set', { name: 'V', value: 'v' });
    await claimOne(rig.journal, claimed, 'killed', 5_000);
    const claim = await claimOne(rig.journal, sent, 'killed', 5_000);
    await rig.journal.markSent(sent, claim?.epoch ?? 0, { id: 'x', operation: 'createOrgVariable', requestHash: 'h' });
    rig.clock.advance(60_000);

    await poll.pass();
    await poll.stop();

    expect((await rig.journal.intent(claimed))?.state).toBe('planned');
    expect(await rig.journal.intent(sent)).toMatchObject({
      state: 'planned',
      reason: saying(expect.stringContaining('variable V is not there')),
    });
    expect(rung).toEqual(['intents of acme']);
  });

  it('looks at once when it starts: nobody rings for what a killed process left', async () => {
    await rig.plan('label.ensure', label('a'));

    poll.start();
    await poll.stop();

    expect(rung).toEqual(['intents of acme']);
  });

  it('asks the store one question while nothing is there', async () => {
    const asked: string[] = [];
    const journal = new Proxy(rig.journal, {
      get: (store, name: keyof typeof rig.journal) => {
        asked.push(name);
        return (store[name] as () => unknown).bind(store);
      },
    });
    const idle = aPoll(journal);

    for (let pass = 0; pass < 3; pass += 1) await idle.pass();

    expect([asked, rung]).toEqual([['mayHaveWork', 'mayHaveWork', 'mayHaveWork'], []]);
  });

  it('survives a store that is away', async () => {
    await rig.plan('label.ensure', label('a'));
    rig.journal.reclaimExpired = async () => Promise.reject(new Error('store away'));

    await expect(poll.pass()).resolves.toBeUndefined();
  });

  it('joins a pass that runs, and stops after it', async () => {
    const both = [poll.pass(), poll.pass()];

    expect(both[0]).toBe(both[1]);
    poll.start();
    await poll.stop();
    await Promise.all(both);
  });
});
