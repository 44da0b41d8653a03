import { StoreUnavailable } from '../../../src/core/errors.js';
import type { Clock } from '../../../src/core/clock.js';
import type { World } from './world.js';
import type { Owner } from './virtual-time.js';

/** Ends what runs inside a transaction of a process that was killed: the database rolls it back. */
export class Killed extends Error {}

/**
 * One process of the bot. Everything it does outside itself goes through `call`: a point before and a point after, at each of which the
 * process may be killed, or stand still.
 */
export class SimProcess implements Owner {
  isDead = false;
  heldUntilMs = 0;
  /** Of the step under way: the attempt whose commit it was told. */
  sentJustNow: { intentId: string; attemptId: string } | null = null;
  readonly clock: Clock;
  /** Which process of the deployment it takes the place of. */
  readonly slot: number;

  constructor(
    readonly world: World,
    slot: number,
    readonly name: string,
    readonly skewMs: number,
  ) {
    this.slot = slot;
    const { time } = world;
    this.clock = { now: () => new Date(Math.floor(time.nowMs + skewMs)), monotonicMs: () => time.nowMs - time.startMs };
  }

  /** Call a port: away, done there, back. */
  call<Result>(
    point: string,
    run: () => Result | Promise<Result>,
    { canFail = true }: { canFail?: boolean } = {},
  ): Promise<Result> {
    const { world } = this;
    return new Promise<Result>((resolve, reject) => {
      // A killed process waits for ever.
      if (this.passes(beforeOf(point))) return;
      world.time.after(this, world.delayMs(), () => void this.there(point, run, canFail, resolve, reject));
    });
  }

  /** What it has in hand ends it, here and whoever takes it next. */
  diesOf(what: string): never {
    if (!this.isDead) {
      this.world.hit(what);
      this.world.kill(this, what);
    }
    throw new Killed(what);
  }

  /** A point inside a transaction, which is one step. */
  within(point: string): void {
    if (this.passes(point)) throw new Killed(point);
  }

  private async there<Result>(
    point: string,
    run: () => Result | Promise<Result>,
    canFail: boolean,
    resolve: (r: Result) => void,
    reject: (e: unknown) => void,
  ): Promise<void> {
    const { world } = this;
    const fault = canFail ? world.storeFault(point) : null;
    let settle: () => void;
    if (fault === 'before') settle = () => reject(new StoreUnavailable('the store is away'));
    else {
      try {
        const result = await run();
        world.trace.add(world.time.nowMs, this.name, point);
        settle =
          fault === 'after'
            ? () => reject(new StoreUnavailable('the answer of the commit was lost'))
            : () => resolve(result);
      } catch (error) {
        if (error instanceof Killed) return;
        settle = () => reject(error);
      }
    }
    if (this.passes(afterOf(point))) return;
    world.time.after(this, world.delayMs(), settle);
  }

  /** True when it was killed here. */
  passes(point: string): boolean {
    if (this.isDead) return true;
    const { world } = this;
    const blow = world.blowAt(point);
    if (blow === 'kill') world.kill(this, point);
    if (blow === 'stall') world.stall(this, point);
    return this.isDead;
  }
}

/** Points are passed some thousand times in a run: each name is made once. */
function named(suffix: string): (point: string) => string {
  const names = new Map<string, string>();
  return (point) => {
    let name = names.get(point);
    if (name === undefined) names.set(point, (name = `${point}:${suffix}`));
    return name;
  };
}

const beforeOf = named('before');
const afterOf = named('after');

/** A port of a process: every method of the real thing, through `call`. */
export function portOf<Port extends object>(
  process: SimProcess,
  name: string,
  real: Port,
  methods: readonly (keyof Port & string)[],
): Port {
  const port: Record<string, unknown> = {};
  for (const method of methods) {
    const inner = real[method] as unknown as (...args: unknown[]) => Promise<unknown>;
    process.world.points.add(`${name}.${method}`);
    const point = `${name}.${method}`;
    port[method] = (...args: unknown[]) => process.call(point, () => inner.apply(real, args));
  }
  return port as Port;
}
