import type { EventKind } from '../core/event-kinds.js';
import { EVENT_TYPES } from '../core/event-types.js';
import { formatPosition } from '../rules/propose/misfit.js';
import type { Revision } from '../rules/revision.js';

/** A hook of the organization, as the forge lists it. */
export interface ListedHook {
  readonly active?: boolean | null | undefined;
  readonly events?: readonly string[] | null | undefined;
}

/**
 * Rules whose events no active hook sends. Which hook is ours cannot always be told, so all active ones count together; an event that the
 * feed or the task list tells as well is found by polling, only later.
 */
export function unsentEvents({ rules }: Pick<Revision, 'rules'>, hooks: readonly ListedHook[]): string[] {
  const sent = new Set(hooks.filter(({ active }) => active === true).flatMap(({ events }) => events ?? []));
  return rules.flatMap(({ id, on, position }) =>
    on.flatMap((kind) => {
      const names = hookEventsOf(kind);
      if (names.length === 0 || names.some((name) => sent.has(name))) return [];
      const type = EVENT_TYPES.get(kind);
      const polled = type !== undefined && type.feed.length + type.tasks.length > 0;
      const meanwhile = polled ? '; it is found by polling alone' : '; it never starts';
      return [`${formatPosition(position)}: ${id} waits for ${kind}, and no active hook of the organization sends ${names[0]}${meanwhile}`];
    }),
  );
}

/** Names under which a hook is asked for the kind; the first one is the name to ask with. Servers read reviews back under two names. */
export function hookEventsOf(kind: EventKind): string[] {
  const names = EVENT_TYPES.get(kind)?.webhook ?? [];
  return [
    ...new Set(
      names.flatMap((name) => (name.startsWith('pull_request_review_') && name !== 'pull_request_review_request' ? ['pull_request_review', name] : [name])),
    ),
  ];
}
