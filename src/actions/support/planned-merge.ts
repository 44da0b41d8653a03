import type { TimelineEntry } from '../../core/objects/tracker.js';
import { idsOf } from './same-name.js';

/** Merges that somebody asked the forge to make once the checks succeed, as the timeline of a pull request tells: nothing else shows them. */
export interface SeenPlans {
  /** Of all plans that were ever made, oldest first. */
  readonly ids: readonly string[];
  /** The newest one was not taken back. */
  readonly isOpen: boolean;
  /** Who took the newest one back; null = nobody did. */
  readonly takenBackBy: { readonly id: string; readonly login: string } | null;
  /** A person took back what an effect of ours planned. */
  readonly isUndone?: boolean;
}

export function plansIn(timeline: readonly TimelineEntry[]): SeenPlans {
  const made = timeline.filter(({ type }) => type === 'pull_scheduled_merge');
  const newest = timeline.findLast(
    ({ type }) => type === 'pull_scheduled_merge' || type === 'pull_cancel_scheduled_merge',
  );
  const { id, login } = newest?.user ?? {};
  return {
    ids: idsOf(made),
    isOpen: newest?.type === 'pull_scheduled_merge',
    takenBackBy: newest?.type === 'pull_cancel_scheduled_merge' ? { id: id ?? '', login: login ?? '' } : null,
  };
}
