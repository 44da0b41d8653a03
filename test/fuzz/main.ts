import { parseArgs } from 'node:util';
import { fuzz, readSamples } from './fuzz.js';

/** `npm run storms -- fuzz [--seed N] [--count N]`: a million by default, from a seed of chance. The status is 0 only when nothing crashed. */
const GOAL = 1_000_000;
const SLICE = 20_000;
const MAX_SHOWN = 10;

const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(values.count ?? GOAL);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1)
  throw new Error('--seed and --count are whole numbers');

const samples = readSamples();
const startedAt = Date.now();
const counts = new Map<string, number>();
const outcomes = new Map<string, number>();
let crashes = 0;
const add = (to: Map<string, number>, from: ReadonlyMap<string, number>): void =>
  from.forEach((n, name) => to.set(name, (to.get(name) ?? 0) + n));

console.log(`seed ${seed}, ${count} mutations of ${samples.length} bodies`);
for (let done = 0; done < count; done += SLICE) {
  const tally = fuzz(samples, seed + done, Math.min(SLICE, count - done));
  add(counts, tally.counts);
  add(outcomes, tally.outcomes);
  for (const crash of tally.crashes)
    if (crashes++ < MAX_SHOWN) console.log(`seed ${crash.seed} (${crash.mutation}): ${crash.what}`);
}
const show = (table: ReadonlyMap<string, number>): string =>
  [...table]
    .sort()
    .map(([name, n]) => `  ${String(n).padStart(8)}  ${name}`)
    .join('\n');
console.log(
  `mutations\n${show(counts)}\noutcomes\n${show(outcomes)}\n${crashes} crashes, ${((Date.now() - startedAt) / 1000).toFixed(0)} s`,
);
process.exitCode = crashes === 0 ? 0 : 1;
