import { existsSync, readFileSync } from 'node:fs';
import type { Story } from './story.js';
import { isExchange } from './story.js';

/** A step that may differ, as a row of the table in `docs/forges.md`. */
export interface Excuse {
  readonly server: string;
  readonly story: string;
  readonly step: number;
  readonly reason: string;
}

/** Beyond this the sandbox is no longer true to the recordings. */
export const MAX_EXCUSES = 10;

/**
 * Read the table whose heads are Server, Story, Step, Reason.
 * @throws Error when a row is not complete
 */
export function readExcuses(file: string): Excuse[] {
  if (!existsSync(file)) return [];
  const excuses: Excuse[] = [];
  let isTable = false;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const cells = /^\|(.*)\|\s*$/
      .exec(line)?.[1]
      ?.split('|')
      .map((cell) => cell.trim());
    if (!cells) isTable = false;
    else if (cells.map((cell) => cell.toLowerCase()).join('|') === 'server|story|step|reason') isTable = true;
    else if (isTable && !cells.every((cell) => /^:?-+:?$/.test(cell))) excuses.push(excuseOf(cells, line));
  }
  return excuses;
}

function excuseOf(cells: string[], line: string): Excuse {
  const [server = '', story = '', step = '', reason = ''] = cells;
  if (!server || !story || !/^\d+$/.test(step) || !reason)
    throw new Error(`an excuse needs server, story, step and reason: ${line}`);
  return { server, story, step: Number(step), reason };
}

/** Every way in which the excuses break their own rules; checked before anything is played. */
export function faultsOf(excuses: readonly Excuse[], stories: readonly Story[]): string[] {
  const faults: string[] = [];
  if (excuses.length > MAX_EXCUSES) faults.push(`${excuses.length} excuses, at most ${MAX_EXCUSES} are allowed`);
  for (const excuse of excuses) {
    const step = stories.find((story) => belongsTo(excuse, story))?.steps.find((one) => one.n === excuse.step);
    if (step && isExchange(step) && step.op !== undefined)
      faults.push(`${excuse.story} step ${excuse.step} has op ${step.op} and may not be excused`);
  }
  return faults;
}

/** `server` is the recorded server (`gitea 1.27.0-rc0`) or its folder (`gitea-1.27`). */
export function belongsTo(excuse: Excuse, story: Story): boolean {
  return excuse.story === story.story && (excuse.server === story.server || excuse.server === story.name.split('/')[0]);
}
