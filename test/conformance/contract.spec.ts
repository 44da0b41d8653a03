import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { faultsOf, readExcuses } from '../contract/excuses.js';
import type { Verdict } from '../contract/judge.js';
import { storiesAtHand } from '../contract/recordings.js';
import { excuseFor, isGood, showVerdict, totalsOf } from '../contract/report.js';
import type { RunOptions } from '../contract/run-stories.js';
import { profileFor, runStories } from '../contract/run-stories.js';
import { startSandboxServer } from '../contract/sandbox-server.js';
import { selftest } from '../contract/selftest.js';
import type { Story } from '../contract/story.js';
import { loadStories } from '../contract/story.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const excuses = readExcuses(join(root, 'docs/forges.md'));
const SERVERS = ['gitea-1.27', 'gitea-1.26', 'gitea-1.24', 'forgejo-15'];
const storiesOf = storiesAtHand;
const newest = storiesOf('gitea-1.27');

/** What a person would read: every step that is neither equal nor excused. */
function complaints(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter((one) => one.outcome !== 'equal' && !excuseFor(one, excuses))
    .map((one) => showVerdict(one, undefined));
}

async function run(stories: readonly Story[], options: RunOptions = {}): Promise<Verdict[]> {
  return runStories(stories, startSandboxServer, options);
}

describe('conformance/contract', () => {
  describe.each(SERVERS)('%s', (server) => {
    const stories = storiesOf(server);
    let verdicts: Verdict[];
    beforeAll(async () => {
      verdicts = await run(stories);
    });

    it('is answered alike, step by step', () => {
      expect(complaints(verdicts)).toEqual([]);
    });

    it('is offered in full and compared in most of its leaves', () => {
      expect(isGood(totalsOf(verdicts, excuses, false), verdicts, false)).toBe(true);
      expect(verdicts.length).toBeGreaterThan(450);
    });

    it('is compared so that 500 single changes are all reported', () => {
      expect(selftest(verdicts, 1)).toEqual({ changes: 500, reported: 500, missed: [] });
    });

    it('is answered alike under other names and ids', async () => {
      expect(complaints(await run(stories, { rename: 1 }))).toEqual([]);
    });

    it('has a profile of its own', () => {
      expect(new Set(stories.map((story) => profileFor(story.server))).size).toBe(1);
    });
  });

  it('tells one server from another: no profile passes for another one', async () => {
    const strangers = [
      ['gitea', 'gitea-1.26'],
      ['gitea@1.26', 'gitea-1.24'],
      ['gitea@1.24', 'forgejo-15'],
    ] as const;

    for (const [profile, server] of strangers)
      expect(complaints(await run(storiesOf(server).slice(0, 3), { profile }))).not.toEqual([]);
  });

  it('is answered alike by the core profile, as far as that goes', async () => {
    const verdicts = await run(newest, { profile: 'core' });

    expect(complaints(verdicts.filter((one) => one.outcome !== 'not-offered'))).toEqual([]);
    expect(isGood(totalsOf(verdicts, excuses, true), verdicts, true)).toBe(true);
  });

  it('is played on the committed selection too', () => {
    const committed = SERVERS.flatMap((server) => loadStories(join(root, 'test/recordings', server)));

    expect(committed.map((story) => story.name)).toEqual(
      expect.arrayContaining(
        SERVERS.flatMap((server) =>
          ['labels', 'releases', 'push-mirrors', 'actions-runs'].map((name) => `${server}/${name}`),
        ),
      ),
    );
  });

  it('has no excuse that breaks the rules', () => {
    expect(faultsOf(excuses, SERVERS.flatMap(storiesOf))).toEqual([]);
  });
});
