import { setTimeout as wait } from 'node:timers/promises';
import type { RealForge } from '../../../src/cli/real-forge/connect.js';
import type { Verdict } from '../judge.js';
import { compareStep, judgeStory } from '../judge.js';
import { playStory } from '../play.js';
import { namesOf, newNamesFor, renameStoryTo } from '../rename.js';
import type { Story } from '../story.js';
import { RealServer } from './real-server.js';
import { mindSettings, needsMore, Skipped } from './skipped.js';

export interface RealRun {
  readonly verdicts: readonly Verdict[];
  readonly skipped: readonly { readonly story: string; readonly why: string }[];
  /** What we made and could not remove. */
  readonly left: readonly string[];
}

export interface RealRunOptions {
  /** Seed of the names to begin with. */
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly tell: (verdict: Verdict) => void;
}

/** Names that are taken are drawn again, so often. */
const DRAWS = 20;
/** Nobody waits longer for a sign of life. */
const SIGN_OF_LIFE_MS = 8_000;

/** Plays stories one after another, each under names of its own, and takes everything away again after each. */
export async function runOnReal(
  stories: readonly Story[],
  forge: RealForge,
  { seed, signal, say, tell }: RealRunOptions,
): Promise<RealRun> {
  const verdicts: Verdict[] = [];
  const skipped: { story: string; why: string }[] = [];
  const left: string[] = [];
  for (const [at, story] of stories.entries()) {
    if (signal.aborted) break;
    const head = `[${at + 1} of ${stories.length}] ${story.name}`;
    const skip = (why: string): void => {
      skipped.push({ story: story.name, why });
      say(`${head}: skipped, ${why}`);
    };
    const why = needsMore(story);
    if (why !== null) {
      skip(why);
      continue;
    }
    say(`${head}: ${story.steps.length} steps`);
    const server = new RealServer(forge);
    try {
      for (const verdict of await playOne(story, server, seed + at, signal, (line) => say(`${head}: ${line}`))) {
        verdicts.push(verdict);
        tell(verdict);
      }
    } catch (error) {
      if (error instanceof Skipped) skip(error.message);
      else if (!signal.aborted) throw error;
    } finally {
      left.push(...(await server.clear()));
    }
  }
  return { verdicts, skipped, left };
}

async function playOne(
  recorded: Story,
  server: RealServer,
  seed: number,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<Verdict[]> {
  const story = renameStoryTo(recorded, await freeNames(recorded, server, seed));
  let done = 0;
  const over = new AbortController();
  void signOfLife(over.signal, () => say(`${done} of ${story.steps.length} steps played …`));
  try {
    await server.settle(story.people);
    const played = await playStory(story, server, {
      signal,
      isEqual: (one) => compareStep(story, one).differences.length === 0,
      watch: (one) => {
        done += 1;
        mindSettings(one);
      },
    });
    return judgeStory(story, played);
  } finally {
    over.abort();
  }
}

/** Names of the same length and order that nobody has there. */
async function freeNames(story: Story, server: RealServer, seed: number): Promise<Map<string, string>> {
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const names = newNamesFor(story, seed * DRAWS + draw);
    if ((await server.taken(ownersOf(story).flatMap((name) => names.get(name) ?? []))).length === 0) return names;
  }
  throw new Skipped(`no free names of the same length in ${DRAWS} draws`);
}

/** Of the names of a story those that people and organizations bear. */
function ownersOf(story: Story): string[] {
  const repositories = new Set(
    story.given.flatMap((entry) => (typeof entry.repo === 'string' ? [entry.repo.split('/')[1] ?? ''] : [])),
  );
  return namesOf(story).filter((name) => !repositories.has(name));
}

async function signOfLife(signal: AbortSignal, show: () => void): Promise<void> {
  while (!signal.aborted) {
    await wait(SIGN_OF_LIFE_MS, undefined, { signal, ref: false }).then(show, () => undefined);
  }
}
