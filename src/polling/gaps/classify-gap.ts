import picomatch from 'picomatch';
import type { EventKind } from '../../core/event-kinds.js';
import type { JsonObject } from '../../core/json.js';
import { asksFor, hookEventsOf, type HookProduct } from '../../rules/language/hook-events.js';
import type { GapClass, Outage } from '../../pipeline/gap-store.port.js';

/** A webhook of this bot, as the forge shows it. */
export interface OwnHook {
  readonly active: boolean;
  readonly events: readonly string[];
  readonly branchFilter: string;
}

export interface DeliveryConditions {
  readonly outages: readonly Outage[];
  /** None = none points at us any more. Null when the forge does not show its hooks, or never showed one of ours. */
  readonly hooks: readonly OwnHook[] | null;
  /** What kind of server it is: each has event types of its own. */
  readonly product?: HookProduct;
}

export interface MissedFact {
  readonly kind: EventKind;
  readonly factAt: Date | null;
  readonly data: JsonObject;
  readonly hasRepeats: boolean;
}

/** The forge's times are whole seconds, cut off. */
const RESOLUTION_MS = 1_000;

/** Why the delivery of a fact did not come. Pure. */
export function classifyGap(
  fact: MissedFact,
  { outages, hooks, product = null }: DeliveryConditions,
): { class: GapClass; reason: string } {
  if (fact.hasRepeats)
    return {
      class: 'duplicate-hook',
      reason:
        'a delivery with the same text came before and was taken for the same fact (several hooks, or two acts in one second)',
    };
  const outage = outages.find((one) => wasDown(one, fact.factAt));
  if (outage)
    return {
      class: 'down',
      reason: `no receiver was alive from ${outage.from.toISOString()} to ${outage.to.toISOString()}`,
    };
  if (hooks?.length === 0)
    return { class: 'hook-inactive', reason: 'no webhook of the organization points at this bot any more' };
  if (!hooks) return { class: 'unknown', reason: 'the delivery did not come, and the forge does not show our webhook' };
  const active = hooks.filter((hook) => hook.active);
  if (active.length === 0) return { class: 'hook-inactive', reason: 'our webhook is switched off at the forge' };
  const subscribed = active.filter(({ events }) => asksFor(fact.kind, events, product));
  if (subscribed.length === 0)
    return {
      class: 'not-subscribed',
      reason: `our webhook does not ask for ${hookEventsOf(fact.kind, product).join(' or ') || fact.kind}`,
    };
  const ref = typeof fact.data.ref === 'string' ? fact.data.ref : null;
  if (ref !== null && HAS_REF.has(fact.kind) && subscribed.every(({ branchFilter }) => !mayPass(branchFilter, ref)))
    return { class: 'branch-filter', reason: `the branch filter of our webhook shuts ${ref} out` };
  return { class: 'unknown', reason: 'our webhook is there and active; the delivery was lost on its way or refused' };
}

const HAS_REF: ReadonlySet<EventKind> = new Set<EventKind>([
  'push',
  'branch.created',
  'branch.deleted',
  'tag.created',
  'tag.deleted',
]);

function wasDown({ from, to }: Outage, factAt: Date | null): boolean {
  return factAt !== null && factAt.getTime() + RESOLUTION_MS >= from.getTime() && factAt.getTime() <= to.getTime();
}

/** Some servers compare tags by their full ref, some let them all pass: a tag is shut out only by a filter that fits neither. */
function mayPass(filter: string, ref: string): boolean {
  if (filter === '' || filter === '*' || filter === '**') return true;
  const name = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref;
  return picomatch(filter, { bash: true, dot: true, nonegate: true, noextglob: true })(name);
}
