import type { Alerts } from '../../../src/core/alerts.js';
import { textOf } from '../../../src/core/reason.js';
import type { Logger } from '../../../src/core/logger.js';
import { startBot, type RunningBot } from '../bot.js';
import type { Bug } from '../bugs.js';
import { SimForge, type Effect } from '../doubles/sim-forge.js';
import { SimQueue } from '../doubles/sim-queue.js';
import { SimStores } from '../doubles/sim-stores.js';
import { Judge } from '../judge.js';
import { Random } from './random.js';
import type { Scenario } from '../scenario.js';
import { SimProcess } from './sim-process.js';
import { Trace } from './trace.js';
import { VirtualTime } from './virtual-time.js';

/** How often each fault class comes while faults come at all. */
const ODDS = {
  'wake-lost': 0.1,
  'wake-twice': 0.1,
  'wake-late': 0.1,
  'store-before': 0.01,
  'store-after': 0.01,
  kill: 0.0015,
  stall: 0.002,
} as const;

const WRITE_FAULTS = [
  ['not-sent', 0.03],
  ['429', 0.04],
  ['5xx-before', 0.05],
  ['lost-before', 0.03],
  ['5xx-after', 0.06],
  ['lost-answer', 0.06],
  ['wrong-body', 0.03],
  ['late', 0.1],
] as const;

const READ_FAULTS = [
  ['not-sent', 0.01],
  ['429', 0.02],
  ['5xx-before', 0.03],
  ['lost-before', 0.01],
] as const;

export type ForgeFault = (typeof WRITE_FAULTS)[number][0];

const MOST_KILLS = 8;
const MOST_STALLS = 4;
export const START_MS = Date.parse('2026-11-20T11:59:20Z');

/** Where a blow falls for certain: at this point, the n-th time that it is passed. */
export interface Target {
  readonly point: string;
  readonly nth: number;
  readonly blow: 'kill' | 'stall';
}

/** Everything around the production code in one run of a seed. */
export class World {
  readonly time = new VirtualTime(START_MS);
  readonly trace: Trace;
  /** One stream for what happens in the network, one for blows: that a blow falls does not change what a delay was. */
  readonly chances: Random;
  private readonly blows: Random;
  readonly stores: SimStores;
  readonly forge: SimForge;
  readonly queue = new SimQueue(this);
  readonly judge: Judge;
  readonly points = new Set<string>();
  /** How often each point was passed, and at which a process was killed. */
  readonly passed = new Map<string, number>();
  readonly killedAt = new Map<string, number>();
  readonly faults = new Map<string, number>();
  readonly told: string[] = [];
  readonly bots: Array<RunningBot | null> = [];
  isCalm = false;
  private kills = 0;
  private stalls = 0;
  private incarnations = 0;

  constructor(
    readonly scenario: Scenario,
    readonly bug: Bug | null,
    private readonly target: Target | null,
    keepsLines: boolean,
  ) {
    this.chances = new Random(scenario.seed * 2 + 1);
    this.blows = new Random(scenario.seed * 2 + 2);
    this.trace = new Trace(keepsLines);
    this.stores = new SimStores({
      now: () => new Date(Math.floor(this.time.nowMs)),
      monotonicMs: () => this.time.nowMs,
    });
    this.forge = new SimForge(this, scenario.profile);
    this.judge = new Judge(this);
    this.stores.journal.onDecided = (id) => this.judge.decided(id);
    this.stores.journal.onClaimed = (intent) => this.judge.claimed(intent);
    this.stores.journal.onConsent = (ids, verdict) => this.judge.consent(ids, verdict);
  }

  /** Put a new process in its slot, as a supervisor does. */
  start(slot: number): void {
    const skewMs = this.scenario.skewsMs[slot] ?? 0;
    const process = new SimProcess(this, slot, `p${slot}.${(this.incarnations += 1)}`, skewMs);
    const begin = (): void => {
      this.bots[slot] = startBot(process, this.bug);
    };
    this.time.after(process, 1, begin);
  }

  kill(process: SimProcess, point: string): void {
    process.isDead = true;
    this.kills += 1;
    count(this.killedAt, point);
    this.bots[process.slot] = null;
    this.trace.add(this.time.nowMs, process.name, `killed ${point}`);
    this.judge.died(process);
    this.time.after(null, this.blows.between(200, 3_000), () => this.start(process.slot));
  }

  stall(process: SimProcess, point: string): void {
    this.stalls += 1;
    this.hit('stall');
    const ms = this.blows.between(2_000, 12_000);
    process.heldUntilMs = this.time.nowMs + ms;
    this.trace.add(this.time.nowMs, process.name, `stands still ${point}`);
  }

  blowAt(point: string): 'kill' | 'stall' | null {
    const nth = count(this.passed, point);
    if (this.isCalm) return null;
    if (this.target?.point === point && this.target.nth === nth) return this.target.blow;
    if (this.kills < MOST_KILLS && this.blows.chance(ODDS.kill)) return 'kill';
    if (this.stalls < MOST_STALLS && this.blows.chance(ODDS.stall)) return 'stall';
    return null;
  }

  delayMs(): number {
    return this.chances.between(0.05, 4);
  }

  chance(fault: keyof typeof ODDS): boolean {
    if (this.isCalm || !this.chances.chance(ODDS[fault])) return false;
    this.hit(fault);
    return true;
  }

  storeFault(point: string): 'before' | 'after' | null {
    if (point.startsWith('forge.')) return null;
    if (this.chance('store-before')) return 'before';
    return this.chance('store-after') ? 'after' : null;
  }

  forgeFault(isWrite: boolean): ForgeFault | null {
    if (this.isCalm) return null;
    let left = this.chances.next();
    for (const [fault, odds] of isWrite ? WRITE_FAULTS : READ_FAULTS) {
      left -= odds;
      if (left >= 0) continue;
      this.hit(`${isWrite ? 'write' : 'read'} ${fault}`);
      return fault;
    }
    return null;
  }

  /** What the forge tells of an effect of the bot: a delivery with the bot as its sender. */
  raise({ operation, name, repoId }: Effect): void {
    if (operation === 'createBranch') this.scenario.tell(this, { branch: name, repoId });
  }

  readonly alerts: Alerts = {
    raise: (key, alert) => void this.told.push(`${key} ${textOf(alert)}`),
    resolve: () => undefined,
  };

  loggerOf(process: SimProcess): Logger {
    const log = (facts: Readonly<Record<string, unknown>>, message: string): void =>
      this.log(process.name, message, facts);
    return { debug: () => undefined, info: log, warn: log, error: log };
  }

  /** Facts of a line are looked at once the run is over: what they hold then is what a file would hold. */
  log(who: string, message: string, facts: unknown): void {
    this.logged.push([who, message, facts]);
  }

  readonly logged: Array<[string, string, unknown]> = [];

  hit(fault: string): void {
    count(this.faults, fault);
  }
}

export function count(counts: Map<string, number>, key: string): number {
  const now = (counts.get(key) ?? 0) + 1;
  counts.set(key, now);
  return now;
}
