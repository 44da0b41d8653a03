import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Bull from 'bull';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { Child } from '../../e2e/support/child.js';
import { startOwnRedis } from '../../services/own-server.mjs';
import { ROOT } from '../../services/with-services.mjs';
import { judge, phasesOf } from '../judge/judge.js';
import { LedgerTail, readLedger } from '../judge/read-ledger.js';
import { stormsOf } from '../goals.js';
import { ForgeProcess } from '../rig/forge-process.js';
import type { Blow } from '../rig/slot.js';
import { TcpProxy } from '../rig/tcp-proxy.js';
import { keyOf, wantedOf } from '../workload.js';

const LEAST_DOUBLED = 0.1;
/** Bull's own: a job of a killed worker runs again after 30 to 60 s. Twice that long without any change, and it does not. */
const QUIET_MS = 120_000;
/** As in the storm. */
const AIMED = 0.7;
const AT_WORK_MS = 20_000;

/**
 * The storm of G2 against a worker that is nothing but Bull and a POST: as many effects, kills, latency. The same ledger judges.
 * @returns 0; 2 when it doubled under 10 %: the storm is too mild to say anything
 */
export async function runBullPeer(seed: number, say: (line: string) => void): Promise<number> {
  const [storm] = stormsOf('G2', 'distributed', 'ci', seed);
  if (!storm) throw new Error('no storm');
  const wanted = Array.from({ length: storm.deliveries }, (_, n) => wantedOf(n, 'labels')).flat();
  const forge = await ForgeProcess.start('gitea', 24);
  const redis = await startOwnRedis();
  const proxy = await TcpProxy.to(forge.port);
  const queue = new Bull('effects', redis.url);
  const random = seededRandom(seed);
  const blows: Blow[] = [];
  const host = `127.0.0.1:${proxy.port}`;
  const env = { REDIS_URL: redis.url, API_URL: `http://127.0.0.1:${proxy.port}/api/v1`, TOKEN: forge.botToken };
  const start = async (): Promise<Child> => {
    const child = new Child([join(ROOT, 'test/chaos/peer/bull-worker.mjs')], env, ROOT);
    await child.line((line) => (line === 'up' ? true : undefined));
    return child;
  };
  let worker: Child | null = null;
  const began = Date.now();
  const tail = new LedgerTail(forge);
  const ticker = setInterval(
    () =>
      void tail
        .effects()
        .then((made) => say(`+${Math.round((Date.now() - began) / 1000)} s  ${made} effects, ${blows.length} kills`)),
    8_000,
  );
  try {
    await forge.control('POST', '/_sandbox/faults', {
      seed,
      callers: ['bot'],
      latency: { on: 'writes', ...storm.latency },
    });
    await queue.addBulk(
      wanted.map(({ key }, n) => ({ data: { key, repo: forge.repos[n % forge.repos.length]?.name } })),
    );
    worker = await start();
    const kills = storm.kills ?? 0;
    for (let kill = 0; kill < kills; kill += 1) {
      // As the storm does it to the bot: one that is at work again, and most while a call is under way.
      const upAt = Date.now();
      while ((await tail.effects(), tail.lastWriteOf(host)) < upAt && Date.now() - upAt < AT_WORK_MS) await wait(20);
      await wait(random.below(700));
      if (kill < AIMED * kills)
        for (const since = Date.now(); !(await tail.isCalling(host)) && Date.now() - since < AT_WORK_MS;) await wait(5);
      blows.push({ slot: 'bull', signal: 'SIGKILL', at: Date.now(), host });
      await worker.end('SIGKILL');
      worker = await start();
    }
    let open = -1;
    for (let changedAt = Date.now(); Date.now() - changedAt < QUIET_MS; await wait(1_000)) {
      const { waiting, active, delayed } = await queue.getJobCounts();
      const now = waiting + active + delayed;
      if (now === 0) break;
      if (now !== open) changedAt = Date.now();
      open = now;
    }
    const { failed } = await queue.getJobCounts();
    const calls = await readLedger(forge);
    const verdict = judge(calls, wanted, () => false);
    const phases = phasesOf(blows, calls);
    const doubled = verdict.doubled.length / wanted.length;
    say(
      `bare Bull 4, seed ${seed}, last key ${keyOf(storm.deliveries - 1)}: ${wanted.length} effects wanted, ${phases.kills} kills, ${phases.betweenSentAndAnswer} between sent and its answer`,
    );
    say(
      `lost ${verdict.missing.length}, doubled ${verdict.doubled.length} (${(100 * doubled).toFixed(1)} %), phantom ${verdict.phantom.length}, wrongly failed ${failed}`,
    );
    if (doubled >= LEAST_DOUBLED) return 0;
    say('void: a bare Bull worker doubled under 10 %, so the storm is too mild to say anything');
    return 2;
  } finally {
    clearInterval(ticker);
    await worker?.end('SIGKILL');
    await queue.close();
    await proxy.close();
    await redis.stop();
    await forge.stop();
  }
}
