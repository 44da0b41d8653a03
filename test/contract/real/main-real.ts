import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { connectForge } from '../../../src/cli/real-forge/connect.js';
import { stringifyJson } from '../../../src/core/json.js';
import { readExcuses } from '../excuses.js';
import { onlyNamed, type Options, wholeNumber, WrongUsage } from '../options.js';
import { recordingsDir, storiesIn } from '../recordings.js';
import { excuseFor, isGood, reportObject, showTotals, showVerdict, totalsOf } from '../report.js';
import { storiesLike } from './nearest.js';
import { runOnReal } from './run-on-real.js';

const INTERRUPTED = 130;

/** Every story on a server that is known by address and credentials alone. @returns the exit status */
export async function playOnReal(options: Options, url: string): Promise<number> {
  for (const name of ['profile', 'rename', 'selftest'] as const)
    if (options[name] !== undefined) throw new WrongUsage(`--${name} is about the sandbox and goes not with --url`);
  const seed = wholeNumber(options.seed, '--seed') ?? Math.floor(Date.now() / 1000) % 1_000_000;
  const all = storiesIn(resolve(options.recordings ?? recordingsDir()));
  if (options.excuses !== undefined && !existsSync(options.excuses))
    throw new WrongUsage(`--excuses: there is no file ${options.excuses}`);
  const excuses = options.excuses === undefined ? [] : readExcuses(resolve(options.excuses));
  const say = (line: string): void => (options.json ? console.error : console.log)(line);
  const forge = await connectForge(url, process.env);
  const alike = storiesLike(all, forge.family, forge.version);
  const stories = onlyNamed(alike, options.only);
  say(
    `${forge.origin} is ${forge.family} ${forge.version}; held to the recordings of ${alike[0]?.server ?? '?'}; names of seed ${seed}`,
  );

  const { verdicts, skipped, left } = await stoppable((signal) =>
    runOnReal(stories, forge, {
      seed,
      signal,
      say,
      tell: (verdict) => {
        if (verdict.outcome !== 'equal') say(showVerdict(verdict, excuseFor(verdict, excuses)));
      },
    }),
  );
  const totals = totalsOf(verdicts, excuses, false);
  if (options.json)
    console.log(stringifyJson({ ...reportObject(verdicts, excuses, totals), server: forge.version, skipped, left }, 2));
  for (const { story, why } of skipped) say(`skipped ${story}: ${why}`);
  for (const line of left) say(`could not be removed, please do it: ${line}`);
  say(showTotals(totals));
  say(`${skipped.length} of ${stories.length} stories skipped`);
  if (stopped) return INTERRUPTED;
  return isGood(totals, verdicts, false) && left.length === 0 && verdicts.length > 0 ? 0 : 1;
}

let stopped = false;

/** The first signal stops before the next step and lets everything be removed, the second one ends at once. */
async function stoppable<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (stopped) process.exit(INTERRUPTED);
    stopped = true;
    console.error('stopping: what was made is removed …');
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await run(controller.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}
