import { beyondLimit } from './limits.js';
import type { ActionContext, AnyAction } from '../../actions/define-action.js';
import type { Clock } from '../../core/clock.js';
import { BotError, ForgeError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject } from '../../core/json.js';
import type { Secret } from '../../core/secret.js';
import type { OperationName } from '../../forge/operations.js';
import type { JournalStore } from '../journal-store.port.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { NewIntent } from '../../core/run.js';
import type { Encryptor } from '../../core/encryptor.js';
import type { Rehearsal } from './rehearsal.js';
import type { Forges, OrgDirectory } from './forges.js';
import { GuardedForge, WriteSuppressed } from './guarded-forge.js';
import { pick } from './pick-operations.js';
import { madeBy, recall } from './recall.js';
import { resolveParams } from './resolve-params.js';
import { readsOfTarget, type TargetResolver } from './resolve-target.js';
import { OF_ALL_RUNS } from './shared-reads.js';

export interface RehearserDeps {
  readonly journal: Pick<JournalStore, 'lastSettled' | 'attemptsOfIntent'>;
  readonly recovery: Pick<RecoveryStore, 'undoOf' | 'sentOfEffects'>;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly forges: Forges;
  readonly orgs: OrgDirectory;
  readonly encryptor: Encryptor;
  readonly targets: TargetResolver;
  readonly clock: Clock;
}

/** What an intent would do now: the action itself, with every read it makes, up to its write. Nothing is stored and nothing is sent. */
export class Rehearser {
  constructor(private readonly deps: RehearserDeps) {}

  /** @throws ForgeError while the forge cannot be asked */
  async rehearse(planned: NewIntent): Promise<Rehearsal> {
    const { actions, orgs, forges, recovery, encryptor, targets, journal, clock } = this.deps;
    const [action, settings, access] = [
      actions.get(planned.action),
      orgs.get(planned.org),
      forges.get(planned.forge, planned.org),
    ];
    if (!action || !settings || !access)
      return {
        does: 'cannot',
        reason: `${planned.action} cannot be done: its organization or forge is not in the config`,
      };
    if (action.power && !settings.powers.includes(action.power))
      return {
        does: 'cannot',
        reason: `the operator has not granted the power ${action.power} to ${planned.org} (orgs[].powers)`,
      };
    const undo = action.recover?.told?.undoneBy ? await recovery.undoOf(planned.effectKey) : null;
    if (undo) return { does: 'cannot', reason: `${undo.told}: not made again` };
    let reads = 0;
    const called: OperationName[] = readsOfTarget(access, planned.target);
    const guard = new GuardedForge({
      client: access.client,
      journal: NO_JOURNAL,
      clock,
      newId,
      epoch: 0,
      intentId: planned.id,
      mode: 'dry-run',
      budgets: [],
      standing: async () => ({ is: 'wanted' }),
      hashOf: (secret) => encryptor.hash(secret),
      signal: new AbortController().signal,
      called: (name) => void called.push(name),
      answered: (error) => (reads += error === null || isAnswer(error) ? 1 : 0),
    });
    try {
      const params = resolveParams(action, planned.params, settings.secrets, encryptor);
      const target = await targets.resolve(access, planned.forge, planned.org, planned.target);
      const limited = await beyondLimit(
        { action, target, forge: planned.forge, org: planned.org },
        settings.limits,
        targets,
        access,
      );
      if (limited) return { does: 'cannot', reason: limited.reason };
      const context = {
        target,
        forge: pick(guard.client, action, access),
        recall: () => recall(journal, planned),
        made: () => madeBy(journal, recovery, planned.effectKey),
        hashOf: (value: Secret | string) => encryptor.hash(value),
        mirrorHosts: settings.mirrorHosts,
        remember: () => undefined,
        earlierCalls: 0,
        openCalls: 0,
        mark: null,
      } as unknown as ActionContext<never, never, never>;
      const outcome = await action.ensure(context, params as never);
      return outcome.kind === 'unchanged'
        ? { does: 'nothing', reason: outcome.summary }
        : { does: 'cannot', reason: outcome.summary };
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
        return { does: 'cannot', reason: error.message };
      throw error;
    }
  }
}

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
