import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { usageOf } from '../../../bench/ingest/children.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { ROOT } from '../../services/with-services.mjs';
import { crossCounts, openCount } from '../judge/cross-counts.js';
import { judge, type Verdict, type Wanted } from '../judge/judge.js';
import { openOfEmbedded } from '../judge/open-of-embedded.js';
import { acknowledgedAndLost, endingsOf, judgePauses, mostAtOnce, startTimes } from '../judge/overload.js';
import { percentile } from '../judge/percentiles.js';
import { readLedger, type Call } from '../judge/read-ledger.js';
import { explainMissing } from '../report.js';
import { Fleet } from '../rig/fleet.js';
import { ForgeProcess, type Repo } from '../rig/forge-process.js';
import { Sender } from '../rig/send.js';
import { deliveryOf, rulesFor, wantedOf } from '../workload.js';
import { isEffectWanted, ofFlood, type FloodOrder, type FloodResult } from './flood-order.js';
import { REFUSED, type Overload, type OverloadReport } from './overload-report.js';
import { momentsOf, stagesOf, type Moments, type Stages } from './stages.js';

const CONCURRENCY = 4;
/** Of the distributed deployment: what one of them is told holds for the other. */
const WORKERS = 2;
const SETTLE_S = 6;
const RETRY_AFTER_S = 3;
const QUIET_ORG = 'beta';
const QUIET_PER_S = 5;
/** Deliveries of the quiet organization before anything is measured: its rules are loaded, its connections open, the code compiled. */
const WARM_UP = 20;
/** Numbers of the quiet organization's deliveries begin here. */
const QUIET_FROM = 10_000_000;
/** A flood that the receiver holds back goes on for longer than it would; the other organization's deliveries last so many times as long. */
const LONGEST_FLOOD = 2;
const SAMPLE_EVERY_MS = 250;
/** Everything that was acknowledged is decided and done by then, or it is left. */
const DRAIN_MS = 1_800_000;

type Tell = (line: string) => void;
type Phase = 'warm-up' | 'alone' | 'flood' | 'drain';

export async function runOverload(overload: Overload, tell: Tell, logs?: string): Promise<OverloadReport> {
  const forge = await ForgeProcess.start('gitea', 60);
  let running: Running | null = null;
  try {
    const quietCount = WARM_UP + QUIET_PER_S * (overload.quietS + (LONGEST_FLOOD + 1) * overload.floodS);
    const quiet = await forge.addOrganization(QUIET_ORG, 'bot-b', quietCount);
    const fleet = await Fleet.start({
      deployment: overload.deployment,
      forge,
      rules: rulesFor(['label']),
      second: { org: QUIET_ORG, token: quiet.token, rules: rulesFor(['label'], QUIET_ORG) },
      settleS: SETTLE_S,
      concurrency: CONCURRENCY,
      webs: 1,
      workers: WORKERS,
      feedEveryS: 3600,
      // A flood through proxies of the rig would keep the rig's own deliveries and its proxies to the forge waiting.
      direct: 'servers',
      logs,
    });
    running = new Running(overload, forge, fleet, quiet.repos, tell);
    return await running.run();
  } finally {
    await running?.close();
    await forge.stop();
  }
}

/** Only the account of the flooding organization is told to wait: the other's calls are made with a token of its own. */
function planOf({ seed, refused }: Overload): object {
  const fault = { kind: 'rate-limit', retry_after: RETRY_AFTER_S };
  // Some calls are always under way, so that more than are configured would show.
  const latency = { on: 'all', before_ms: [50, 150] };
  return {
    seed,
    callers: ['bot'],
    latency,
    calls: [{ name: REFUSED, on: 'all', percent: refused.percent, at_most: refused.atMost, fault }],
  };
}

class Running {
  private readonly quietSender: Sender;
  private readonly sentAt = new Map<Phase, Map<string, number>>();
  private readonly memory = new Map<string, { before: number; most: number }>();
  private readonly wanted: Wanted[] = [];
  private quietNext = 0;
  private flood: ChildProcess | null = null;
  private isOver = false;

  constructor(
    private readonly overload: Overload,
    private readonly forge: ForgeProcess,
    private readonly fleet: Fleet,
    private readonly quietRepos: readonly Repo[],
    private readonly tell: Tell,
  ) {
    this.quietSender = new Sender(() => fleet.receiver(), QUIET_ORG);
  }

  async run(): Promise<OverloadReport> {
    const { overload } = this;
    const startedAt = Date.now();
    await this.trickle('warm-up', WARM_UP);
    await this.trickle('alone', QUIET_PER_S * overload.quietS);
    await this.sampleMemory('before');
    const sampling = this.sampleUntilOver();
    await this.forge.control('POST', '/_sandbox/faults', planOf(overload));
    let isFlooding = true;
    const trickled = this.trickle('flood', LONGEST_FLOOD * QUIET_PER_S * overload.floodS, () => isFlooding);
    const result = await this.sendFlood().finally(() => (isFlooding = false));
    this.tell(
      `  the flood is over after ${Math.round((Date.now() - startedAt) / 1000)} s: ${JSON.stringify(endingsOf(result.statuses))}`,
    );
    await trickled;
    const floodOverAt = Date.now();
    await this.trickle('drain', QUIET_PER_S * overload.floodS);
    const left = await this.drain();
    const drainedMs = Date.now() - floodOverAt;
    this.isOver = true;
    await sampling;
    return this.report(result, { tookMs: Date.now() - startedAt, drainedMs, left });
  }

  async close(): Promise<void> {
    this.isOver = true;
    this.flood?.kill('SIGKILL');
    await this.quietSender.close();
    await this.fleet.close();
  }

  /** One delivery after another at an even pace, each about a repository of its own, whether or not those before were answered. */
  private async trickle(phase: Phase, count: number, goesOn: () => boolean = () => true): Promise<void> {
    const sent = new Map<string, number>();
    this.sentAt.set(phase, sent);
    const startedAt = performance.now();
    const answers: Array<Promise<void>> = [];
    for (let n = 0; n < count && goesOn(); n += 1) {
      await wait(Math.max(0, startedAt + (n * 1000) / QUIET_PER_S - performance.now()));
      const repo = this.quietRepos[this.quietNext];
      if (!repo) throw new Error('no repository is left');
      const number = QUIET_FROM + this.quietNext;
      this.quietNext += 1;
      this.wanted.push(...wantedOf(number, 'label'));
      sent.set(`${QUIET_ORG}/${repo.name}`, Date.now());
      answers.push(this.quietSender.deliver(deliveryOf(number, 'label', repo), () => this.isOver));
    }
    await Promise.all(answers);
    if (phase === 'warm-up' || phase === 'alone') await this.untilDone();
  }

  /** Nothing that is measured later stands behind this. */
  private async untilDone(): Promise<void> {
    while ((await this.effectsOfQuiet()) < this.quietNext) await wait(200);
  }

  private async effectsOfQuiet(): Promise<number> {
    const calls = await readLedger(this.forge, true, ['bot-b']);
    return calls.filter(({ applied }) => applied.length > 0).length;
  }

  private async sendFlood(): Promise<FloodResult> {
    const { perSecond, connections, floodS, effectEvery } = this.overload;
    const port = Number(new URL(await this.fleet.receiver()).port);
    const flood = fork(fileURLToPath(new URL('flood.ts', import.meta.url)), {
      execArgv: ['--no-warnings', '--import', pathToFileURL(join(ROOT, 'test/register-swc.mjs')).href],
    });
    this.flood = flood;
    const order: FloodOrder = { port, repos: this.forge.repos, seconds: floodS, perSecond, connections, effectEvery };
    const result = new Promise<FloodResult>((resolve, reject) => {
      flood.once('message', (message) => resolve(message as FloodResult));
      flood.once('exit', (code, signal) => reject(new Error(`the sender of the flood ended with ${signal ?? code}`)));
    });
    flood.send(order);
    return result.finally(() => void flood.kill());
  }

  private async sampleUntilOver(): Promise<void> {
    while (!this.isOver) {
      await this.sampleMemory('most');
      await wait(SAMPLE_EVERY_MS);
    }
  }

  private async sampleMemory(which: 'before' | 'most'): Promise<void> {
    for (const slot of this.fleet.slots) {
      const { rss } = usageOf((await slot.bot()).child.pid);
      const mb = (rss ?? NaN) / 2 ** 20;
      const known = this.memory.get(slot.name) ?? { before: mb, most: mb };
      this.memory.set(
        slot.name,
        which === 'before' ? { before: mb, most: mb } : { ...known, most: Math.max(known.most, mb) },
      );
    }
  }

  private async drain(): Promise<number> {
    const stores = this.fleet.postgres ? await this.fleet.openStores() : null;
    try {
      const since = Date.now();
      let toldAt = 0;
      for (;;) {
        const open = stores ? await openCount(stores) : await openOfEmbedded(this.fleet);
        if (open === 0 || Date.now() - since > DRAIN_MS) return open;
        if (Date.now() - toldAt > 8_000) {
          toldAt = Date.now();
          this.tell(`  ${open} left`);
        }
        await wait(stores ? 300 : 4_000);
      }
    } finally {
      await stores?.close();
    }
  }

  private async report(
    flood: FloodResult,
    times: { tookMs: number; drainedMs: number; left: number },
  ): Promise<OverloadReport> {
    const { overload, fleet, forge } = this;
    await fleet.stop();
    const calls = await readLedger(forge, false, ['bot', 'bot-b']);
    const stores = await fleet.openStores();
    const [stored, cross, moments] = await Promise.all([
      storedOfFlood(stores),
      crossCounts(stores),
      momentsOf(stores, QUIET_ORG),
    ]).finally(() => stores.close());
    for (const n of flood.statuses.keys())
      if (isEffectWanted(n, overload.effectEvery) && (stored.has(n) || [200, 202].includes(flood.statuses[n] ?? 0)))
        this.wanted.push(...wantedOf(n, 'label'));
    const verdict: Verdict = judge(calls, this.wanted, () => false);
    const { lost, stuck } = explainMissing(verdict, cross);
    const times95 = (phase: Phase): number =>
      percentile(
        this.starts(phase, calls).flatMap((ms) => ms ?? []),
        0.95,
      );
    const phases: Phase[] = ['alone', 'flood', 'drain'];
    return {
      overload,
      ...times,
      offeredPerS: flood.perSecond,
      answerMs: { p50: flood.p50Ms, p99: flood.p99Ms },
      requests: flood.statuses.length,
      endings: endingsOf(flood.statuses),
      failures: flood.failures,
      lostDeliveries: acknowledgedAndLost(flood.statuses, stored),
      wanted: verdict.wanted,
      made: verdict.made,
      lost,
      doubled: verdict.doubled,
      phantom: verdict.phantom,
      stuck,
      pauses: judgePauses(calls, ({ fault }) => (fault === REFUSED ? RETRY_AFTER_S : null)),
      concurrency: CONCURRENCY,
      mostAtOnce: mostAtOnce(calls),
      calls: calls.length,
      crashes: fleet.slots.flatMap(({ crashes }) => crashes),
      quiet: {
        sent: this.quietNext,
        shed: this.quietSender.unanswered,
        neverBegun: phases.flatMap((phase) => this.starts(phase, calls)).filter((ms) => ms === null).length,
        aloneP95Ms: times95('alone'),
        floodP95Ms: times95('flood'),
        drainP95Ms: times95('drain'),
        floodStages: this.stages('flood', calls, moments),
      },
      memoryMb: [...this.memory].map(([slot, mb]) => ({ slot, ...mb })),
    };
  }

  private starts(phase: Phase, calls: readonly Call[]): Array<number | null> {
    return startTimes(this.sentAt.get(phase) ?? new Map(), calls);
  }

  private stages(phase: Phase, calls: readonly Call[], moments: Moments): Stages[] {
    const sent = this.sentAt.get(phase) ?? new Map<string, number>();
    const numberOf = new Map(this.quietRepos.map(({ name }, n) => [`${QUIET_ORG}/${name}`, QUIET_FROM + n]));
    return [...sent].flatMap(([repo, sentAt], n) => {
      const startedMs = this.starts(phase, calls)[n];
      const acknowledged = this.quietSender.acknowledged.get(numberOf.get(repo) ?? NaN);
      const own = acknowledged && moments.get(acknowledged.id);
      return own && typeof startedMs === 'number' ? [stagesOf(sentAt, acknowledged, own, sentAt + startedMs)] : [];
    });
  }
}

/** Numbers of the flood's deliveries that the store has; read once the bot is down. */
async function storedOfFlood({ dataSource }: Stores): Promise<Set<number>> {
  const rows = (await dataSource.query(
    `SELECT delivery_id FROM arrivals WHERE kind = 'delivery' AND org = 'acme'`,
  )) as Array<{ delivery_id: string }>;
  return new Set(rows.flatMap(({ delivery_id }) => ofFlood(delivery_id) ?? []));
}
