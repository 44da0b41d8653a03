import { join, resolve } from 'node:path';
import { Fleet, type Deployment } from '../../test/chaos/rig/fleet.js';
import type { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { deliveryOf, rulesFor, type StormDelivery } from '../../test/chaos/workload.js';
import { ROOT } from '../../test/services/with-services.mjs';
import { childrenCpuMs, usageOf } from '../ingest/children.js';
import { COUNTS_STATEMENTS } from './statements.js';

/** Three labels in each repository: what reads before it writes must not read ever more. */
export const PER_REPO = 3;

const PROFILER = join(ROOT, 'bench/support/cpu-profile.mjs');

export interface FleetSetup {
  readonly env?: Readonly<Record<string, string>>;
  /** Folder that gets a CPU profile of each process at its end, while the database server counts statements; null = none. */
  readonly profile: string | null;
}

/** The bot as it is deployed, with one rule: a delivery asks for one label. Nothing stands between it, its servers and the forge. */
export function startLabelFleet(
  deployment: Deployment,
  forge: ForgeProcess,
  { env = {}, profile }: FleetSetup,
): Promise<Fleet> {
  const options = [env['NODE_OPTIONS'], profile === null ? undefined : `--import ${PROFILER}`];
  return Fleet.start({
    deployment,
    forge,
    rules: rulesFor(['label']),
    settleS: 60,
    webs: 1,
    workers: 1,
    feedEveryS: 3600,
    direct: 'servers and forge',
    ...(profile === null ? {} : { postgresSettings: COUNTS_STATEMENTS }),
    env: {
      ...env,
      NODE_OPTIONS: options.filter((option) => option !== undefined).join(' '),
      ...(profile === null ? {} : { FORGEHAND_BENCH_PROFILE: resolve(profile) }),
    },
  });
}

/** The delivery that asks for the label of this number. */
export function labelDelivery(n: number, { repos }: ForgeProcess): StormDelivery {
  const repo = repos[n % repos.length];
  if (!repo) throw new Error('the forge has no repository');
  return deliveryOf(n, 'label', repo);
}

/** Processor time in ms used so far by the bot's processes and by its database; null where the system does not tell. */
export async function cpuOf(fleet: Fleet): Promise<{ readonly bot: number | null; readonly database: number | null }> {
  const bots = await Promise.all(fleet.slots.map((slot) => slot.bot()));
  const used = bots.map(({ child }) => usageOf(child.pid).cpuMs);
  return {
    bot: used.some((ms) => ms === null) ? null : used.reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
    database: fleet.postgres ? childrenCpuMs(fleet.postgres.pid) : null,
  };
}
