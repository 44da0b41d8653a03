import { z } from 'zod';
import { isOperationName } from '../../forge/operations.js';

const percent = z.number().min(0).max(100);
const ms = z.int().min(0).max(600_000);
/** From, to; a draw in between. */
const range = z.tuple([ms, ms]).refine(([from, to]) => from <= to, 'the first of the two is the smaller one');
const when = z.enum(['before', 'after'], { error: 'before or after (the effect)' });

/** A fault injected into a call. `before` = the call has no effect, `after` = it had it, and the caller is not told, or told something wrong. */
const fault = z.discriminatedUnion('kind', [
  /** The connection ends without an answer. */
  z.strictObject({ kind: z.literal('reset'), when }),
  z.strictObject({
    kind: z.literal('status'),
    when,
    status: z.int().min(400).max(599).default(500),
    body: z.enum(['json', 'html', 'empty']).default('json'),
  }),
  /** The effect comes so much later than the caller gives up: the connection ends at once, or a gateway answers 504; `hold` = it waits for the effect. */
  z.strictObject({ kind: z.literal('late'), ms: range, answer: z.enum(['reset', 'status', 'hold']).default('reset') }),
  /** Half of the body; `framed` = under a length that fits it, so that only its text shows the cut. */
  z.strictObject({ kind: z.literal('cut'), framed: z.boolean().default(false) }),
  z.strictObject({
    kind: z.literal('wrong-type'),
    as: z.enum(['html', 'list', 'texts', 'null', 'empty']).default('html'),
  }),
  /** The body comes byte by byte over this time. */
  z.strictObject({ kind: z.literal('slow'), ms: ms.default(30_000) }),
  /** `to` below the host; default the same path with another repository's or owner's name. */
  z.strictObject({
    kind: z.literal('redirect'),
    status: z.literal([301, 302, 303, 307, 308]).default(301),
    to: z.string().startsWith('/').optional(),
  }),
  /** 429; `retry_after` in seconds, as a `date` two seconds ahead, `absurd` (a year), or absent. */
  z.strictObject({
    kind: z.literal('rate-limit'),
    retry_after: z.union([z.number().min(0), z.literal('date'), z.literal('absurd')]).optional(),
  }),
]);

const calls = z.union([
  z.enum(['writes', 'reads', 'all']),
  z.array(z.string().refine(isOperationName, 'no such operation')).min(1),
]);

const callFault = z.strictObject({
  /** Class of the fault, as the ledger and the counts tell it; unique. */
  name: z.string().min(1).max(64),
  on: calls.default('writes'),
  /** Share of the calls it is for; those of all faults of a call together are at most 100. */
  percent,
  /** No more than so many in all. */
  at_most: z.int().min(1).optional(),
  fault,
});

export const faultPlanSchema = z
  .strictObject({
    seed: z.int().min(0).default(1),
    /** Logins whose calls are met; absent = everybody's. */
    callers: z.array(z.string()).optional(),
    /** How long calls take without any fault. */
    latency: z
      .strictObject({ on: calls.default('writes'), before_ms: range.default([0, 0]), after_ms: range.default([0, 0]) })
      .optional(),
    calls: z.array(callFault).default([]),
    deliveries: z
      .strictObject({
        drop: z.strictObject({ percent }).optional(),
        duplicate: z.strictObject({ percent, id: z.enum(['same', 'new']).default('same') }).optional(),
        delay: z.strictObject({ percent, ms: range }).optional(),
        /** So many go out in another order, or fewer when a second passes. */
        reorder: z.strictObject({ window: z.int().min(2).max(1_000) }).optional(),
      })
      .optional(),
  })
  .refine((plan) => new Set(plan.calls.map(({ name }) => name)).size === plan.calls.length, {
    path: ['calls'],
    error: 'two faults have the same name',
  })
  .refine((plan) => ['writes', 'reads'].every((side) => sumOn(plan.calls, side) <= 100), {
    path: ['calls'],
    error: 'the percents of one call are more than 100',
  });

export type FaultPlan = z.output<typeof faultPlanSchema>;
export type CallFault = FaultPlan['calls'][number];
export type Fault = CallFault['fault'];
type CallsOf = z.output<typeof calls>;

function sumOn(faults: readonly { on: CallsOf; percent: number }[], side: string): number {
  return faults.filter(({ on }) => on === side || on === 'all').reduce((sum, one) => sum + one.percent, 0);
}

export function isFor(on: CallsOf, operation: string, isWrite: boolean): boolean {
  if (on === 'all') return true;
  return typeof on === 'string' ? (on === 'writes') === isWrite : on.includes(operation as never);
}
