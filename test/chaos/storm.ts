import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { JsonObject } from '../../src/core/json.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { seededRandom, type SeededRandom } from '../../src/core/seeded-random.js';
import type { Stores } from '../../src/store/open-stores.js';
import { crossCounts, openCount, type CrossCounts } from './judge/cross-counts.js';
import { judge, phasesOf, resumeTimes, keyText, type Wanted } from './judge/judge.js';
import { openOfEmbedded } from './judge/open-of-embedded.js';
import { percentiles } from './judge/percentiles.js';
import { countStored, type Sent } from './judge/count-stored.js';
import { followDelivery } from './judge/follow-delivery.js';
import { LedgerTail, readLedger } from './judge/read-ledger.js';
import { KEYLESS } from './effect-key.js';
import { explainMissing, faultsOf, type StoredReport, type StormReport } from './report.js';
import { Fleet, type Deployment } from './rig/fleet.js';
import { ChatService } from './rig/chat-service.js';
import { ForgeProcess, type Repo } from './rig/forge-process.js';
import { quietBodies } from './rig/quiet-bodies.js';
import { Sender } from './rig/send.js';
import type { Signal, Slot } from './rig/slot.js';
import { TOXICS, type Toxic } from './rig/tcp-proxy.js';
import { deliveryOf, HOOK_SECRET, isAboutPull, keyOf, rulesFor, signatureOf, wantedOf, type Kind } from './workload.js';

/** One storm: what is asked for, and what is done to those who do it. */
export interface Storm {
  readonly goal: string;
  readonly seed: number;
  readonly deployment: Deployment;
  readonly profile: ProfileName;
  readonly settleS: number;
  readonly deliveries: number;
  /** Taken in turns. */
  readonly kinds: readonly Kind[];
  /** Deliver for this long instead of a count. */
  readonly forMs?: number;
  /** Effects asked for and not made yet, at most. */
  readonly backlog: number;
  readonly webs?: number;
  readonly workers?: number;
  /** Blows at workers (of the embedded deployment: at the one process). */
  readonly kills?: number;
  readonly terms?: number;
  readonly stops?: number;
  /** Deliveries that no rule wants anything of, sent beside at full speed; each must be there once, with one event. */
  readonly quietDeliveries?: number;
  /** Kills of the receiver. */
  readonly receiverKills?: number;
  readonly redisFlushes?: number;
  readonly redisKills?: number;
  readonly postgresRestarts?: number;
  /** Of each kind, at connections to forge, PostgreSQL and Redis in turn. */
  readonly toxics?: number;
  /** `calls` of the sandbox's plan of faults. */
  readonly faults?: readonly object[];
  readonly latency?: { readonly before_ms: readonly [number, number]; readonly after_ms: readonly [number, number] };
  /** Kills are meant to fall between `sent` and the answer: fewer than 30 % of them, and the storm says nothing. */
  readonly isAboutCalls: boolean;
  /** Acts in the forge, told by its own hooks and its feed, in place of deliveries that we send. */
  readonly byForge?: { readonly dropPercent: number; readonly blackoutMs: number };
}

export type Tell = (line: string) => void;

interface Strike {
  readonly signal: Signal;
  /** Wait for a call under way. */
  readonly isAimed: boolean;
}

const LEASE_MS = 5_000;
/** Most kills are meant for a call under way; the others fall where they may. */
const AIMED = 0.7;
const AT_WORK_MS = 20_000;
/** A busy machine takes long until a process makes calls again. */
const CALLING_MS = 120_000;
const ALL_HIT_MS = 300_000;
const PROGRESS_EVERY_MS = 8_000;
/** Lost deliveries that are followed through the store. */
const FOLLOWED = 3;
/** Quiet deliveries at once. */
const QUIET_AT_ONCE = 16;

export async function runStorm(storm: Storm, tell: Tell, logs?: string): Promise<StormReport> {
  const forge = await ForgeProcess.start(storm.profile, Math.min(400, Math.max(24, Math.ceil(storm.deliveries / 8))));
  const chat = await ChatService.start(storm.seed, storm.faults !== undefined);
  let fleet: Fleet | null = null;
  try {
    await prepare(forge, storm);
    fleet = await Fleet.start({
      deployment: storm.deployment,
      forge,
      rules: rulesFor([...new Set(storm.kinds)]),
      settleS: storm.settleS,
      webs: storm.webs ?? 1,
      workers: storm.workers ?? 1,
      feedEveryS: storm.byForge ? 1 : 3600,
      chat: chat.url,
      logs,
    });
    const report = await new Running(storm, forge, fleet, chat, tell).run();
    if (logs && faultsOf(report).wrong.length > 0) tell(`  kept the bot's folder: ${fleet.keepFolder(logs)}`);
    return report;
  } finally {
    await fleet?.close();
    await forge.stop();
    await chat.close();
  }
}

/** What updates need is there beforehand. */
async function prepare(forge: ForgeProcess, { kinds, deliveries, seed, faults, latency }: Storm): Promise<void> {
  for (let n = 0; n < deliveries; n += 1) {
    const kind = kinds[n % kinds.length];
    const repo = forge.repos[n % forge.repos.length];
    if (kind === 'release')
      await forge.act('release.publish', { repo: `acme/${repo?.name}`, tag: keyOf(n), name: 'before', target: 'main' });
    if (kind === 'gone') await forge.act('branch.create', { repo: `acme/${repo?.name}`, branch: keyOf(n) });
    if (kind === 'update') await openPull(forge, `acme/${repo?.name}`, keyOf(n));
    if (kind === 'orgvar') await forge.api('POST', `/orgs/acme/actions/variables/${keyOf(n)}`, { value: 'before' });
  }
  if (kinds.some(isAboutPull))
    for (const { name } of forge.repos) {
      for (const branch of ['release', GUARDED]) await forge.act('branch.create', { repo: `acme/${name}`, branch });
      const checks = { rule_name: GUARDED, enable_status_check: true, status_check_contexts: ['ci'] };
      await forge.api('POST', `/repos/acme/${name}/branch_protections`, checks);
    }
  // Each pull request is a commit behind its base.
  if (kinds.includes('update'))
    for (const { name } of forge.repos)
      await forge.act('push', {
        repo: `acme/${name}`,
        commits: [{ message: 'later', files: { 'later.txt': 'later' } }],
      });
  const plan = {
    seed,
    callers: ['bot'],
    ...(latency ? { latency: { on: 'writes', ...latency } } : {}),
    calls: faults ?? [],
  };
  if (latency || faults) await forge.control('POST', '/_sandbox/faults', plan);
}

/** A branch onto which nothing is merged but what its checks passed: none ever reports. */
const GUARDED = 'guarded';

/** A pull request of this title from a branch of this name. */
async function openPull(forge: ForgeProcess, repo: string, key: string, base = 'main'): Promise<JsonObject> {
  const commits = [{ message: key, files: { [`${key}.txt`]: key } }];
  await forge.act('push', { repo, branch: key, commits });
  return (await forge.act('pull.open', { repo, head: key, base, title: key }))['result'] as JsonObject;
}

/** A pull request as its kind wants it. */
async function makePull(
  forge: ForgeProcess,
  { name }: Repo,
  kind: Kind,
  key: string,
): Promise<{ number: string; sha: string }> {
  const repo = `acme/${name}`;
  const { number, head } = await openPull(forge, repo, key, kind === 'queue' || kind === 'unqueue' ? GUARDED : 'main');
  if (kind === 'port') await forge.act('pull.merge', { repo, number: Number(number) });
  const later = { do: 'merge', merge_when_checks_succeed: true };
  if (kind === 'unqueue') await forge.api('POST', `/repos/${repo}/pulls/${String(number)}/merge`, later);
  return { number: String(number), sha: String((head as JsonObject)['sha']) };
}

class Running {
  private readonly random: SeededRandom;
  private readonly sender: Sender;
  private readonly quietSender: Sender;
  private readonly tail: LedgerTail;
  /** Everything that was delivered, by its number. */
  private readonly sent: Sent[] = [];
  private readonly startedAt = Date.now();
  private readonly wanted: Wanted[] = [];
  /** Keys by `REPO#NUMBER` of what was asked about pull requests. */
  private readonly names = new Map<string, string>();
  private readonly hits = new Map<string, number>();
  private readonly flowsAgain: number[] = [];
  private readonly effectsInAll: number;
  private acked = 0;
  private effects = 0;
  private isDelivering = true;
  private areBlowsDone = false;
  private isOver = false;

  constructor(
    private readonly storm: Storm,
    private readonly forge: ForgeProcess,
    private readonly fleet: Fleet,
    private readonly chat: ChatService,
    private readonly tell: Tell,
  ) {
    this.random = seededRandom(storm.seed);
    this.sender = new Sender(() => fleet.receiver());
    this.quietSender = new Sender(() => fleet.receiver());
    this.tail = new LedgerTail(forge);
    const { kinds, deliveries, forMs } = storm;
    const effectsOf = (n: number): number => wantedOf(n, kinds[n % kinds.length] ?? 'label').length;
    this.effectsInAll =
      forMs === undefined
        ? Array.from({ length: deliveries }, (_, n) => effectsOf(n)).reduce((sum, count) => sum + count, 0)
        : Infinity;
  }

  async run(): Promise<StormReport> {
    const { storm } = this;
    const ticker = setInterval(() => this.tell(this.progressLine()), PROGRESS_EVERY_MS);
    const watching = this.watch();
    try {
      const blows = Promise.all(this.blows()).finally(() => (this.areBlowsDone = true));
      await Promise.all([storm.byForge ? this.actInForge() : this.deliver(), this.deliverQuietly()]);
      this.isDelivering = false;
      await blows;
      const drainedMs = await this.drain();
      this.isOver = true;
      await watching;
      return await this.report(drainedMs);
    } finally {
      this.isOver = true;
      clearInterval(ticker);
      await this.sender.close();
      await this.quietSender.close();
    }
  }

  /** 0 to 1: the share of the storm that is behind us; for those who receive it ends with the last delivery. */
  private progress(of: 'effects' | 'deliveries'): number {
    const { forMs, deliveries, quietDeliveries = 0 } = this.storm;
    if (forMs !== undefined) return (Date.now() - this.startedAt) / forMs;
    return of === 'effects'
      ? this.effects / this.effectsInAll
      : (this.acked + this.quietSender.acknowledged.size) / (deliveries + quietDeliveries);
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      this.effects = (await this.tail.effects()) + this.chat.calls.length;
      await wait(200);
    }
  }

  private async deliver(): Promise<void> {
    const { deliveries, kinds, forMs, backlog } = this.storm;
    let next = 0;
    const missing = forMs === undefined ? null : this.untilAllHit(this.startedAt + forMs);
    let isOver = false;
    void missing?.then(() => (isOver = true));
    const sendOn = async (): Promise<void> => {
      while (next < deliveries && !isOver) {
        if (this.wanted.length - this.effects > backlog) {
          await wait(20);
          continue;
        }
        const n = next++;
        const kind = kinds[n % kinds.length] ?? 'label';
        const repo = this.forge.repos[n % this.forge.repos.length];
        if (!repo) throw new Error('no repository');
        this.wanted.push(...wantedOf(n, kind));
        const delivery = deliveryOf(n, kind, repo);
        this.sent.push(delivery);
        await this.sender.deliver(delivery, () => false);
        this.acked += 1;
        if (this.sender.odd.length > 20) throw new Error(`the receiver answers oddly: ${this.sender.odd[0]}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, sendOn));
  }

  private async deliverQuietly(): Promise<void> {
    const { deliveries, quietDeliveries = 0, seed } = this.storm;
    const [repo] = this.forge.repos;
    if (!repo) throw new Error('no repository');
    const bodies = quietBodies(quietDeliveries, seed, repo.owner).map((body) => ({
      ...body,
      n: deliveries + body.n,
      signature: signatureOf(body.text),
    }));
    this.sent.push(...bodies);
    let next = 0;
    const sendOn = async (): Promise<void> => {
      for (let body = bodies[next++]; body; body = bodies[next++]) await this.quietSender.deliver(body, () => false);
    };
    await Promise.all(Array.from({ length: QUIET_AT_ONCE }, sendOn));
  }

  /** Over is a storm of so many minutes when its time is, no blow is left, and every fault was met: on a slow machine that takes longer, within reason. */
  private async untilAllHit(end: number): Promise<void> {
    const names = (this.storm.faults ?? []).map((one) => (one as { name: string }).name);
    while (Date.now() < end || !this.areBlowsDone) await wait(200);
    for (const since = Date.now(); Date.now() - since < ALL_HIT_MS; await wait(1_000)) {
      const { hits } = (await this.forge.control('GET', '/_sandbox/faults')) as unknown as {
        hits: Record<string, number>;
      };
      if (names.every((name) => (hits[name] ?? 0) > 0)) return;
    }
  }

  /** The forge tells once, drops many, and is silent for a time; its feed knows all. */
  private async actInForge(): Promise<void> {
    const { deliveries, kinds, byForge, seed } = this.storm;
    await this.forge.control('POST', '/_sandbox/hooks', {
      org: 'acme',
      url: `${await this.fleet.receiver()}/webhooks/acme`,
      secret: HOOK_SECRET,
      events: ['issues'],
    });
    const drop = async (percent: number): Promise<unknown> =>
      this.forge.control('POST', '/_sandbox/deliveries', { clear: true, drop: { percent, seed } });
    await drop(byForge?.dropPercent ?? 0);
    let blackout: Promise<unknown> | null = null;
    for (let n = 0; n < deliveries; n += 1) {
      while (this.wanted.length - this.effects > this.storm.backlog) await wait(20);
      const kind = kinds[n % kinds.length] ?? 'label';
      const repo = this.forge.repos[n % this.forge.repos.length];
      this.wanted.push(...wantedOf(n, kind));
      if (!repo) throw new Error('no repository');
      await this.askInForge(kind, repo, keyOf(n));
      this.acked += 1;
      if (n >= deliveries / 2)
        blackout ??= drop(100)
          .then(() => wait(byForge?.blackoutMs ?? 0))
          .then(() => drop(byForge?.dropPercent ?? 0));
    }
    await blackout;
    const { deliveries: history } = (await this.forge.control(
      'GET',
      '/_sandbox/deliveries?state=dropped',
    )) as unknown as { deliveries: unknown[] };
    this.hit('delivery dropped', history.length);
  }

  private async askInForge(kind: Kind, repo: Repo, key: string): Promise<void> {
    const about = isAboutPull(kind) ? await makePull(this.forge, repo, kind, key) : null;
    if (about) this.names.set(`${repo.name}#${about.number}`, key);
    const title = [kind, key, ...(about ? [about.number, about.sha] : [])].join(' ');
    await this.forge.act('issue.open', { repo: `acme/${repo.name}`, title });
  }

  /** Every kind of blow on a schedule of its own, spread over the storm by the seed. */
  private blows(): Promise<void>[] {
    const { storm, fleet } = this;
    const some = (count: number | undefined, signal: Signal, isAimed = false): Strike[] =>
      Array<Strike>(count ?? 0).fill({ signal, isAimed });
    const aimed = storm.isAboutCalls ? Math.ceil(AIMED * (storm.kills ?? 0)) : 0;
    const strikes = this.random.shuffle<Strike>([
      ...some(aimed, 'SIGKILL', true),
      ...some((storm.kills ?? 0) - aimed, 'SIGKILL'),
      ...some(storm.terms, 'SIGTERM'),
      ...some(storm.stops, 'SIGSTOP'),
    ]);
    const redis = this.random.shuffle([
      ...Array<string>(storm.redisFlushes ?? 0).fill('flush'),
      ...Array<string>(storm.redisKills ?? 0).fill('kill'),
    ]);
    const toxics = this.random.shuffle<Toxic>(TOXICS.flatMap((toxic) => Array<Toxic>(storm.toxics ?? 0).fill(toxic)));
    return [
      this.spread(
        strikes,
        ({ signal }) => signal,
        (strike, random) => this.strike(random.pick(fleet.workers), strike, random),
      ),
      this.spread(
        Array<null>(storm.receiverKills ?? 0).fill(null),
        () => 'receiver SIGKILL',
        (_, random) => this.strikeReceiver(random.pick(fleet.receivers), random),
        'deliveries',
      ),
      this.spread(
        redis,
        (how) => `redis ${how}`,
        (how, random) => this.strikeRedis(how, random),
      ),
      this.spread(
        Array<null>(storm.postgresRestarts ?? 0).fill(null),
        () => 'postgres restart',
        (_, random) => this.restartPostgres(random),
      ),
      this.spread(
        toxics,
        (toxic) => `proxy ${toxic}`,
        (toxic, random) => this.poison(toxic, random),
      ),
    ];
  }

  /** A machine that was too slow for all blows in the time given deals each kind at least once. */
  private isTooLateFor(name: string): boolean {
    return this.storm.forMs !== undefined && this.progress('effects') >= 1 && (this.hits.get(name) ?? 0) > 0;
  }

  private async spread<T>(
    list: readonly T[],
    nameOf: (one: T) => string,
    strike: (one: T, random: SeededRandom) => Promise<void>,
    of: 'effects' | 'deliveries' = 'effects',
  ): Promise<void> {
    const random = seededRandom(this.random.below(2 ** 31));
    // The last tenth is left alone: what it is doing then, it must still be able to end.
    const moments = list.map((_, n) => (0.9 * (n + 0.1 + 0.9 * random.next())) / list.length);
    for (const [n, one] of list.entries()) {
      if (this.isTooLateFor(nameOf(one))) continue;
      while (this.progress(of) < (moments[n] ?? 0) && (this.isDelivering || !(await this.isIdle()))) await wait(20);
      await strike(one, random);
    }
  }

  /** Nothing more comes, and the bot has been silent. */
  private async isIdle(): Promise<boolean> {
    return !this.isDelivering && Date.now() - this.tail.lastSeenAt > (this.storm.settleS + 10) * 1000;
  }

  private isAllMade(): boolean {
    return !this.isDelivering && this.effects >= this.wanted.length;
  }

  private async strike(slot: Slot, { signal, isAimed }: Strike, random: SeededRandom): Promise<void> {
    let starts: number;
    do {
      await slot.bot();
      starts = slot.starts;
      // One that is at work again; for one that has nothing to do nobody waits for ever.
      for (const since = Date.now(); this.tail.lastWriteOf(slot.host) < slot.upAt && Date.now() - since < AT_WORK_MS;)
        await wait(20);
      await wait(random.below(700));
      if (isAimed)
        for (
          const since = Date.now();
          !(await this.tail.isCalling(slot.host)) && Date.now() - since < CALLING_MS && !this.isAllMade();
        )
          await wait(5);
      // Another blow may have fallen meanwhile: a process that has only just started makes no call.
    } while (isAimed && slot.starts !== starts && !this.isAllMade());
    this.hit(signal);
    await slot.strike(signal, 2 * LEASE_MS + random.below(1_000));
  }

  /** In the middle of what it takes in. */
  private async strikeReceiver(slot: Slot, random: SeededRandom): Promise<void> {
    await slot.bot();
    await wait(random.below(50));
    this.hit('receiver SIGKILL');
    await slot.strike('SIGKILL', 0, true);
  }

  private async strikeRedis(how: string, random: SeededRandom): Promise<void> {
    const { redis } = this.fleet;
    if (!redis) return;
    this.hit(`redis ${how}`);
    if (how === 'flush') {
      const client = new Redis(redis.url, { maxRetriesPerRequest: 1 });
      await client.flushall().finally(() => client.disconnect());
    } else {
      await redis.kill();
      await wait(random.below(2_000));
      await redis.restart();
    }
    await this.measureFlow();
  }

  private async restartPostgres(random: SeededRandom): Promise<void> {
    const { postgres } = this.fleet;
    if (!postgres) return;
    await wait(1_000 + random.below(4_000));
    this.hit('postgres restart');
    await postgres.kill();
    await wait(random.below(2_000));
    await postgres.restart();
    await this.measureFlow();
  }

  private async poison(toxic: Toxic, random: SeededRandom): Promise<void> {
    const { fleet } = this;
    const worker = random.pick(fleet.workers);
    await worker.bot();
    const [name, proxy] = random.pick([
      ['forge', worker.proxy] as const,
      ...(fleet.postgresProxy ? [['postgres', fleet.postgresProxy] as const] : []),
      ...(fleet.redisProxy ? [['redis', fleet.redisProxy] as const] : []),
    ]);
    // A connection that carries nothing meanwhile suffers nothing.
    const before = proxy.hits[toxic];
    for (let tries = 0; tries < 30 && proxy.hits[toxic] === before; tries += 1)
      await proxy.suffer(toxic, 500 + random.below(1_500));
    if (proxy.hits[toxic] > before) this.hit(`proxy ${toxic}`);
    this.tell(`  ${toxic} between us and ${name}`);
  }

  /** How long until the next effect: work flows again. */
  private async measureFlow(): Promise<void> {
    const before = this.effects;
    const since = Date.now();
    while (this.effects <= before && Date.now() - since < 30_000 && this.wanted.length > this.effects) await wait(50);
    if (this.effects > before) this.flowsAgain.push(Date.now() - since);
  }

  private hit(what: string, count = 1): void {
    this.hits.set(what, (this.hits.get(what) ?? 0) + count);
  }

  /** Wait until everything is made and ended, or nothing moves any more. */
  private async drain(): Promise<number> {
    const stores = this.fleet.postgres ? await this.fleet.openStores() : null;
    return this.drainOf(stores).finally(() => stores?.close());
  }

  private async drainOf(stores: Stores | null): Promise<number> {
    const since = Date.now();
    // Nothing that waits waits this long by itself; a process that starts on a busy machine may. Where nothing can be read back, what
    // stands behind a waiting intent stays planned, and an embedded bot's status does not tell that apart.
    const isHeldUp = this.storm.profile === 'core' && !stores;
    const quietMs = (2 * this.storm.settleS + (isHeldUp ? 30 : 90)) * 1000;
    let open = -1;
    let changedAt = Date.now();
    while (Date.now() - since < 600_000) {
      const now = stores ? await openCount(stores) : await openOfEmbedded(this.fleet);
      if (now === 0) break;
      if (now !== open) changedAt = Date.now();
      open = now;
      if (Date.now() - changedAt > quietMs && Date.now() - this.tail.lastSeenAt > 2 * LEASE_MS) break;
      await wait(this.fleet.postgres ? 300 : 2_000);
    }
    // What comes late comes before the count, and the sweep after it.
    if (this.storm.faults) await wait(5_000);
    return Date.now() - since;
  }

  private progressLine(): string {
    const seconds = Math.round((Date.now() - this.startedAt) / 1000);
    const hits = [...this.hits].map(([name, count]) => `${count} ${name}`).join(', ');
    return `+${seconds} s  ${this.acked} told, ${this.effects} of ${this.wanted.length} effects${hits ? `, ${hits}` : ''}`;
  }

  private async report(drainedMs: number): Promise<StormReport> {
    const { storm, fleet, forge } = this;
    await fleet.stop();
    const calls = await readLedger(forge, false);
    const verdict = judge([...calls, ...this.chat.calls], this.wanted, () => false, this.names);
    const stores = await fleet.openStores();
    const [cross, stored] = await this.countIn(stores)
      .then(async (counted) => {
        await this.followLost(stores, explainMissing(verdict, counted[0]).lost);
        return counted;
      })
      .finally(() => stores.close());
    const { hits: faultHits } = (await forge.control('GET', '/_sandbox/faults')) as unknown as {
      hits: Record<string, number>;
    };
    const allBlows = fleet.slots.flatMap((slot) => slot.blows);
    const blows = allBlows.filter(({ isOfReceiver }) => !isOfReceiver);
    const receiverBlows = allBlows.filter(({ isOfReceiver }) => isOfReceiver);
    const missing = explainMissing(verdict, cross);
    const keyless = new Set<string>(KEYLESS);
    const waitingKeys = cross.notDone.filter(({ state }) => state === 'waiting').map(({ key }) => key);
    const ackedAt = new Map([...this.sender.acknowledged].map(([n, { at }]) => [n, at]));
    const effectMs = [...ackedAt].flatMap(([n, at]) =>
      wantedOf(n, storm.kinds[n % storm.kinds.length] ?? 'label').flatMap((one) => {
        const made = verdict.madeAt.get(keyText(one));
        return made === undefined ? [] : [Math.max(0, made - at)];
      }),
    );
    return {
      goal: storm.goal,
      seed: storm.seed,
      deployment: storm.deployment,
      profile: storm.profile,
      settleS: storm.settleS,
      tookMs: Date.now() - this.startedAt,
      drainedMs,
      deliveries: this.acked,
      wanted: verdict.wanted,
      made: verdict.made,
      lost: missing.lost,
      doubled: verdict.doubled,
      phantom: verdict.phantom,
      stuck: missing.stuck,
      waiting: missing.waiting.length,
      waitingAll: waitingKeys.length,
      unconfirmed: missing.unconfirmed.length,
      repeated: verdict.repeated.length,
      hits: { ...Object.fromEntries(this.hits), ...faultHits },
      planned: this.plannedClasses(),
      phases: phasesOf(blows, calls),
      receiverKills: receiverBlows.filter(({ signal }) => signal === 'SIGKILL').length,
      isAboutCalls: storm.isAboutCalls,
      ackMs: percentiles([...this.sender.acknowledged.values()].map(({ tookMs }) => tookMs)),
      effectMs: percentiles(effectMs),
      resumeMs: percentiles(resumeTimes(blows, calls)),
      flowsAgainMs: percentiles(this.flowsAgain),
      unanswered: this.sender.unanswered + this.quietSender.unanswered,
      odd: [...this.sender.odd, ...this.quietSender.odd],
      stored,
      crashes: fleet.slots.flatMap(({ crashes }) => crashes),
      slowStops: fleet.slots.flatMap(({ stopsOverTen }) => stopsOverTen),
      states: cross.states,
      keyless:
        storm.profile === 'core'
          ? {
              waiting: cross.waitingKeyless,
              unanswered: cross.unansweredKeyless,
              settledByArrival: cross.settledByArrival,
              appliedTwice: verdict.doubled.filter((text) => keyless.has(text.split(' ')[0] ?? '')).length,
            }
          : null,
    };
  }

  /** Tell what the store holds of the first deliveries whose effects are lost. */
  private async followLost(stores: Stores, lost: readonly string[]): Promise<void> {
    const { kinds } = this.storm;
    const isLost = (n: number): boolean =>
      wantedOf(n, kinds[n % kinds.length] ?? 'label').some((one) =>
        lost.some((text) => text.startsWith(`${keyText(one)}:`)),
      );
    const followed = [...this.sender.acknowledged].filter(([n]) => isLost(n)).slice(0, FOLLOWED);
    for (const [n, { id, at }] of followed) {
      this.tell(`  lost: delivery ${n}, acknowledged as ${id} at ${new Date(at).toISOString()}`);
      for (const line of await followDelivery(stores, id)) this.tell(`    ${line}`);
    }
  }

  /** What the stores hold of the intents; and, where every delivery is ours, of the deliveries. */
  private async countIn(stores: Stores): Promise<[CrossCounts, StoredReport | null]> {
    const cross = await crossCounts(stores);
    if (this.storm.quietDeliveries === undefined) return [cross, null];
    const acknowledged = new Map([...this.sender.acknowledged, ...this.quietSender.acknowledged]);
    const counted = await countStored(stores, this.sent, acknowledged);
    return [cross, { ...counted, sent: this.sent.length, acknowledged: acknowledged.size }];
  }

  private plannedClasses(): string[] {
    const { storm } = this;
    const given: Array<[string, number | undefined]> = [
      ['SIGKILL', storm.kills],
      ['SIGTERM', storm.terms],
      ['SIGSTOP', storm.stops],
      ['receiver SIGKILL', storm.receiverKills],
      ['redis flush', storm.redisFlushes],
      ['redis kill', storm.redisKills],
      ['postgres restart', storm.postgresRestarts],
      ...TOXICS.map((toxic): [string, number | undefined] => [`proxy ${toxic}`, storm.toxics]),
      ['delivery dropped', storm.byForge?.dropPercent],
    ];
    return [
      ...given.filter(([, count]) => (count ?? 0) > 0).map(([name]) => name),
      ...(storm.faults ?? []).map((one) => (one as { name: string }).name),
    ];
  }
}
