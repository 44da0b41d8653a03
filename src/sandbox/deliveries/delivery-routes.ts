import { z } from 'zod';
import { ok, Refusal } from '../answer.js';
import { checked, idField } from '../control/read.js';
import type { ControlCall, ControlRoute } from '../control/router.js';
import type { DeliveryQueue, DeliveryRecord } from './delivery-queue.js';
import type { FaultScope } from './delivery-faults.js';
import { HOOK_EVENTS, hookEventOf, type HookEventType } from './hook-events.js';

const eventType = z.enum(HOOK_EVENTS.map(({ type }) => type) as [HookEventType, ...HookEventType[]]);
const scope = { hook: idField.optional(), event_type: eventType.optional() };
const count = z.number().int().min(1).max(10_000);
const copyId = z.enum(['same', 'new']).default('same');

const wishes = z
  .strictObject({
    /** Drop the next ones, or about so many of a hundred from now on (0 ends that). */
    drop: z
      .union([
        z.strictObject({ next: count, ...scope }),
        z.strictObject({ percent: z.number().min(0).max(100), seed: z.number().int().default(1), ...scope }),
      ])
      .optional(),
    /** Send each of the next ones twice, or one of the history again now. */
    duplicate: z
      .union([
        z.strictObject({ next: count, id: copyId, ...scope }),
        z.strictObject({ delivery: z.string(), id: copyId }),
      ])
      .optional(),
    /** Send a copy now (of the named one, else of the last of the hook, else of the last), signed with a wrong secret. */
    forge: z.strictObject({ delivery: z.string().optional(), ...scope }).optional(),
    /** Forget all drops and duplicates that were asked for and not used up. */
    clear: z.literal(true).optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'one of drop, duplicate, forge, clear is needed');

/** Faults on the way: what a network and a stranger do to deliveries. */
export const deliveryFaultRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/deliveries',
  run: ({ parts, body }) => {
    const { deliveries } = parts;
    const wish = checked(wishes, body);
    if (wish.clear) deliveries.faults.clear();
    if (wish.drop) drop(deliveries, wish.drop);
    const made = [
      ...(wish.duplicate ? duplicate(deliveries, wish.duplicate) : []),
      ...(wish.forge ? [deliveries.forge(lastOf(deliveries, wish.forge.delivery, scopeOf(wish.forge)))] : []),
    ];
    return ok({ sent: made.map(renderDelivery) });
  },
};

/**
 * The history, oldest first. Query: `after` (number of the last one seen), `hook`, `event_type`, `state`; `settled=true` waits until
 * nothing is on its way.
 */
export const deliveryHistoryRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/deliveries',
  run: async ({ parts, query }: ControlCall) => {
    if (query.get('settled') === 'true') await parts.deliveries.settled();
    const after = Number(query.get('after') ?? 0);
    const wanted = (record: DeliveryRecord): boolean =>
      record.n > after &&
      matches(query.get('hook'), record.hook.id) &&
      matches(query.get('event_type'), record.text.type) &&
      matches(query.get('state'), record.state);
    return ok({ deliveries: parts.deliveries.history().filter(wanted).map(renderDelivery) });
  },
};

function matches(wanted: string | null, value: string): boolean {
  return wanted === null || wanted === value;
}

type Wishes = z.output<typeof wishes>;

function drop({ faults }: DeliveryQueue, wish: NonNullable<Wishes['drop']>): void {
  if ('next' in wish) faults.dropNext(wish.next, scopeOf(wish));
  else faults.dropPercent(wish.percent, wish.seed, scopeOf(wish));
}

function duplicate(queue: DeliveryQueue, wish: NonNullable<Wishes['duplicate']>): DeliveryRecord[] {
  if ('delivery' in wish) return [queue.resend(lastOf(queue, wish.delivery), wish.id)];
  queue.faults.duplicateNext(wish.next, wish.id, scopeOf(wish));
  return [];
}

function scopeOf(wish: { hook?: string | undefined; event_type?: HookEventType | undefined }): FaultScope {
  return { hook: wish.hook, eventType: wish.event_type };
}

function lastOf(queue: DeliveryQueue, id: string | undefined, narrowed: FaultScope = {}): DeliveryRecord {
  const record = [...queue.history()]
    .reverse()
    .find(
      (record) =>
        (id === undefined || record.id === id) &&
        !record.isForged &&
        (narrowed.hook === undefined || record.hook.id === narrowed.hook) &&
        (narrowed.eventType === undefined || record.text.type === narrowed.eventType),
    );
  if (!record)
    throw new Refusal(404, id === undefined ? 'there is no delivery yet to make a copy of' : `no delivery ${id}`);
  return record;
}

/** What the history tells of a delivery; never secrets. */
export function renderDelivery(record: DeliveryRecord): object {
  const { hook, text } = record;
  return {
    n: record.n,
    delivery: record.id,
    hook: Number(hook.id),
    url: hook.url,
    target_type: hook.targetType,
    event: hookEventOf(text.type).family,
    event_type: text.type,
    action: text.action,
    state: record.state,
    status: record.status,
    error: record.error,
    dropped: record.state === 'dropped',
    forged: record.isForged,
    copy_of: record.copyOf,
    created_at: record.createdAt.toISOString(),
  };
}
