import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Bull from 'bull';
import { Child } from '../../test/e2e/support/child.js';
import { startOwnRedis } from '../../test/services/own-server.mjs';
import { ROOT } from '../../test/services/with-services.mjs';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { Sender } from '../../test/chaos/rig/send.js';
import { keyOf } from '../../test/chaos/workload.js';
import { usageOf } from '../ingest/children.js';
import { CallCounter } from '../support/call-counter.js';
import { cpuOf, labelDelivery, PER_REPO, startLabelFleet } from '../support/label-fleet.js';
import { StatementCounter } from '../support/statements.js';

export type Key = 'bull' | 'bull-3' | Deployment | 'unflushed';

export interface Contestant {
  readonly key: Key;
  readonly name: string;
  /** @param profile folder for CPU profiles of the bot's processes, and for how many statements and commands an effect takes */
  measure(count: number, profile: string | null): Promise<Figures>;
}

export interface Figures {
  /** Seconds from the first that is told to the last acknowledgement, or the last job added. */
  readonly told: number;
  /** Seconds from the first that is told to the last effect in the forge's ledger. */
  readonly made: number;
  /** Calls to the forge for each effect, reads among them. */
  readonly calls: number;
  /** Processor time for each effect, of the worker or the bot's processes, in ms; null where the system does not tell. */
  readonly cpuMs: number | null;
  /** The same of the database server; null where there is none. */
  readonly databaseMs: number | null;
}

const CONCURRENCY = 16;
const SENDERS = 16;
const LONGEST_MS = 600_000;
const LOOK_EVERY_MS = 50;

type Cpu = Awaited<ReturnType<typeof cpuOf>>;

async function timed(
  forge: ForgeProcess,
  count: number,
  cpu: () => Promise<Cpu>,
  begin: () => Promise<unknown>,
): Promise<Figures> {
  const counter = new CallCounter(forge);
  await counter.skip();
  const before = await cpu();
  const began = performance.now();
  const since = (): number => (performance.now() - began) / 1000;
  await begin();
  const told = since();
  for (;;) {
    await counter.look();
    const made = counter.effects.length;
    if (made >= count) break;
    if (performance.now() - began > LONGEST_MS) throw new Error(`only ${made} of ${count} effects came`);
    await wait(LOOK_EVERY_MS);
  }
  const made = since();
  const after = await cpu();
  const each = (from: number | null, to: number | null): number | null =>
    from === null || to === null ? null : (to - from) / count;
  return {
    told,
    made,
    calls: counter.calls / count,
    cpuMs: each(before.bot, after.bot),
    databaseMs: each(before.database, after.database),
  };
}

function bull(key: Key, name: string, env: Readonly<Record<string, string>>): Contestant {
  return {
    key,
    name,
    async measure(count) {
      const forge = await ForgeProcess.start('gitea', Math.ceil(count / PER_REPO));
      const redis = await startOwnRedis();
      const queue = new Bull('effects', redis.url);
      const given = {
        ...env,
        REDIS_URL: redis.url,
        API_URL: `http://127.0.0.1:${forge.port}/api/v1`,
        TOKEN: forge.botToken,
        CONCURRENCY: String(CONCURRENCY),
      };
      const worker = new Child([join(ROOT, 'test/chaos/peer/bull-worker.mjs')], given, ROOT);
      try {
        await worker.line((line) => (line === 'up' ? true : undefined));
        const jobs = Array.from({ length: count }, (_, n) => {
          const repo = forge.repos[n % forge.repos.length];
          return { data: { key: keyOf(n), repo: repo?.name, id: repo?.id } };
        });
        const cpu = async (): Promise<Cpu> => ({ bot: usageOf(worker.pid).cpuMs, database: null });
        return await timed(forge, count, cpu, () => queue.addBulk(jobs));
      } finally {
        await worker.end('SIGKILL');
        await queue.close();
        await redis.stop();
        await forge.stop();
      }
    },
  };
}

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
    async measure(count, profile) {
      const forge = await ForgeProcess.start('gitea', Math.ceil(count / PER_REPO));
      const fleet = await startLabelFleet(deployment, forge, {
        env,
        profile: profile === null ? null : join(profile, key),
      });
      const sender = new Sender(() => fleet.receiver());
      try {
        let next = 0;
        const sendOn = async (): Promise<void> => {
          while (next < count) await sender.deliver(labelDelivery(next++, forge), () => false);
        };
        const { postgres, redis } = fleet;
        const counter =
          profile !== null && postgres && redis ? await StatementCounter.begin(postgres.url, redis.url) : null;
        const figures = await timed(
          forge,
          count,
          () => cpuOf(fleet),
          () => Promise.all(Array.from({ length: SENDERS }, sendOn)),
        );
        if (counter && profile !== null) {
          mkdirSync(profile, { recursive: true });
          writeFileSync(join(profile, `${key}-statements.tsv`), await counter.end(count));
        }
        return figures;
      } finally {
        await sender.close();
        // A profile is written at an orderly end.
        if (profile !== null) await fleet.stop();
        await fleet.close();
        await forge.stop();
      }
    },
  };
}

export const CONTESTANTS: readonly Contestant[] = [
  bull('bull', 'bare Bull 4 worker, one POST by axios', {}),
  bull('bull-3', 'the same with our two reads before it', { LOOKS: '1' }),
  bot('distributed', 'Forgehand, one web and one worker'),
  bot('embedded', 'Forgehand, embedded in one process'),
  bot('embedded', 'the same, with flushes that do nothing', 'unflushed', UNFLUSHED),
];
