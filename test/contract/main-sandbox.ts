import { resolve } from 'node:path';
import { stringifyJson } from '../../src/core/json.js';
import { PROFILE_NAMES } from '../../src/sandbox/profile.js';
import { faultsOf, readExcuses } from './excuses.js';
import { onlyNamed, type Options, wholeNumber, WrongUsage } from './options.js';
import { excuseFor, isGood, reportObject, showTotals, showVerdict, totalsOf } from './report.js';
import { runStories } from './run-stories.js';
import { isProfileName, startSandboxServer } from './sandbox-server.js';
import { selftest } from './selftest.js';
import { storiesAtHand, storiesFor, storiesIn } from './recordings.js';

/** Every story on a fresh sandbox of its own. @returns the exit status */
export async function playOnSandbox(options: Options): Promise<number> {
  if (options.profile !== undefined && !isProfileName(options.profile))
    throw new WrongUsage(`no profile ${options.profile}: there are ${PROFILE_NAMES.join(', ')}`);
  if (options.excuses !== undefined)
    throw new WrongUsage('--excuses goes with --url: those of the sandbox stand in docs/forges.md');
  const rename = wholeNumber(options.rename, '--rename');
  const seed = wholeNumber(options.seed, '--seed') ?? 1;
  const stories = onlyNamed(
    storiesFor(
      options.profile,
      options.recordings === undefined ? storiesAtHand() : storiesIn(resolve(options.recordings)),
    ),
    options.only,
  );
  const excuses = readExcuses(new URL('../../docs/forges.md', import.meta.url).pathname);
  const faults = faultsOf(excuses, stories);
  if (faults.length > 0) {
    console.error(faults.map((fault) => `docs/forges.md: ${fault}`).join('\n'));
    return 1;
  }

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
    console.log(
      stringifyJson({ ...reportObject(verdicts, excuses, totals), ...(tested ? { selftest: tested } : {}) }, 2),
    );
  } else {
    if (tested)
      console.log(
        [
          ...tested.missed.map((miss) => `not reported: ${miss}`),
          `self-test: ${tested.reported} of ${tested.changes} changes reported`,
        ].join('\n'),
      );
    console.log(showTotals(totals));
  }
  return isGood(totals, verdicts, isCore) && (tested === null || tested.missed.length === 0) ? 0 : 1;
}
