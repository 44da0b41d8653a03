import { z } from 'zod';
import { count, fields, jsonObject, maybeText, maybeTime, text, texts, time, type Shape } from '../../core/schema.js';
import { RUN_STATES } from '../../core/states.js';
import { backtestReport } from '../backtest/backtest-report.js';
import { evaluated, filter, place, ruleLine } from '../explanation.js';

/** A mistake in a draft, with its place. */
const problem = place.extend({
  message: text,
  hint: text.exactOptional(),
  level: z.literal('warning').exactOptional(),
});

/** What the check says of a draft. */
export const draftCheck = z.object({
  ok: z.boolean(),
  problems: z.array(problem),
  warnings: z.array(problem),
  rules: z.array(z.object({ id: text, kind: z.enum(['rule', 'policy']), mode: text, place })),
});
export type DraftCheck = Shape<typeof draftCheck>;

/** One rule and one event, step by step. */
const ruleSteps = z.object({
  ...fields('rule reason', text),
  place: place.nullable(),
  filters: z.array(filter),
  ...evaluated,
  lookups: z.array(z.object(fields('name answer', text))),
  effects: z.array(z.object({ ...fields('stepId action itemKey', text), params: jsonObject })),
});

/** What the draft would make of one stored event, beside what was made of it. */
export const eventTrial = z.object({
  event: z.object({
    ...fields('id kind source', text),
    ...fields('repo subject actor', maybeText),
    factAt: maybeTime,
    storedAt: time,
    data: jsonObject,
  }),
  rules: z.array(
    ruleLine.extend({
      place: place.nullable(),
      effects: count.describe('That it would want.'),
      did: z
        .object({ state: z.enum(RUN_STATES), reason: text, effects: count })
        .nullable()
        .describe('Its newest run about the event; null = there is none.'),
    }),
  ),
  steps: ruleSteps.nullable().describe('The rule that was asked about, step by step.'),
  notes: texts,
});
export type EventTrial = Shape<typeof eventTrial>;

/** What an effect would be now: the same look and compare as a dry run. */
const lookedAt = z.object({
  ...fields('stepId action itemKey', text),
  params: jsonObject.describe('Without secrets.'),
  does: z
    .enum(['write', 'nothing', 'waits', 'cannot', 'not-looked', 'sealed'])
    .describe(
      '`waits`: for others, or for an effect above it; `not-looked`: nobody can tell; `sealed`: for owners alone.',
    ),
  operation: maybeText.describe('The call that it would make.'),
  reason: maybeText.describe('Why it would write nothing.'),
});
export type LookedAt = Shape<typeof lookedAt>;

/** What rule files would make of one object of the forge, read now. Nothing of it is stored or written. */
export const objectTrial = z.object({
  problems: z.array(problem).describe('Why the files do not load; then nothing was tried.'),
  event: z
    .object({ kind: text, ...fields('repo subject actor', maybeText), factAt: maybeTime, data: jsonObject })
    .nullable()
    .describe('Made from the object as it is now; null where the files do not load.'),
  rules: z.array(
    ruleLine.omit({ runId: true, place: true }).extend({
      place: place.nullable(),
      mode: text,
      steps: ruleSteps.nullable().describe('Null where the filters turned the event away.'),
      waits: texts.describe('What would make it wait before it writes: an approval, a window, a budget, a pause.'),
      effects: z.array(lookedAt).describe('What it would write, in order.'),
    }),
  ),
  reads: count.describe('Lookups that were made.'),
  notes: texts,
});
export type ObjectTrial = Shape<typeof objectTrial>;

/** A back-test of a draft. Each caller has one at most; a new one takes the place of the one before. */
export const draftBacktest = z.object({
  ...fields('id org', text),
  state: z.enum(['waiting', 'running', 'done', 'refused', 'failed', 'cancelled']),
  days: count,
  ...fields('since until', time),
  events: count.describe('Tried so far.'),
  done: count.describe('Share of the period that was tried, from 0 to 1.'),
  problems: z.array(problem).describe('Why the draft was refused.'),
  failure: maybeText,
  report: backtestReport.nullable(),
});
export type DraftBacktest = Shape<typeof draftBacktest>;

const field = z.object({
  type: text.describe('For people.'),
  of: maybeText.describe('In `types`, where its value (or each value of its list) has fields.'),
  optional: z.boolean(),
  summary: text,
});

/** What an editor offers and explains. */
export const ruleLanguage = z.object({
  schema: jsonObject.describe('JSON Schema of a rule file.'),
  kinds: z.record(text, z.object({ summary: text, of: text })).describe('Words of `on`; `of` names what `event` is.'),
  variables: z.record(text, z.object({ type: text, of: maybeText })),
  types: z.record(text, z.record(text, field)),
  functions: z.record(text, z.object({ signature: text, summary: text, example: text })),
});
export type RuleLanguage = Shape<typeof ruleLanguage>;
