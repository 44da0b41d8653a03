import { BotError } from '../../core/errors.js';
import type { Shape } from '../../core/schema.js';
import type { LongCall } from '../long-calls.js';
import type { longCall } from './answers.js';

/** How far a call is, or how it ended. */
export function tellCall({ id, progress, outcome }: LongCall): Shape<typeof longCall> {
  if (outcome === null) return { id, state: 'running', progress };
  if ('answer' in outcome) return { id, state: 'done', progress, answer: outcome.answer };
  const { error } = outcome;
  // What is no error of ours is in the log.
  if (!(error instanceof BotError)) return { id, state: 'failed', progress, error: 'INTERNAL', message: INTERNAL };
  return { id, state: 'failed', progress, error: error.code, message: error.message };
}

export const INTERNAL = 'the request failed; the log says why';
