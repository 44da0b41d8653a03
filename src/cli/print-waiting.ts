import { sayWaiting, type ShownWaiting } from '../core/waiting.js';
import { plain, when } from './print.js';
import { colour } from './terminal.js';

/** A line for each thing that waits: what, since when, what stands before it, what to do. */
export function waitingLines(waiting: readonly ShownWaiting[]): string[] {
  return waiting.map((one) => {
    const { code, org, since, todo, ids, count, byPlan } = one;
    const more = count > ids.length ? ', …' : '';
    const line = `waits: ${org === '' ? '' : `${org}: `}${sayWaiting(one)}, since ${when(since)} (${code}; ${ids.join(', ')}${more})${todo === null ? '' : `; ${todo}`}`;
    return (byPlan ? colour.cyan : colour.yellow)(plain(line));
  });
}
