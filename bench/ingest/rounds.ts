import type { LoadGenerator } from './children.js';
import { usageOf } from './children.js';
import type { Contestant } from './contestants.js';
import type { LoadResult } from './load.js';

/** One run: one contestant at one number of connections in one round. */
export interface Run {
  readonly round: number;
  readonly server: Contestant['key'];
  readonly connections: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rss: number | null;
  /** Processor time of the server for one delivery, in microseconds. */
  readonly cpuUs: number | null;
  /** The same of the database server. */
  readonly databaseCpuUs: number | null;
  readonly acknowledged: number;
  /** Rows found afterwards; null for those that store nothing. */
  readonly stored: number | null;
}

export interface RoundsPlan {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
}

const LEAD_MS = 1000;
/** So many deliveries before anything is counted: code that is compiled while it runs is not at its best before. */
const WARM_UP_DELIVERIES = 40_000;
const WARM_UP = { connections: 128, leadMs: 0, countedMs: 2000, signAhead: 0 };
const WARM_UP_RUNS = 30;
/** Their numbers lie far from those of the rounds. */
const WARM_UP_FIRST = 2 ** 31;

/**
 * Everybody in turn, round after round, so that what else the machine does meets all alike. Every second round goes backwards: nobody always
 * follows the same one, whose dirty pages and heat it would inherit.
 */
export class Rounds {
  private readonly fastest = new Map<string, number>();

  constructor(
    private readonly load: LoadGenerator,
    private readonly contestants: readonly Contestant[],
    private readonly say: (line: string) => void,
  ) {}

  async run(plan: RoundsPlan): Promise<Run[]> {
    for (const contestant of this.contestants) await this.warmUp(contestant);
    const runs: Run[] = [];
    for (let round = 1; round <= plan.rounds; round += 1) {
      for (const connections of plan.connections) {
        const inTurn = round % 2 === 1 ? this.contestants : this.contestants.toReversed();
        for (const contestant of inTurn) {
          const run = await this.once(contestant, connections, round, plan.seconds * 1000);
          this.say(
            `round ${round}/${plan.rounds}  ${connections} connections  (${run.server}) ${contestant.name}: ${Math.round(run.perSecond)}/s, p99 ${run.p99Ms.toFixed(1)} ms`,
          );
          runs.push(run);
        }
      }
    }
    return runs;
  }

  private async warmUp({ key, name, port }: Contestant): Promise<void> {
    let sent = 0;
    for (let run = 0; run < WARM_UP_RUNS && sent < WARM_UP_DELIVERIES; run += 1) {
      // Each delivery is new here too: a known one takes another way.
      const result = await this.load.run({ ...WARM_UP, port, first: WARM_UP_FIRST + sent });
      sent += total(result);
      this.fastest.set(key, result.perSecond);
    }
    this.say(`warmed up (${key}) ${name} with ${sent} deliveries`);
  }

  private async once(
    { key, pid, port, table }: Contestant,
    connections: number,
    round: number,
    countedMs: number,
  ): Promise<Run> {
    await table?.empty();
    const before = { ...usageOf(pid), database: (await table?.databaseCpuMs()) ?? null };
    // Signed before the load begins, a little more than can be used up.
    const signAhead = Math.ceil((1.5 * (this.fastest.get(key) ?? 0) * (LEAD_MS + countedMs)) / 1000);
    const result = await this.load.run({ port, connections, leadMs: LEAD_MS, countedMs, signAhead, first: 0 });
    const after = { ...usageOf(pid), database: (await table?.databaseCpuMs()) ?? null };
    this.fastest.set(key, Math.max(this.fastest.get(key) ?? 0, result.perSecond));
    const answered = total(result);
    const acknowledged = Object.entries(result.statuses).reduce(
      (sum, [status, count]) => sum + (/^20[02]$/.test(status) ? count : 0),
      0,
    );
    if (acknowledged !== answered) throw new Error(`(${key}) refused deliveries: ${JSON.stringify(result.statuses)}`);
    const stored = table ? await table.count() : null;
    if (stored !== null && stored !== acknowledged)
      throw new Error(`(${key}) acknowledged ${acknowledged} deliveries and stored ${stored}`);
    const each = (from: number | null, to: number | null): number | null =>
      from !== null && to !== null ? ((to - from) * 1000) / answered : null;
    return {
      round,
      server: key,
      connections,
      perSecond: result.perSecond,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      rss: after.rss,
      cpuUs: each(before.cpuMs, after.cpuMs),
      databaseCpuUs: each(before.database, after.database),
      acknowledged,
      stored,
    };
  }
}

function total({ statuses }: LoadResult): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}
