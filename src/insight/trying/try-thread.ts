import { existsSync } from 'node:fs';
import { RuleThread, type Outcome } from '../../policies/thread/rule-thread.js';
import { makeTrial } from '../trial.js';
import { TryDesk } from './try-desk.js';
import type { TryAnswer, TryOrder } from './try-orders.js';

/** Where drafts are tried: whatever they are, they cost the process no more than the limit of an order. */
export interface TryThread {
  order(order: TryOrder, limitMs: number): Promise<Outcome<TryAnswer>>;
  stop(): Promise<void>;
}

const PROGRAM = new URL('./try-thread-program.js', import.meta.url);

/**
 * Takes memory only while drafts are tried.
 * @param restMs without an order for so long the thread is ended
 */
export function makeTryThread(restMs: number): TryThread {
  return existsSync(PROGRAM) ? new RuleThread<TryOrder, TryAnswer>({ url: PROGRAM }, restMs) : inThisProcess();
}

/** Where the product runs from its sources, which no thread can load. */
function inThisProcess(): TryThread {
  let desk: TryDesk | null = null;
  return {
    order: async (order) => {
      desk ??= new TryDesk(makeTrial());
      return { is: 'answered', answer: desk.answer(order) };
    },
    stop: async () => undefined,
  };
}
