import { parseArgs } from 'node:util';
import { BUGS } from './bugs.js';
import { simulate } from './simulate.js';
import { Tally } from './tally.js';

/**
 * `npm run simulation -- [--seeds N] [--from S] [--seed S] [--bug NAME]`: seeds one after another, a table of what was hit, and a status that
 * is 0 only when nothing was broken. `--seed` plays one seed and prints its trace.
 */
const { values } = parseArgs({ options: { seeds: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' }, bug: { type: 'string' } } });
const bug = values.bug === undefined ? null : (BUGS.find(({ name }) => name === values.bug) ?? null);
if (values.bug !== undefined && !bug) {
  console.error(`no such bug; there are: ${BUGS.map(({ name }) => `"${name}"`).join(', ')}`);
  process.exit(2);
}
const from = whole(values.seed ?? values.from, 1);
const seeds = values.seed === undefined ? whole(values.seeds, 1_000) : 1;
const tally = new Tally();
const startedMs = performance.now();
for (let seed = from; seed < from + seeds; seed += 1) {
  const result = await simulate(seed, { bug, keepsLines: values.seed !== undefined });
  tally.add(result);
  for (const line of result.lines) console.log(line);
  for (const { invariant, what, atMs } of result.violations)
    console.log(`seed ${seed}: invariant ${invariant} broken at ${new Date(atMs).toISOString()}: ${what}`);
  if (seed % 500 === 0) console.error(`${seed - from + 1} of ${seeds} seeds, ${tally.broken.length} broken`);
}
const seconds = (performance.now() - startedMs) / 1_000;
for (const line of tally.report(seeds >= 10_000)) console.log(line);
console.log(`${seeds} seeds from ${from} in ${seconds.toFixed(1)} s`);
if (seeds === 10_000) console.log(`goal simulation: wanted 300 s, measured ${seconds.toFixed(0)} s, ${seconds <= 300 ? 'met' : 'missed'}`);
process.exitCode = tally.broken.length > 0 || (seeds >= 10_000 && tally.missing().length > 0) ? 1 : 0;

function whole(text: string | undefined, otherwise: number): number {
  const number = Number(text ?? otherwise);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`${text ?? ''} is no whole number`);
  process.exit(2);
}
