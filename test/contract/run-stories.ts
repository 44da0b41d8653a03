import type { Verdict } from './judge.js';
import { judgeStory } from './judge.js';
import { playStory } from './play.js';
import { renameStory } from './rename.js';
import type { ContractServer, StartServer } from './server.js';
import type { Story } from './story.js';

export interface RunOptions {
  /** Which server to be; without it the story's own. */
  readonly profile?: string | undefined;
  /** Seed for other names and ids; without it the story as recorded. */
  readonly rename?: number | undefined;
  readonly tell?: (verdict: Verdict) => void;
}

/** Each story on a server of its own, one after another. */
export async function runStories(
  stories: readonly Story[],
  start: StartServer,
  options: RunOptions = {},
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const recorded of stories) {
    const story = options.rename === undefined ? recorded : renameStory(recorded, options.rename);
    const server = await start({
      profile: options.profile ?? profileFor(story.server),
      people: story.people,
      ...(options.rename === undefined ? {} : { firstId: shiftedId(options.rename) }),
    });
    for (const verdict of await playAndJudge(story, server)) {
      verdicts.push(verdict);
      options.tell?.(verdict);
    }
  }
  return verdicts;
}

async function playAndJudge(story: Story, server: ContractServer): Promise<Verdict[]> {
  try {
    return judgeStory(story, await playStory(story, server));
  } finally {
    await server.close();
  }
}

/** `gitea 1.26.3` -> `gitea@1.26`; the newest of each family goes by its bare name. */
export function profileFor(server: string): string {
  const [family = '', version = ''] = server.split(' ');
  if (family !== 'gitea') return family;
  const line = version.split('.').slice(0, 2).join('.');
  return line === NEWEST_GITEA ? 'gitea' : `gitea@${line}`;
}

const NEWEST_GITEA = '1.27';

/** Ids of a server with a past. */
function shiftedId(seed: number): bigint {
  return BigInt(1000 + ((seed * 7919) % 90_000));
}
