import { EVENT_KINDS, type EventKind } from '../core/event-kinds.js';
import type { CompiledRule } from '../rules/language/revision.js';

/** Where no rule waits for tasks, one poll in so many reads those of every repository in turn. */
const QUIET_EVERY = 10;
/** After something happened in a repository, so many polls read its tasks: what a push starts begins soon. */
const MOVED_POLLS = 5;

/** What tasks and runs tell. */
export const KINDS_OF_TASKS: readonly EventKind[] = EVENT_KINDS.filter((kind) => /^(task|workflow)\./.test(kind));

/** What one poll of an organization's tasks reads: the lists in turn, those of repositories in which something happened, or none. */
export type TaskReading = 'turn' | 'moved' | 'none';

/**
 * The feed shows no task, no run and no schedule, so tasks that a rule waits for are read at every poll, and tasks that have not ended too. Pure.
 * @param poll how many came before it since the start of the process: the first one reads
 */
export function readingOf(facts: {
  readonly isAwaited: boolean;
  readonly hasOpen: boolean;
  readonly hasMoved: boolean;
  readonly poll: number;
}): TaskReading {
  if (facts.isAwaited || facts.hasOpen || facts.poll % QUIET_EVERY === 0) return 'turn';
  return facts.hasMoved ? 'moved' : 'none';
}

/** Calls of a poll where no rule waits for tasks, by what it takes to read them. */
export function callsOfQuietTasks(reading: number): number {
  return reading / QUIET_EVERY;
}

/** A revision, as far as its rules wait for something. */
interface WaitingRules {
  readonly revision: { readonly rules: ReadonlyArray<Pick<CompiledRule, 'disabled' | 'on'>> };
}

/**
 * Whether a rule waits for what tasks and runs show.
 * @param active null = no rules are loaded: any may wait
 * @param shadow null = there is none
 */
export function awaitsTasks(active: WaitingRules | null, shadow: WaitingRules | null): boolean {
  if (active === null) return true;
  const rules = [...active.revision.rules, ...(shadow?.revision.rules ?? [])];
  return rules.some(({ disabled, on }) => disabled === null && on.some((kind) => KINDS_OF_TASKS.includes(kind)));
}

/** Repositories in which something happened a few polls ago. */
export class MovedLately {
  private readonly pollsLeft = new Map<string, number>();

  /** Takes in what is new, for one poll more each time. */
  next(moved: Iterable<string>): ReadonlySet<string> {
    for (const [id, polls] of this.pollsLeft) {
      if (polls <= 1) this.pollsLeft.delete(id);
      else this.pollsLeft.set(id, polls - 1);
    }
    for (const id of moved) this.pollsLeft.set(id, MOVED_POLLS);
    return new Set(this.pollsLeft.keys());
  }
}
