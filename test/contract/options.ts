import { parseArgs } from 'node:util';
import { messageOf } from '../../src/core/errors.js';
import type { Story } from './story.js';

export const USAGE = `usage: npm run contract -- [--recordings DIR] [--profile P] [--only STORY] [--json] [--selftest [--seed N]] [--rename SEED]
       npm run contract -- --url URL [--recordings DIR] [--excuses FILE] [--only STORY] [--json] [--seed N]

Plays every story below DIR on a fresh sandbox forge and holds each answer against the recorded one.
  --recordings DIR  one server's recordings or a folder of several; default $FORGEHAND_RECORDINGS, ../shared/recordings, test/recordings
  --profile P     gitea, gitea@1.26, gitea@1.24, forgejo or core: its own stories alone, where DIR has some; without it each story's own
  --only STORY    this story alone (labels, or gitea-1.27/labels); may be given several times
  --selftest      change recorded answers in 500 seeded ways; every change must be reported
  --rename SEED   other user, organization and repository names, other ids
With --url on a real server, under names of its own that it removes again (after a failure or Ctrl-C too):
  --url URL       http://host:port; credentials of a site administrator in FORGEHAND_ADMIN_TOKEN, or FORGEHAND_ADMIN_USER and FORGEHAND_ADMIN_PASSWORD
  --seed N        names to begin with; default: by the time
  --excuses FILE  steps that may differ on this server: a table with the heads Server, Story, Step, Reason
Status 1 on a difference or a step that is not offered (but for core), 2 on a wrong command line, 130 when stopped.`;

/** The command line itself is wrong. */
export class WrongUsage extends Error {}

export type Options = ReturnType<typeof readOptions>;

export function readOptions() {
  try {
    return parseArgs({
      options: {
        recordings: { type: 'string' },
        profile: { type: 'string' },
        rename: { type: 'string' },
        seed: { type: 'string' },
        url: { type: 'string' },
        excuses: { type: 'string' },
        only: { type: 'string', multiple: true },
        json: { type: 'boolean' },
        selftest: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new WrongUsage(messageOf(error));
  }
}

export function wholeNumber(text: string | undefined, option: string): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text))
    throw new WrongUsage(`${option} takes a whole number, got ${text}`);
  return text === undefined ? undefined : Number(text);
}

/** Stories by name, with or without the folder of their server; all when none is asked for. */
export function onlyNamed(stories: readonly Story[], names: readonly string[] = []): readonly Story[] {
  const unknown = names.filter((name) => !stories.some((story) => story.story === name || story.name === name));
  if (unknown.length > 0)
    throw new WrongUsage(
      `no story ${unknown.join(', ')}: there are ${[...new Set(stories.map((story) => story.story))].join(', ')}`,
    );
  return names.length === 0
    ? stories
    : stories.filter((story) => names.includes(story.story) || names.includes(story.name));
}
