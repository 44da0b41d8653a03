import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { siblingsOf, withSilentSteps } from './gaps.js';
import { profileFor } from './run-stories.js';
import type { Story } from './story.js';
import { loadStories } from './story.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The full recordings where they are (named by the environment, or beside the clone), else the committed selection. */
export function recordingsDir(server = ''): string {
  const places = [process.env.FORGEHAND_RECORDINGS, join(ROOT, '../shared/recordings'), join(ROOT, 'test/recordings')];
  const found = places
    .filter((place) => place !== undefined && place !== '')
    .map((place) => join(place ?? '', server))
    .find((place) => existsSync(place));
  if (found === undefined) throw new Error(`no recordings of ${server}`);
  return found;
}

/** Every story below a folder, ready to be played: what was left out on purpose and still matters is put back, unjudged. */
export function storiesIn(dir: string): Story[] {
  const stories = loadStories(dir);
  return stories.map((story) => withSilentSteps(story, siblingsOf(story, dir, stories)));
}

/** Every story that is at hand: the recordings, and those of the committed selection that they lack. */
export function storiesAtHand(server = ''): Story[] {
  const recorded = storiesIn(recordingsDir(server));
  const names = new Set(recorded.map(({ name }) => name));
  const servers = new Set(recorded.map(({ name }) => name.split('/')[0]));
  const committed = storiesIn(join(ROOT, 'test/recordings'));
  return [...recorded, ...committed.filter(({ name }) => !names.has(name) && servers.has(name.split('/')[0]))];
}

/** Those recorded on the server that a profile plays; all, where the folder has none of them. */
export function storiesFor(profile: string | undefined, stories: readonly Story[]): readonly Story[] {
  const wanted = profile === 'core' ? 'gitea' : profile;
  const own = stories.filter((story) => profileFor(story.server) === wanted);
  return own.length > 0 ? own : stories;
}
