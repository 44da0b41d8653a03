import type { Alerts } from '../core/alerts.js';
import type { Logger } from '../core/logger.js';
import type { JournalStore } from '../journal/journal-store.js';
import type { Intent } from '../journal/run.js';

/**
 * What becomes of an intent whose call may or may not have had its effect. It is never sent again from here; only a read could end it
 * in another way, and such a recovery takes this place.
 */
export interface UnknownOutcomes {
  /** The intent is in state `unknown`. */
  handle(intent: Intent, reason: string): Promise<void>;
}

export interface WaitForAPersonDeps {
  readonly journal: Pick<JournalStore, 'move' | 'attemptsOfIntent'>;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

/** Every unknown outcome waits for a person, with its reason, unless the answer was stored before the owner was lost. */
export class WaitForAPerson implements UnknownOutcomes {
  constructor(private readonly deps: WaitForAPersonDeps) {}

  async handle(intent: Intent, reason: string): Promise<void> {
    const { journal, logger, alerts } = this.deps;
    const facts = { intentId: intent.id, runId: intent.runId, org: intent.org, rule: intent.rule, action: intent.action };
    const from = { intentId: intent.id, epoch: null, from: ['unknown'] as const };
    const answer = (await journal.attemptsOfIntent(intent.id)).at(-1)?.outcome ?? 'unknown';
    if (answer !== 'unknown') {
      const to = answer === 'done' ? 'done' : 'planned';
      if (await journal.move({ ...from, to, reason: `the answer was stored before its owner was lost: ${answer}` }))
        logger.info({ ...facts, answer }, 'intent settled by its stored answer');
      return;
    }
    const told = `the outcome is unknown and the call is not made again: ${reason}`;
    if (!(await journal.move({ ...from, to: 'waiting', reason: told }))) return;
    logger.warn({ ...facts, reason }, 'intent waits for a person');
    alerts.raise(`intent.waiting/${intent.org}/${intent.rule}`, `an intent of ${intent.rule} in ${intent.org} waits for a person: ${told}`, {
      intentId: intent.id,
    });
  }
}
