import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stringifyJson } from '../../src/core/json.js';
import { isProfileName, PROFILE_NAMES } from '../../src/sandbox/profiles.js';
import { faultsOf, readExcuses } from './excuses.js';
import { excuseFor, isGood, reportObject, showTotals, showVerdict, totalsOf } from './report.js';
import { runStories } from './run-stories.js';
import { startSandboxServer } from './sandbox-server.js';
import { selftest } from './selftest.js';
import { recordingsDir, storiesFor, storiesIn } from './recordings.js';

const USAGE = `usage: npm run contract -- [--recordings DIR] [--profile P] [--json] [--selftest [--seed N]] [--rename SEED]

Plays every story below DIR on a fresh sandbox forge and holds each answer against the recorded one.
  --recordings DIR  one server's recordings or a folder of several; default $FORGEHAND_RECORDINGS, ../shared/recordings, test/recordings
  --profile P     gitea, gitea@1.26, gitea@1.24, forgejo or core: its own stories alone, where DIR has some; without it each story's own
  --selftest      change recorded answers in 500 seeded ways; every change must be reported
  --rename SEED   other user, organization and repository names, other ids
Status 1 on a difference or a step that is not offered (but for core), 2 on a wrong command line.`;

/** The command line itself is wrong. */
class WrongUsage extends Error {}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.help) return say(USAGE, 0);
  if (options.profile !== undefined && !isProfileName(options.profile))
    throw new WrongUsage(`no profile ${options.profile}: there are ${PROFILE_NAMES.join(', ')}`);
  const rename = wholeNumber(options.rename, '--rename');
  const seed = wholeNumber(options.seed, '--seed') ?? 1;
  const stories = storiesFor(options.profile, storiesIn(resolve(options.recordings ?? recordingsDir())));
  const excuses = readExcuses(new URL('../../docs/forges.md', import.meta.url).pathname);
  const faults = faultsOf(excuses, stories);
  if (faults.length > 0) return say(faults.map((fault) => `docs/forges.md: ${fault}`).join('\n'), 1);

  const verdicts = await runStories(stories, startSandboxServer, {
    profile: options.profile,
    rename,
    tell: (verdict) => {
      if (!options.json) console.log(showVerdict(verdict, excuseFor(verdict, excuses)));
    },
  });
  const isCore = options.profile === 'core';
  const totals = totalsOf(verdicts, excuses, isCore);
  const tested = options.selftest ? selftest(verdicts, seed) : null;
  if (options.json) {
    console.log(stringifyJson({ ...reportObject(verdicts, excuses, totals), ...(tested ? { selftest: tested } : {}) }, 2));
  } else {
    if (tested)
      console.log([...tested.missed.map((miss) => `not reported: ${miss}`), `self-test: ${tested.reported} of ${tested.changes} changes reported`].join('\n'));
    console.log(showTotals(totals));
  }
  return isGood(totals, verdicts, isCore) && (tested === null || tested.missed.length === 0) ? 0 : 1;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        recordings: { type: 'string' },
        profile: { type: 'string' },
        rename: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'boolean' },
        selftest: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(text: string | undefined, option: string): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new WrongUsage(`${option} takes a whole number, got ${text}`);
  return text === undefined ? undefined : Number(text);
}

function say(text: string, status: number): number {
  (status === 0 ? console.log : console.error)(text);
  return status;
}

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const isUsage = error instanceof WrongUsage;
  process.exitCode = say(isUsage ? `${error.message}\n\n${USAGE}` : error.message, isUsage ? 2 : 1);
}
