import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Bull from 'bull';
import { Child } from '../../test/e2e/support/child.js';
import { startOwnRedis } from '../../test/services/own-server.mjs';
import { ROOT } from '../../test/services/with-services.mjs';
import { LedgerTail } from '../../test/chaos/judge/read-ledger.js';
import { Fleet, type Deployment } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { Sender } from '../../test/chaos/rig/send.js';
import { deliveryOf, keyOf, rulesFor } from '../../test/chaos/workload.js';

export type Key = 'bull' | Deployment | 'unflushed';

export interface Contestant {
  readonly key: Key;
  readonly name: string;
  measure(count: number): Promise<Times>;
}

/** Seconds from the first that is told. */
export interface Times {
  /** To the last acknowledgement, or the last job added. */
  readonly told: number;
  /** To the last effect in the forge's ledger. */
  readonly made: number;
}

/** Three labels in each repository: what reads before it writes must not read ever more. */
const PER_REPO = 3;
const CONCURRENCY = 16;
const SENDERS = 16;
const LONGEST_MS = 300_000;

async function timed(forge: ForgeProcess, count: number, begin: () => Promise<unknown>): Promise<Times> {
  const tail = new LedgerTail(forge);
  const began = performance.now();
  const since = (): number => (performance.now() - began) / 1000;
  await begin();
  const told = since();
  for (;;) {
    const made = await tail.effects();
    if (made >= count) return { told, made: since() };
    if (performance.now() - began > LONGEST_MS) throw new Error(`only ${made} of ${count} effects came`);
    await wait(20);
  }
}

const bull: Contestant = {
  key: 'bull',
  name: 'bare Bull 4 worker, one POST by axios',
  async measure(count) {
    const forge = await ForgeProcess.start('gitea', Math.ceil(count / PER_REPO));
    const redis = await startOwnRedis();
    const queue = new Bull('effects', redis.url);
    const env = {
      REDIS_URL: redis.url,
      API_URL: `http://127.0.0.1:${forge.port}/api/v1`,
      TOKEN: forge.botToken,
      CONCURRENCY: String(CONCURRENCY),
    };
    const worker = new Child([join(ROOT, 'test/chaos/peer/bull-worker.mjs')], env, ROOT);
    try {
      await worker.line((line) => (line === 'up' ? true : undefined));
      const jobs = Array.from({ length: count }, (_, n) => ({
        data: { key: keyOf(n), repo: forge.repos[n % forge.repos.length]?.name },
      }));
      return await timed(forge, count, () => queue.addBulk(jobs));
    } finally {
      await worker.end('SIGKILL');
      await queue.close();
      await redis.stop();
      await forge.stop();
    }
  },
};

/** The embedded store without flushes, as it was: what they cost is the difference. */
const UNFLUSHED = { NODE_OPTIONS: `--import ${join(ROOT, 'bench/runs/no-flush.mjs')}` };

function bot(
  deployment: Deployment,
  name: string,
  key: Key = deployment,
  env: Readonly<Record<string, string>> = {},
): Contestant {
  return {
    key,
    name,
    async measure(count) {
      const forge = await ForgeProcess.start('gitea', Math.ceil(count / PER_REPO));
      const fleet = await Fleet.start({
        deployment,
        forge,
        rules: rulesFor(['label']),
        settleS: 60,
        webs: 1,
        workers: 1,
        feedEveryS: 3600,
        isDirect: true,
        env,
      });
      const sender = new Sender(() => fleet.receiver());
      try {
        let next = 0;
        const lane = async (): Promise<void> => {
          while (next < count) {
            const n = next++;
            const repo = forge.repos[n % forge.repos.length];
            if (repo) await sender.deliver(deliveryOf(n, 'label', repo), () => false);
          }
        };
        return await timed(forge, count, () => Promise.all(Array.from({ length: SENDERS }, lane)));
      } finally {
        await sender.close();
        await fleet.close();
        await forge.stop();
      }
    },
  };
}

export const CONTESTANTS: readonly Contestant[] = [
  bull,
  bot('distributed', 'Forgehand, one web and one worker'),
  bot('embedded', 'Forgehand, embedded in one process'),
  bot('embedded', 'the same, with flushes that do nothing', 'unflushed', UNFLUSHED),
];
