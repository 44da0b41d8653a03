import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../../src/api/operations/answers.js';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { openIn } from '../../chaos/judge/open-of-embedded.js';
import { judge } from '../../chaos/judge/judge.js';
import { LedgerTail, readLedger } from '../../chaos/judge/read-ledger.js';
import { Disk } from '../../chaos/power/disk.js';
import { readJournal } from '../../chaos/power/journal.js';
import { aBotPlace, recorderEnv } from '../../chaos/power/recorded-bot.js';
import { ForgeProcess } from '../../chaos/rig/forge-process.js';
import { Sender } from '../../chaos/rig/send.js';
import { deliveryOf, wantedOf } from '../../chaos/workload.js';
import type { Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { fastFolder } from '../../tools/fast-folder.mjs';
import { untilStatus } from '../support/forgehand.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';
import { waitFor } from '../support/wait-for.js';

const SETTLED_MS = 180_000;
const REPOS = 4;
const OLD = 60;
const NEW = 20;
/** A write takes so long at the forge that many deliveries wait when the power goes. */
const LATENCY = { on: 'writes', before_ms: [100, 200], after_ms: [100, 200] };

describe('e2e/power: a bot after a power cut', () => {
  let work: string;
  let forge: ForgeProcess;
  let bot: Promise<Bot> | null;
  let isOver: boolean;
  let sender: Sender;
  let places: Place[];

  beforeAll(requireBuild);

  beforeEach(async () => {
    work = mkdtempSync(join(fastFolder(), 'fh-cut-'));
    places = [];
    [bot, isOver] = [null, false];
    sender = new Sender(async () => (await bot)?.url ?? '');
    forge = await ForgeProcess.start('gitea', REPOS);
    await forge.control('POST', '/_sandbox/faults', { seed: 1, callers: ['bot'], latency: LATENCY, calls: [] });
  });

  afterEach(async () => {
    isOver = true;
    await (await bot?.catch(() => null))?.kill();
    await sender.close();
    await forge.stop();
    for (const place of places) place.remove();
    rmSync(work, { recursive: true, force: true });
  });

  /** A bot on the store in this folder. */
  function aPlaceIn(folder: string): Place {
    const place = aBotPlace(forge, folder);
    places.push(place);
    return place;
  }

  async function deliver(from: number, until: number): Promise<void> {
    const { repos } = forge;
    await Promise.all(
      Array.from({ length: until - from }, (_, n) => {
        const repo = repos[(from + n) % repos.length];
        if (!repo) throw new Error('no repository');
        return sender.deliver(deliveryOf(from + n, 'label', repo), () => isOver);
      }),
    );
  }

  // One cut a seed: `FORGEHAND_TEST_SEED` chooses another moment.
  it.each([1])(
    'opens what the disk kept, finishes old work and takes new deliveries, and makes each effect once: cut %i',
    async (cut) => {
      const seed = chooseSeed();
      const random = seededRandom(seed + cut);
      const [before, after, journal] = [join(work, 'before'), join(work, 'after'), join(work, 'journal')];
      mkdirSync(before);
      const tail = new LedgerTail(forge);
      const made = 1 + random.below(10);
      const place = aPlaceIn(before);
      const victim = await (bot = startBot({ ...place, env: { ...place.env, ...recorderEnv(before, journal) } }));
      const delivered = deliver(0, OLD);
      await waitFor(async () => (await tail.effects()) >= made, SETTLED_MS);

      const dead = victim.kill();
      const acknowledged = sender.acknowledged.size;
      let dropped = 0;
      bot = dead.then(() => {
        const disk = new Disk(before);
        for (const record of readJournal(journal)) disk.apply(record);
        dropped = disk.cut(after, random);
        return startBot(aPlaceIn(after));
      });
      await dead;
      const madeBefore = await tail.effects();
      const reopened = await bot;
      await delivered;
      await deliver(OLD, OLD + NEW);
      const restarted = places[1] ?? place;
      const openOf = (status: StatusReport): number => openIn(status) + status.intents.waiting;
      const settled = await untilStatus(restarted, (status) => openOf(status) === 0, SETTLED_MS);
      tell(
        `cut ${cut}, seed ${seed}: ${acknowledged} acknowledged and ${madeBefore} made before it, ${dropped} writes and names dropped`,
      );

      const wanted = Array.from({ length: OLD + NEW }, (_, n) => wantedOf(n, 'label')).flat();
      expect(judge(await readLedger(forge), wanted, () => false)).toMatchObject({
        made: OLD + NEW,
        missing: [],
        doubled: [],
        phantom: [],
      });
      expect(openOf(settled)).toBe(0);
      expect(sender.odd).toEqual([]);
      expect(acknowledged).toBeGreaterThan(madeBefore);
      expect(dropped).toBeGreaterThan(0);
      expect(await reopened.stop()).toEqual({ code: 0, signal: null });
    },
  );
});
