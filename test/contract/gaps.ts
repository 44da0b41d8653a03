import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson, stringifyJson } from '../../src/core/json.js';
import { originOf } from './play.js';
import type { ExchangeStep, Step, Story } from './story.js';
import { isExchange, loadStories } from './story.js';

/**
 * Some recorded steps are left out of a set on purpose; where they changed something, a later step shows it. A step that is missing here
 * and stands in the same story of another server, at the same place, is put back to be played and not judged: there is nothing to hold
 * it against. Reads are left where they are.
 */
export function withSilentSteps(story: Story, siblings: readonly Story[]): Story {
  const last = story.steps.at(-1)?.n ?? 0;
  const known = new Set(story.steps.map((step) => step.n));
  const missing = Array.from({ length: last }, (_, i) => i + 1).filter((n) => !known.has(n));
  const silent = missing.flatMap((n) => {
    const found = siblings.flatMap((sibling) => silentStep(story, sibling, n))[0];
    return found ? [found] : [];
  });
  return silent.length === 0 ? story : { ...story, steps: [...story.steps, ...silent].sort((a, b) => a.n - b.n) };
}

/** @returns one step, or none */
function silentStep(story: Story, sibling: Story, n: number): ExchangeStep[] {
  const step = sibling.steps.find((one) => one.n === n);
  if (!step || !isExchange(step) || step.request.method === 'GET' || !isSamePlace(story, sibling, n)) return [];
  const [theirs, ours] = [originOf(sibling), originOf(story)];
  const text = theirs === '' ? stringifyJson(step) : stringifyJson(step).replaceAll(theirs, ours);
  return [{ ...(parseJson(text) as unknown as ExchangeStep), isSilent: true }];
}

/** Both stories count alike there: of the numbers that both have, those nearest to the gap stand for the same steps. */
function isSamePlace(story: Story, sibling: Story, n: number): boolean {
  const titles = new Map(sibling.steps.map((one) => [one.n, one.title]));
  const common = story.steps.filter((one) => titles.has(one.n));
  const isSame = (one: Step | undefined): boolean => one === undefined || titles.get(one.n) === one.title;
  return isSame(common.findLast((one) => one.n < n)) && isSame(common.find((one) => one.n > n));
}

/** The same stories of other servers: in `dir` itself, beside it, and in the committed selection. Those of the same family first. */
export function siblingsOf(story: Story, dir: string, stories: readonly Story[]): Story[] {
  const others = [...stories, ...storiesBelow(dirname(dir)), ...storiesBelow(SELECTION)].filter(
    (one) => one.story === story.story && one.server !== story.server,
  );
  const family = (one: Story): string => one.server.split(' ')[0] ?? '';
  return others.sort((a, b) => Number(family(b) === family(story)) - Number(family(a) === family(story)));
}

const SELECTION = fileURLToPath(new URL('../recordings', import.meta.url));
const read = new Map<string, Story[]>();

/** Of every folder of a server in `parent`; none where there is no such folder. */
function storiesBelow(parent: string): Story[] {
  const known = read.get(parent);
  if (known) return known;
  const servers = existsSync(parent)
    ? readdirSync(parent).filter((name) => existsSync(join(parent, name, 'exchanges')))
    : [];
  const stories = servers.flatMap((name) => loadStories(join(parent, name)));
  read.set(parent, stories);
  return stories;
}
