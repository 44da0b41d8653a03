import { Injectable } from '@nestjs/common';
import { EffectTools } from './effect-tools.js';
import type { EarlierStep, Outcome } from '../../actions/define-action.js';
import { ensure } from '../../actions/look-compare-write.js';
import type { Reason } from '../../core/reason.js';
import { BotError, ForgeError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import { intentReason } from '../../core/run-reasons.js';
import { reasonOf } from './settle.js';
import type { NewIntent } from '../../core/run.js';
import type { OperationName } from '../../forge/operations.js';
import type { JournalStore } from '../journal-store.port.js';
import { GuardedForge, WriteSuppressed, OF_ALL_RUNS } from './guarded-forge.js';
import { findMeans, prepareEffect, readsOfTarget } from './prepare-effect.js';

/** What an intent would do, found by doing everything of it but the write. */
export type Rehearsal =
  | { readonly does: 'nothing'; readonly reason: Reason }
  | { readonly does: 'cannot'; readonly reason: Reason }
  /** Something that others do is missing still. */
  | { readonly does: 'waits'; readonly reason: Reason }
  /**
   * `isReadable`: something was read before, so that it is known what is there. `reads`: calls before the write, one entry each; `isShared`:
   * what one of them told serves all runs for a while.
   */
  | {
      readonly does: 'write';
      readonly operation: string;
      readonly isReadable: boolean;
      readonly reads: ReadonlyArray<{ readonly operation: string; readonly isShared: boolean }>;
    };

/** What an intent would do now: the action itself, with every read it makes, up to its write. Nothing is stored and nothing is sent. */
@Injectable()
export class Rehearser {
  constructor(private readonly tools: EffectTools) {}

  /**
   * @param steps what became of the earlier steps of its item; absent = as the journal says
   * @throws ForgeError while the forge cannot be asked
   */
  async rehearse(planned: NewIntent, steps?: readonly EarlierStep[]): Promise<Rehearsal> {
    const { recovery, encryptor, clock, messenger } = this.tools;
    const means = findMeans(this.tools, planned);
    if ('lacks' in means) return { does: 'cannot', reason: means.lacks };
    const { action, access } = means;
    const undo = action.recover?.matcher?.undoneBy ? await recovery.undoOf(planned.effectKey) : null;
    if (undo)
      return {
        does: 'cannot',
        reason: intentReason('intent.undone', { told: undo.summary, event: undo.eventId, intent: null }),
      };
    let reads = 0;
    const called: OperationName[] = readsOfTarget(access, planned.target);
    const guard = new GuardedForge({
      client: access.client,
      messenger,
      journal: NO_JOURNAL,
      clock,
      epoch: 0,
      intentId: planned.id,
      mode: 'dry-run',
      budgets: [],
      status: async () => ({ is: 'wanted' }),
      hashOf: (secret) => encryptor.hash(secret),
      signal: new AbortController().signal,
      called: (name) => void called.push(name),
      answered: (error) => (reads += error === null || isAnswer(error) ? 1 : 0),
    });
    try {
      const prepared = await prepareEffect(this.tools, planned, means, guard, access, {
        ...NEVER_TRIED,
        ...(steps ? { earlierSteps: async () => steps } : {}),
      });
      if ('reason' in prepared) return { does: 'cannot', reason: prepared.reason };
      const outcome = await ensure(action, prepared.context, prepared.params);
      return { does: DOES[outcome.kind], reason: outcome.reason };
    } catch (error) {
      if (error instanceof WriteSuppressed) {
        const before = called.map((operation) => ({ operation, isShared: OF_ALL_RUNS.has(operation) }));
        return { does: 'write', operation: operationOf(error), isReadable: reads > 0, reads: before };
      }
      if (
        error instanceof ForgeError &&
        error.kind !== 'refused' &&
        error.kind !== 'moved' &&
        error.kind !== 'not-offered'
      )
        throw error;
      if (error instanceof BotError && (error instanceof ForgeError || error.retry === 'permanent'))
        return { does: 'cannot', reason: reasonOf(error) };
      throw error;
    }
  }
}

const DOES = {
  unchanged: 'nothing',
  'not-yet': 'waits',
  changed: 'cannot',
  conflict: 'cannot',
  refused: 'cannot',
  undone: 'cannot',
} as const satisfies Record<Outcome['kind'], Rehearsal['does']>;

const NEVER_TRIED = { earlierCalls: 0, openCalls: 0, mark: null } as const;

/** A dry run marks nothing as sent. */
const NO_JOURNAL = { markSent: async () => null, recordAnswer: async () => false } as unknown as Pick<
  JournalStore,
  'markSent' | 'recordAnswer'
>;

/** That something is not there is an answer too; that the route is not there is none. */
function isAnswer(error: unknown): boolean {
  return error instanceof ForgeError && error.kind === 'refused' && error.facts.status === 404;
}

function operationOf({ proposal }: WriteSuppressed): string {
  return isJsonObject(proposal) && typeof proposal['operation'] === 'string' ? proposal['operation'] : '';
}
