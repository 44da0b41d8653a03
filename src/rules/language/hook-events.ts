import type { EventKind } from '../../core/event-kinds.js';
import { EVENT_TYPES } from '../../core/event-types.js';
import { defineReasons, type Reason } from '../../core/reason.js';
import { formatPosition } from './propose/misfit.js';
import type { Revision } from './revision.js';

/** What kind of server it is, as far as that is known. */
export type HookProduct = 'gitea' | 'forgejo' | 'unknown' | null;

/** A hook of the organization, as the forge lists it. */
export interface ListedHook {
  readonly active?: boolean | null | undefined;
  readonly events?: readonly string[] | null | undefined;
}

const REVIEW = 'pull_request_review';
/** Under these names Forgejo keeps `pull_request_review`, which is the only name that any server takes. */
const REVIEWS = ['approved', 'rejected', 'comment'].map((verdict) => `${REVIEW}_${verdict}`);
/** Names of one product; the other drops them without a word. */
const OF_GITEA: ReadonlySet<string> = new Set(['status', 'workflow_run', 'workflow_job']);
const OF_FORGEJO: ReadonlySet<string> = new Set(['action_run_success', 'action_run_failure', 'action_run_recover']);

/** Names with which a hook asks for all events of a kind; empty = this server sends none. A server that is not known is taken for a Gitea. */
export function hookEventsOf(kind: EventKind, product: HookProduct = null): string[] {
  const others = product === 'forgejo' ? OF_GITEA : OF_FORGEJO;
  const names = (EVENT_TYPES.get(kind)?.webhook ?? []).filter((name) => !others.has(name));
  return [...new Set(names.map((name) => (REVIEWS.includes(name) ? REVIEW : name)))];
}

/** Every name that a hook must ask with so that each rule is started by deliveries, where deliveries can tell it. */
export function neededEvents({ rules }: Pick<Revision, 'rules'>, product: HookProduct = null): string[] {
  return [...new Set(rules.flatMap(({ on }) => on.flatMap((kind) => hookEventsOf(kind, product))))].sort();
}

/** Names for every kind that polling finds too: without its delivery such an event is a gap, whatever the rules need. */
export function comparedEvents(product: HookProduct = null): string[] {
  const compared = [...EVENT_TYPES].filter(([, { feed, tasks, lists }]) => [...feed, ...tasks, ...lists].length > 0);
  return [...new Set(compared.flatMap(([kind]) => hookEventsOf(kind, product)))].sort();
}

/** A name as the server shows it when the hook is read back. */
export function shownEvents(names: readonly string[], product: HookProduct): string[] {
  return names.flatMap((name) => (name === REVIEW && product === 'forgejo' ? REVIEWS : [name]));
}

/** Names to ask with so that a hook keeps what it shows: `issues` alone would ask for assignments, labels and milestones too. */
export function eventsToKeep(hookNames: readonly string[]): string[] {
  const requestNames = hookNames.map((name) =>
    REVIEWS.includes(name) ? REVIEW : name === 'issues' || name === 'pull_request' ? `${name}_only` : name,
  );
  return [...new Set(requestNames)].sort();
}

/** Which of the wanted names a hook does not ask for. */
export function missingEvents(wanted: readonly string[], hookNames: readonly string[]): string[] {
  const sent = new Set(hookNames.map((name) => name.toLowerCase()));
  return wanted.filter(
    (name) =>
      !sent.has(name) && !sent.has(`${name}_only`) && !(name === REVIEW && REVIEWS.some((one) => sent.has(one))),
  );
}

/** Whether a hook that shows these names asks for events of a kind: by any of the names that tell it. */
export function asksFor(kind: EventKind, hookNames: readonly string[], product: HookProduct = null): boolean {
  const names = hookEventsOf(kind, product);
  return missingEvents(names, hookNames).length < names.length;
}

const unsent = defineReasons({
  'hook.events.unsent': ({ at, id, kind, missing, isPolled }: UnsentEvents) =>
    `${at}: ${id} waits for ${kind}, and no active hook of the organization sends ${missing.join(', ')}; it ${isPolled ? 'is found by polling alone' : 'never starts'}`,
});

interface UnsentEvents {
  readonly at: string;
  readonly id: string;
  readonly kind: string;
  readonly missing: readonly string[];
  readonly isPolled: boolean;
}

/**
 * Rules whose events no active hook sends. Which hook is ours cannot always be told, so all active ones count together; an event that the
 * feed or the task list tells as well is found by polling, only later.
 */
export function unsentEvents(
  { rules }: Pick<Revision, 'rules'>,
  hooks: readonly ListedHook[],
  product: HookProduct = null,
): Reason[] {
  const sent = hooks.filter(({ active }) => active === true).flatMap(({ events }) => events ?? []);
  return rules.flatMap(({ id, on, position }) =>
    on.flatMap((kind) => {
      const missing = missingEvents(hookEventsOf(kind, product), sent);
      if (missing.length === 0) return [];
      const type = EVENT_TYPES.get(kind);
      const isPolled = type !== undefined && type.feed.length + type.tasks.length > 0;
      return [unsent('hook.events.unsent', { at: formatPosition(position), id, kind, missing, isPolled })];
    }),
  );
}
