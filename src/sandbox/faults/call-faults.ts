import { createHash } from 'node:crypto';
import { seededRandom, type SeededRandom } from '../../core/seeded-random.js';
import { isFor, type CallFault, type Fault, type FaultPlan } from './fault-plan.js';

interface CallSubject {
  readonly operation: string;
  readonly isWrite: boolean;
  readonly caller: string | null;
}

/** What becomes of one call. */
export interface CallFate {
  /** Null = nothing but the latency. */
  readonly name: string | null;
  readonly fault: Fault | null;
  readonly beforeMs: number;
  readonly afterMs: number;
  /** Drawn from the fault's own range: how late the effect comes. */
  readonly lateMs: number;
}

const UNTOUCHED: CallFate = { name: null, fault: null, beforeMs: 0, afterMs: 0, lateMs: 0 };

export interface FaultState {
  readonly plan: FaultPlan | null;
  readonly hits: ReadonlyMap<string, number>;
  readonly calls: ReadonlyMap<string, number>;
}

/** The plan of faults, and how often each class was hit. The n-th call of an operation meets the same fault under the same seed. */
export class CallFaults {
  #plan: FaultPlan | null = null;
  #hits = new Map<string, number>();
  #calls = new Map<string, number>();

  get plan(): FaultPlan | null {
    return this.#plan;
  }

  /** Every class of the plan with its hits, 0 included. */
  get hits(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#hits);
  }

  /** Another plan, or none; counts start anew. */
  use(plan: FaultPlan | null): void {
    this.#plan = plan;
    this.#hits = new Map(plan?.calls.map(({ name }) => [name, 0]));
    this.#calls = new Map();
  }

  meet({ operation, isWrite, caller }: CallSubject): CallFate {
    const plan = this.#plan;
    if (!plan || (plan.callers && !(caller !== null && plan.callers.includes(caller)))) return UNTOUCHED;
    const n = (this.#calls.get(operation) ?? 0) + 1;
    this.#calls.set(operation, n);
    const random = drawsOf(plan.seed, operation, n);
    const fault = this.#draw(plan, operation, isWrite, random);
    const { latency } = plan;
    const isSlowed = latency !== undefined && isFor(latency.on, operation, isWrite);
    return {
      name: fault?.name ?? null,
      fault: fault?.fault ?? null,
      beforeMs: isSlowed ? between(latency.before_ms, random) : 0,
      afterMs: isSlowed ? between(latency.after_ms, random) : 0,
      lateMs: fault?.fault.kind === 'late' ? between(fault.fault.ms, random) : 0,
    };
  }

  save(): FaultState {
    return { plan: this.#plan, hits: this.#hits, calls: this.#calls };
  }

  restore({ plan, hits, calls }: FaultState): void {
    this.#plan = plan;
    this.#hits = new Map(hits);
    this.#calls = new Map(calls);
  }

  #draw(plan: FaultPlan, operation: string, isWrite: boolean, random: SeededRandom): CallFault | null {
    let remaining = random.next() * 100;
    for (const one of plan.calls) {
      if (!isFor(one.on, operation, isWrite)) continue;
      remaining -= one.percent;
      if (remaining >= 0) continue;
      const hits = this.#hits.get(one.name) ?? 0;
      if (one.at_most !== undefined && hits >= one.at_most) return null;
      this.#hits.set(one.name, hits + 1);
      return one;
    }
    return null;
  }
}

/** Draws of their own for every call, so that the faults of one operation do not depend on how often another is called. */
function drawsOf(seed: number, operation: string, n: number): SeededRandom {
  return seededRandom(createHash('sha256').update(`${seed}/${operation}/${n}`).digest().readUInt32BE(0));
}

function between([from, to]: readonly [number, number], random: SeededRandom): number {
  return Math.round(from + (to - from) * random.next());
}
