import { z } from 'zod';
import { count, fields, maybeText, text, texts, time, type Shape } from '../../core/schema.js';

/** What came of a rule and an event: `held` = its limit of runs per hour; `unknown` = history does not hold what it asks for. */
const wouldVerdict = z.enum(['fired', 'not-fired', 'error', 'held', 'unknown', 'rejected']);
export type WouldVerdict = Shape<typeof wouldVerdict>;

const sample = z.object({
  ...fields('eventId kind why', text),
  repo: maybeText,
  storedAt: time,
  would: wouldVerdict,
  did: maybeText.describe('State of its run; null = no run was made.'),
});
export type BacktestSample = Shape<typeof sample>;

const difference = z.object({ count, samples: z.array(sample).describe('The first of them.') });
export type Difference = Shape<typeof difference>;

const counts = z.record(text, count);

const backtestRule = z.object({
  rule: text,
  kind: z.enum(['rule', 'policy']),
  mode: maybeText.describe('Null = it is not in these rules, and fired in the period.'),
  would: z.object(fields('fired not-fired error held unknown', count)),
  did: z.object(fields('fired notFired error', count)),
  effects: z.object(fields('would did', count)).describe('Effects it would want, and those that were wanted.'),
  calls: counts.describe('API calls by operation, at most: one of each that its lookups and effects may make.'),
  unknownLookups: counts.describe('How often an answer was missing, by the name of the lookup.'),
  differences: z.object({
    firesNow: difference.describe('Would fire, and did not.'),
    firesNoMore: difference.describe('Fired, and would not.'),
    otherEffects: difference.describe('Both fired, and want different things.'),
    failsNow: difference.describe('Would end as an error, and did not.'),
    unknown: difference,
  }),
  agreement: z
    .object(fields('compared agreed', count))
    .describe('Decisions that were recorded and could be made again, and how many of them ended the same.'),
});
export type BacktestRule = Shape<typeof backtestRule>;

export const backtestReport = z.object({
  org: text,
  revision: text.describe('Hash of the rules that were tried.'),
  ...fields('since until', time),
  events: count,
  decisions: count.describe('Times a rule was evaluated.'),
  rules: z.array(backtestRule),
  calls: counts,
  hash: text.describe(
    'SHA-256 over each decision with what it wants: equal rules and equal history give an equal hash.',
  ),
  notes: texts,
});
export type BacktestReport = Shape<typeof backtestReport>;
