/** What a step belongs to; the steps of a process that was killed are never taken. */
export interface Owner {
  readonly name: string;
  isDead: boolean;
  /** It stands still until then (SIGSTOP): its steps wait, its calls under way do not. */
  heldUntilMs: number;
}

interface Step {
  atMs: number;
  readonly seq: number;
  readonly owner: Owner | null;
  run: (() => void) | null;
}

const nativeSetImmediate = globalThis.setImmediate;
/** Steps between two turns of the real event loop, which tell of rejections that nobody caught. */
const STEPS_PER_TURN = 256;
const GLOBALS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
] as const;

/**
 * The event loop of a simulation: one step at a time in the order of virtual time, and after each one all promises that it settled. While it
 * runs the global timers are its own, so that production code keeps its leases, waits and passes in virtual time. A step belongs to one
 * process, and so do the timers that are set in it.
 */
export class VirtualTime {
  nowMs: number;
  /** Whose step it is. */
  current: Owner | null = null;
  steps = 0;
  private heap: Step[] = [];
  private seq = 0;

  constructor(readonly startMs: number) {
    this.nowMs = startMs;
  }

  at(owner: Owner | null, atMs: number, run: () => void): Step {
    const step = { atMs: Math.max(atMs, this.nowMs), seq: (this.seq += 1), owner, run };
    this.push(step);
    return step;
  }

  after(owner: Owner | null, ms: number, run: () => void): Step {
    return this.at(owner, this.nowMs + ms, run);
  }

  /** Until it is over by its own word, nothing is left to do, or this time is reached. */
  async run(untilMs: number, isOver: () => boolean): Promise<void> {
    const before = this.takeGlobals();
    try {
      while (this.heap.length > 0 && !isOver()) {
        const step = this.pop();
        if (!step.run || step.owner?.isDead) continue;
        if (step.atMs > untilMs) break;
        this.nowMs = Math.max(this.nowMs, step.atMs);
        if (step.owner && step.owner.heldUntilMs > this.nowMs) {
          this.push({ ...step, atMs: step.owner.heldUntilMs });
          continue;
        }
        this.current = step.owner;
        this.steps += 1;
        step.run();
        // Everything that is ready now, and nothing else: ticks are taken when no microtask is left.
        if (this.steps % STEPS_PER_TURN === 0) await new Promise<void>((resolve) => void nativeSetImmediate(resolve));
        else await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    } finally {
      this.current = null;
      Object.assign(globalThis, before);
    }
  }

  private takeGlobals(): object {
    const before = Object.fromEntries(GLOBALS.map((name) => [name, globalThis[name]]));
    const clear = (timer: VirtualTimer | undefined): void => timer?.clear();
    const own = {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        new VirtualTimer(this, this.current, () => run(...args), Math.max(ms, 1), false),
      setInterval: (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
        new VirtualTimer(this, this.current, () => run(...args), Math.max(ms, 1), true),
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        new VirtualTimer(this, this.current, () => run(...args), 0, false),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
    Object.assign(globalThis, own);
    return before;
  }

  private push(step: Step): void {
    const { heap } = this;
    let at = heap.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isEarlier(step, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = step;
  }

  private pop(): Step {
    const { heap } = this;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const child = left + 1 < heap.length && isEarlier(heap[left + 1]!, heap[left]!) ? left + 1 : left;
      if (!isEarlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

/** What the global timers give back while a simulation runs. */
class VirtualTimer {
  private step: Step;

  constructor(time: VirtualTime, owner: Owner | null, run: () => void, ms: number, isRepeated: boolean) {
    const fire = (): void => {
      if (isRepeated) this.step = time.after(owner, ms, fire);
      run();
    };
    this.step = time.after(owner, ms, fire);
  }

  clear(): void {
    this.step.run = null;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function isEarlier(a: Step, b: Step): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq);
}
