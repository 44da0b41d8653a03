import type { Clock } from '../../core/clock.js';
import { stringifyJson } from '../../core/json.js';
import type { AnyForgeCall, CallOptions, ReplyInfo } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';

/** What was read so long ago is read again. */
const FRESH_MS = 10_000;
/** Nothing that we do changes these: all runs share them, and a write may stand on them. */
export const OF_ALL_RUNS: ReadonlySet<OperationName> = new Set(['listOrgLabels']);
const ALL_RUNS = '';
/** Runs whose reads are kept; the oldest go first. */
const MAX_RUNS = 256;

interface Kept {
  readonly readAtMs: number;
  readonly answer: Promise<{ readonly value: unknown; readonly info: ReplyInfo | null }>;
}

/** Ends an action at its write: what it read was read for another of its run, and a write stands on reads of its own. */
export class ReadForAnother extends Error {
  constructor() {
    super('read for another intent of the run');
  }
}

/**
 * Identical reads of one run, made once: twelve labels that are all there cost one list. Nothing is written on the word of such a read,
 * since labels and milestones have no uniqueness at the forge: what would be written is looked for once more, right before.
 */
export class SharedReads {
  private readonly runs = new Map<string, Map<string, Kept>>();

  constructor(private readonly clock: Clock) {}

  /** The reads of one intent. */
  of(runId: string, forge: string): RunReads {
    return new RunReads(
      forge,
      (name) => this.kept(OF_ALL_RUNS.has(name) ? ALL_RUNS : runId),
      () => void this.runs.delete(runId),
      () => this.clock.monotonicMs(),
    );
  }

  private kept(runId: string): Map<string, Kept> {
    const known = this.runs.get(runId);
    if (known) return known;
    const fresh = new Map<string, Kept>();
    this.runs.set(runId, fresh);
    for (const oldest of this.runs.keys()) {
      if (this.runs.size <= MAX_RUNS) break;
      this.runs.delete(oldest);
    }
    return fresh;
  }
}

export class RunReads {
  private standsOnOthers = false;

  constructor(
    private readonly forge: string,
    private readonly keptFor: (name: OperationName) => Map<string, Kept>,
    private readonly forget: () => void,
    private readonly nowMs: () => number,
  ) {}

  async read(
    name: OperationName,
    next: AnyForgeCall,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown> {
    const key = `${this.forge} ${name} ${stringifyJson(args as never)}`;
    const reads = this.keptFor(name);
    const kept = reads.get(key);
    if (kept && this.nowMs() - kept.readAtMs < FRESH_MS) {
      this.standsOnOthers ||= !OF_ALL_RUNS.has(name);
      return tell(await kept.answer, options);
    }
    let info: ReplyInfo | null = null;
    // The age counts from before the read.
    const readAtMs = this.nowMs();
    const answer = next(args, { ...options, onReply: (reply) => void (info = reply) }).then((value) => ({
      value,
      info,
    }));
    reads.set(key, { readAtMs, answer });
    // A failure is its asker's; another may fare better.
    answer.catch(() => reads.delete(key));
    return tell(await answer, options);
  }

  /** @throws ReadForAnother when it would stand on a read that another intent made */
  beforeWrite(): void {
    const standsOnOthers = this.standsOnOthers;
    this.forget();
    if (standsOnOthers) throw new ReadForAnother();
  }
}

function tell({ value, info }: { value: unknown; info: ReplyInfo | null }, { onReply }: CallOptions): unknown {
  if (info) onReply?.(info);
  return value;
}
