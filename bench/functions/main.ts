// npm run bench -- functions: what a charged step of each function of the rule language takes on hostile input.
import { availableParallelism, loadavg } from 'node:os';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { STEPS_PER_DECISION } from '../../src/rules/language/propose/bindings.js';
import { HOSTILE_CALLS, HOSTILE_DATA } from '../../test/builders/hostile-calls.js';
import type { HostileInput } from '../../test/builders/hostile-calls.js';
import { short } from '../support/figures.js';
import { readOptions } from '../support/options.js';

const HELP = `npm run bench -- functions [options]

  --rounds N        rounds; the fastest of each call is told (default 5)
  --only NAME       only calls whose name has this
`;
/** Microseconds that a charged step may take at most, so that a decision whose steps are all spent takes about 100 ms. */
const GOAL_US = 3.5;
/** Steps of a call that cannot be refused; fewer tell of the call itself. */
const ENOUGH = 200;

function main(): number {
  const { rounds, only } = readOptions(HELP, { rounds: 5, only: null });
  const calls = HOSTILE_CALLS.filter(({ name }) => only === null || name.includes(only)).flatMap(prepare);
  const fastest = new Map(calls.map((call) => [call, Infinity]));
  for (let round = 0; round <= rounds; round += 1) {
    console.error(round === 0 ? 'warming up ...' : `round ${round} of ${rounds} ...`);
    for (const call of calls) {
      const best = fastest.get(call) ?? Infinity;
      // What is cheap by far is measured once.
      if (best / call.steps < GOAL_US / 2) continue;
      const from = process.cpuUsage();
      call.run();
      const { user, system } = process.cpuUsage(from);
      fastest.set(call, Math.min(best, user + system));
    }
  }
  console.log(
    `${availableParallelism()} cores, node ${process.versions.node}, load ${(loadavg()[0] ?? NaN).toFixed(1)}; processor time\n`,
  );
  console.log('| call | characters | steps | ms | ms a charged step |\n|---|---|---|---|---|');
  let worst = 0;
  for (const call of calls) {
    const { characters, steps } = call;
    const us = fastest.get(call) ?? NaN;
    console.log(
      `| \`${call.title.replaceAll('|', '\\|')}\` | ${characters} | ${steps} | ${short(us / 1000)} | ${(us / 1000 / steps).toFixed(5)} |`,
    );
    if (steps >= ENOUGH) worst = Math.max(worst, us / 1000 / steps);
  }
  const goal = { name: 'ms-a-charged-step (at most)', wanted: { atMost: GOAL_US / 1000 }, measured: worst } as const;
  console.log(
    `\ngoal ${goal.name}: wanted ${(GOAL_US / 1000).toFixed(4)}, measured ${worst.toFixed(5)}, ${worst <= GOAL_US / 1000 ? 'met' : 'missed'}`,
  );
  return worst <= GOAL_US / 1000 ? 0 : 1;
}

interface Prepared {
  readonly title: string;
  readonly characters: number;
  readonly steps: number;
  readonly run: () => void;
}

const engine = new CelEngine();
const DATA = Object.fromEntries(
  Object.entries({ ...HOSTILE_DATA, now: new Date(0) }).map(([name, value]) => [name, engine.bind(value)]),
);
const made = new Map<unknown, Map<number, unknown>>();

function bound(input: HostileInput, size: number): unknown {
  const known = made.get(input) ?? new Map<number, unknown>();
  made.set(input, known);
  if (!known.has(size)) known.set(size, engine.bind(input.of(size)));
  return known.get(size);
}

/** Sizes below the limits that functions have of their own: a larger input costs nothing but its refusal. */
const SIZES = [32 * 1024, 8 * 1024, 1024, 256];

/** A call on the largest of its inputs that a decision has steps for, and on smaller ones. */
function prepare({ source, inputs }: (typeof HOSTILE_CALLS)[number]): Prepared[] {
  const compiled = engine.compile(source, ['x', ...Object.keys(DATA)]);
  return inputs.flatMap((input) => {
    const at = (size: number): Prepared | null => {
      const bindings = Object.freeze({ ...DATA, x: bound(input, size) });
      const run = (budget: { remaining: number }): void => {
        try {
          compiled.evaluate(bindings, budget);
        } catch (error) {
          if (!(error instanceof Error)) throw error;
        }
      };
      const budget = { remaining: STEPS_PER_DECISION };
      run(budget);
      if (budget.remaining <= 0) return null;
      const title = `${source.slice(0, 60)} of ${input.title}`;
      return {
        title,
        characters: size,
        steps: STEPS_PER_DECISION - budget.remaining,
        run: () => run({ remaining: STEPS_PER_DECISION }),
      };
    };
    let largest = 4 * 1024 * 1024;
    let found = at(largest);
    while (!found && largest > 64) found = at((largest /= 2));
    return [found, ...SIZES.filter((size) => size < largest).map(at)].filter((one) => one !== null);
  });
}

process.exitCode = main();
