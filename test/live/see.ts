import { setTimeout as wait } from 'node:timers/promises';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { messageOf } from '../../src/core/errors.js';
import type { LiveBot } from './live-bot.js';
import type { Rows } from './rows.js';

const WITHIN_MS = 40_000;
/** So long the alerts of a process that was killed stay in the store, and so long deliveries may stand in the queue of a busy server. */
const ALERTS_WITHIN_MS = 200_000;
const LOOK_MS = 300;

/** What a look at the server came to: the wanted state in words, or why it is not there yet. */
export interface Look {
  readonly isThere: boolean;
  readonly seen: string;
}

export function isSame(seen: readonly unknown[], wanted: readonly unknown[]): Look {
  const text = (list: readonly unknown[]): string => list.map(String).sort().join(', ');
  return { isThere: text(seen) === text(wanted), seen: text(seen) || 'nothing' };
}

export function includes(seen: readonly unknown[], wanted: readonly unknown[]): Look {
  return { isThere: wanted.every((one) => seen.includes(one)), seen: seen.map(String).join(', ') || 'nothing' };
}

/** Look at the server until it is as wanted. A row says what was seen. */
export async function see(
  rows: Rows,
  part: string,
  what: string,
  look: () => Promise<Look>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const { isThere, seen } = await look().catch((error: unknown) => ({ isThere: false, seen: messageOf(error) }));
    if (isThere || Date.now() > end) return rows.check(part, what, isThere ? null : `seen: ${seen}`, seen);
    await wait(LOOK_MS);
  }
}

/** What an outage leaves behind for a day, and should: the deliveries that it cost. */
const OF_AN_OUTAGE: ReadonlySet<string> = new Set(['gaps']);

/** What the play itself makes red, and is told so: a red check in the queue, and pull requests that are merged before a reviewer could be asked. */
const MADE_RED: ReadonlySet<string> = new Set(['refused of merge-queue', 'refused of reviewer-by-turns']);

/**
 * Nothing waits, and nothing of the bot complains.
 * @param org doctor looks at this one
 * @param afterOutage the missing deliveries of the outage may still be named
 */
export async function seeSilence(
  rows: Rows,
  part: string,
  bot: LiveBot,
  org: string,
  afterOutage: boolean,
): Promise<void> {
  const waits = await bot.settled();
  const { behind } = await bot.status();
  const ended = behind
    .filter((one) => one.org === org && !MADE_RED.has(`${one.state} of ${one.rule}`))
    .map(({ rule, state, count }) => `${count} ${state} of ${rule}`);
  rows.check(
    part,
    'nothing waits',
    [...(waits ? [waits] : []), ...ended].join('; ') || null,
    'all is decided and done',
  );
  const look = async (): Promise<Look> => {
    const wrong = complaintsOf(await bot.status(), afterOutage);
    return { isThere: wrong.length === 0, seen: wrong.join('; ') || 'nothing to say' };
  };
  await see(rows, part, 'status and alerts are silent', look, ALERTS_WITHIN_MS);
  const { code, stdout, stderr } = await bot.run('doctor', '--org', org, '--json');
  const checks = code === 2 || code === 3 ? [] : findingsIn(stdout);
  const said = checks.length > 0 ? checks.join('; ') : stderr.trim() || `status ${String(code)}`;
  rows.check(part, 'doctor is silent', code === 0 ? null : said, 'nothing is wrong');
}

function complaintsOf({ alerts, rows, quarantined, held }: StatusReport, afterOutage: boolean): string[] {
  return [
    ...alerts.filter(({ code }) => !(afterOutage && OF_AN_OUTAGE.has(code))).map(({ message }) => `alert: ${message}`),
    ...rows.flatMap(({ name, heldBack, lacking }) => [...heldBack, ...lacking].map((one) => `${name}: ${one}`)),
    ...quarantined.map(({ topic, id }) => `quarantined: ${topic} ${id}`),
    ...held.map(({ org, kind, effects }) => `held: ${effects} effects of ${org} by the budget of ${kind}`),
  ];
}

function findingsIn(stdout: string): string[] {
  const { rows: checks } = JSON.parse(stdout) as {
    rows: Array<{ state: string; check: string; said: string; org?: string }>;
  };
  return checks
    .filter(({ state }) => state === 'warning' || state === 'problem')
    .map(({ check, org, said }) => `${check}${org ? ` (${org})` : ''}: ${said}`);
}
