import { setMaxListeners } from 'node:events';
import type { ActionContext, AnyAction } from '../actions/define-action.js';
import { markOf } from '../actions/support/mark.js';
import { isRefused } from '../actions/support/where-offered.js';
import type { Outcome } from '../actions/support/outcome.js';
import type { Alerts } from '../core/alerts.js';
import { callingAs } from '../core/caller.js';
import type { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import { isJsonObject, type Json } from '../core/json.js';
import { newId } from '../core/ids.js';
import type { SecurityLog } from '../core/security-log.js';
import type { Target } from '../core/target.js';
import { BudgetSpent, type BudgetLimit } from '../core/budgets.js';
import type { Claim, JournalStore } from './journal-store.port.js';
import type { RecoveryStore } from './recovery-store.port.js';
import type { RuleStatus } from '../rules/revisions/active-revisions.port.js';
import type { Intent } from '../core/run.js';
import type { Encryptor } from '../core/encryptor.js';
import type { Budgets } from './execute/budget-keeper.js';
import { classifyError, endingOfStanding, type Ending } from './execute/classify-error.js';
import { findFlip } from './execute/flip-breaker.js';
import type { ForgeHealth } from './execute/forge-health.js';
import type { ForgeAccess, Forges, OrgDirectory, OrgSettings } from './execute/forges.js';
import { GuardedForge } from './execute/guarded-forge.js';
import { isOpen } from './recover.js';
import { CONTRADICTED, LiveState } from './execute/live-state.js';
import { keepLease } from './execute/keep-lease.js';
import { OVERTAKEN, overtakenBy } from './execute/overtaken.js';
import { pick } from './execute/pick-operations.js';
import { madeBy, recall } from './execute/recall.js';
import { resolveParams } from './execute/resolve-params.js';
import { beyondLimit } from './execute/limits.js';
import { TargetRefused, type TargetResolver } from './execute/resolve-target.js';
import type { Settler } from './execute/settle.js';
import { ReadForAnother, SharedReads } from './execute/shared-reads.js';

export interface EffectDeps {
  readonly journal: JournalStore;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly forges: Forges;
  readonly orgs: OrgDirectory;
  readonly encryptor: Encryptor;
  readonly targets: TargetResolver;
  readonly settler: Settler;
  readonly standing: RuleStatus;
  readonly health: ForgeHealth;
  readonly recovery: Pick<RecoveryStore, 'undoOf' | 'sentOfEffects'> & Partial<Pick<RecoveryStore, 'doubtAbout'>>;
  readonly budgets: Budgets;
  readonly alerts: Alerts;
  readonly security: SecurityLog;
  readonly clock: Clock;
}

export interface EffectOptions {
  /** Names this process in the store. */
  readonly owner: string;
  /** Default 5_000: a killed worker's work is resumed after this time. */
  readonly leaseMs?: number;
}

const DEFAULT_LEASE_MS = 5_000;
/** More than a flip needs: those under way stand between. */
const FLIPS_LOOKED_AT = 8;
const LOCKED_OUT_WAIT_MS = 5_000;
const UNKNOWN_CAUSE_WAIT_MS = 5_000;

/**
 * One intent from its claim to its end. Reading this file is reading what the bot does to a forge:
 * claim -> find forge, action, rights -> ask whether the rule still stands -> pin target, open parameters -> ensure behind the guard -> settle.
 */
export class IntentToEffect {
  private readonly stopping = new AbortController();
  private readonly reads: SharedReads;
  private readonly live: LiveState;

  constructor(
    private readonly deps: EffectDeps,
    private readonly options: EffectOptions,
  ) {
    this.live = new LiveState(deps);
    // Every call under way listens to it: their number is the concurrency, not a leak.
    setMaxListeners(0, this.stopping.signal);
    this.reads = new SharedReads(deps.clock);
  }

  /** Claimed false = there was nothing to claim (done by another, not due, paused, out of turn). */
  async run(intentId: string): Promise<{ claimed: boolean; againInMs: number | null; org?: string }> {
    const leaseMs = this.options.leaseMs ?? DEFAULT_LEASE_MS;
    const claim = this.stopping.signal.aborted
      ? null
      : await this.deps.journal.claim(intentId, this.options.owner, leaseMs);
    if (!claim) return { claimed: false, againInMs: null };
    const lease = keepLease(this.deps.journal, claim);
    try {
      const { org, upkeep } = claim.intent;
      const calls: CallsMade = new Map();
      const work = async (): Promise<number | null> =>
        this.deps.settler.settle(claim, withCalls(await this.perform(claim, calls), calls));
      return {
        claimed: true,
        againInMs: await callingAs({ lane: upkeep ? 'housekeeping' : 'webhook', org }, work),
        org,
      };
    } finally {
      lease.release();
    }
  }

  /** End calls that are under way; what was sent and not answered is unknown then. Used when the time for a graceful stop is over. */
  abort(): void {
    this.stopping.abort();
  }

  /**
   * @param shares whether reads of others of its run are its own; what is tried again reads for itself
   * @param wasMoved its target was renamed meanwhile, and is found anew
   */
  private async perform(
    claim: Pick<Claim, 'intent' | 'epoch' | 'overtakenBy'>,
    calls: CallsMade,
    shares = claim.intent.attempts === 0 && claim.intent.tries === 0,
    wasMoved = false,
  ): Promise<Ending> {
    const { intent, epoch } = claim;
    const found = this.find(intent);
    if (typeof found === 'string') return { to: 'refused', reason: found, wrote: null, detail: null };
    const { action, access, settings } = found;
    const refusal = refusalOf(intent);
    if (refusal) return refusal;
    const held = this.deps.health.holds(intent.forge, intent.org);
    if (held) return { to: 'given-back', reason: held.reason, wrote: null, waitMs: held.againInMs };
    const standing = await this.deps.standing.of(intent);
    if (standing.is !== 'wanted') return endingOfStanding(standing);
    const stopped =
      this.overtaken(claim, action) ?? (await this.undone(intent, action)) ?? (await this.flips(intent, action));
    if (stopped) return stopped;
    const budgets = await this.budgetsOf(intent, settings);
    if ('to' in budgets) return budgets;
    const spent = await this.deps.journal.spentBudget(budgets);
    if (spent) return this.deps.budgets.hold(intent, spent);
    this.deps.budgets.letThrough(budgets);
    const guard = this.guard(access, intent, epoch, budgets, shares, calls);
    try {
      const params = resolveParams(action, intent.params, settings.secrets, this.deps.encryptor);
      const { forge, org } = intent;
      const guarded: ForgeAccess = { client: guard.client, offers: (name) => access.offers(name) };
      const target = await this.deps.targets.resolve(guarded, forge, org, intent.target);
      const limited = await beyondLimit({ action, target, forge, org }, settings.limits, this.deps.targets, guarded);
      if (limited) {
        this.tellRefused(intent, limited.code);
        return { to: 'refused', reason: limited.reason, wrote: null, detail: { code: limited.code } };
      }
      const contradiction = await this.live.contradiction(
        intent,
        target,
        access.offers('getIssue') ? guard.client.getIssue : undefined,
      );
      if (contradiction !== null)
        return { to: 'cancelled', reason: contradiction, wrote: null, detail: { code: CONTRADICTED } };
      const openCalls =
        intent.attempts === 0 ? 0 : (await this.deps.journal.attemptsOfIntent(intent.id)).filter(isOpen).length;
      const context = {
        target,
        forge: pick(guard.client, action, access),
        recall: () => recall(this.deps.journal, intent),
        made: () => madeBy(this.deps.journal, this.deps.recovery, intent.effectKey),
        hashOf: (value) => this.deps.encryptor.hash(value),
        mirrorHosts: settings.mirrorHosts,
        remember: (snapshot) => guard.remember(snapshot),
        earlierCalls: intent.attempts,
        openCalls,
        mark: openCalls > 0 && access.marks !== false ? markOf(intent.intentKey) : null,
      } as ActionContext<never, never, never>;
      return endingOf(await action.ensure(context, params as never), guard);
    } catch (error) {
      if (error instanceof ReadForAnother) return this.perform(claim, calls, false, wasMoved);
      this.doubtTarget(intent, error);
      // A redirected read: nothing was written, and the forge knows the name of now.
      if (isMoved(error) && !guard.written && !wasMoved) return this.perform(claim, calls, false, true);
      if (error instanceof BudgetSpent && guard.written === null) return this.deps.budgets.hold(intent, error.spent);
      return (await this.lockedOut(intent, error, guard)) ?? classifyError(error, guard.written);
    }
  }

  /** The next try asks the forge again whose the repository is, and under which name. */
  private doubtTarget({ forge, target }: Intent, error: unknown): void {
    if (isMoved(error)) this.deps.targets.doubt(forge, target, 'moved');
    else if (isRefused(error, 404)) this.deps.targets.doubt(forge, target, 'missing');
  }

  /** Who caused it may be known to the forge alone: while that cannot be asked, the intent waits and burns no try. */
  private async budgetsOf(intent: Intent, settings: OrgSettings): Promise<BudgetLimit[] | Ending> {
    try {
      return await this.deps.budgets.of(intent, settings);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.deps.health.failed(intent.forge, intent.org, error);
      return {
        to: 'given-back',
        reason: `waits for the forge to say who caused it: ${error.message}`,
        wrote: null,
        waitMs: UNKNOWN_CAUSE_WAIT_MS,
      };
    }
  }

  /** A call that was refused for want of credentials: is it the call, or are they not accepted any more? */
  private async lockedOut(intent: Intent, error: unknown, { written }: GuardedForge): Promise<Ending | null> {
    if (!(error instanceof ForgeError) || error.kind !== 'refused' || error.facts.status !== 401) return null;
    if ((await this.deps.health.checkCredentials(intent.forge, intent.org)) === 'accepted') return null;
    return {
      to: 'given-back',
      reason: `forge ${intent.forge} does not accept our credentials`,
      wrote: written,
      waitMs: LOCKED_OUT_WAIT_MS,
    };
  }

  private find(intent: Intent): { action: AnyAction; access: ForgeAccess; settings: OrgSettings } | string {
    const action = this.deps.actions.get(intent.action);
    if (!action) return `there is no action ${intent.action}`;
    const settings = this.deps.orgs.get(intent.org);
    if (!settings) return `organization ${intent.org} is not in the config any more`;
    if (action.power && !settings.powers.includes(action.power)) {
      this.tellRefused(intent, action.power);
      return `the operator has not granted the power ${action.power} to ${intent.org} (orgs[].powers)`;
    }
    const access = this.deps.forges.get(intent.forge, intent.org);
    if (!access) return `forge ${intent.forge} is not in the config any more`;
    return { action, access, settings };
  }

  private tellRefused({ org, action, rule, runId, id: intentId }: Intent, power: string): void {
    this.deps.security.record({ class: 'power_refused', org, power, action, rule, runId, intentId });
  }

  /** While it waited, a newer wish for the same thing may have come first. */
  private overtaken(
    { intent, overtakenBy: newer }: Pick<Claim, 'intent' | 'overtakenBy'>,
    action: AnyAction,
  ): Ending | null {
    if (newer === null || intent.mode === 'dry-run' || !(action.overwrites ?? action.recover?.absolute)) return null;
    const reason = overtakenBy(intent, newer);
    return reason === null ? null : { to: 'cancelled', reason, wrote: null, detail: { code: OVERTAKEN, by: newer.id } };
  }

  /** What a person undid is not made again until a person says so. */
  private async undone(intent: Intent, action: AnyAction): Promise<Ending | null> {
    if (!action.recover?.told?.undoneBy || intent.mode === 'dry-run') return null;
    const undo = await this.deps.recovery.undoOf(intent.effectKey);
    if (!undo) return null;
    const reason = `${undo.told}: not made again (event ${undo.eventId}; \`forgehand retry ${intent.id}\` makes it)`;
    return { to: 'suppressed', reason, wrote: null, detail: { undone_by: undo.by, event: undo.eventId } };
  }

  /** Two rules that set one thing back and forth are stopped, both, until a person lets them go on. */
  private async flips(intent: Intent, action: AnyAction): Promise<Ending | null> {
    if (!action.recover?.absolute || intent.mode === 'dry-run') return null;
    const { recovery, journal, clock, alerts } = this.deps;
    const before = (await recovery.sentOfEffects([intent.effectKey], FLIPS_LOOKED_AT)).filter(
      (other) => other.intent.id !== intent.id && other.intent.state === 'done',
    );
    const history = before.map((other) => ({
      rule: other.intent.rule,
      params: other.intent.params,
      sentAt: other.sentAt,
    }));
    const flip = findFlip(intent, history, clock.now());
    if (!flip) return null;
    for (const rule of flip)
      await journal.pause({ org: intent.org, rule, by: 'breaker: back and forth', at: clock.now() });
    const told = `rules ${flip.join(' and ')} of ${intent.org} set the same thing back and forth: they are paused`;
    alerts.raise(
      `breaker.flip/${intent.org}/${[...flip].sort().join('+')}`,
      `${told} (forgehand resume --org ${intent.org} --rule ID)`,
      {
        intentId: intent.id,
      },
    );
    return { to: 'given-back', reason: told, wrote: null };
  }

  private guard(
    access: ForgeAccess,
    intent: Intent,
    epoch: number,
    budgets: readonly BudgetLimit[],
    shares: boolean,
    calls: CallsMade,
  ): GuardedForge {
    const { journal, clock, encryptor, standing, health } = this.deps;
    return new GuardedForge({
      client: access.client,
      journal,
      clock,
      newId,
      epoch,
      intentId: intent.id,
      mode: intent.mode,
      budgets,
      reads: shares ? this.reads.of(intent.runId, intent.forge) : null,
      standing: () => standing.of(intent),
      hashOf: (secret) => encryptor.hash(secret),
      signal: this.stopping.signal,
      called: (name) => void calls.set(name, (calls.get(name) ?? 0) + 1),
      answered: (error) =>
        error === null ? health.answered(intent.forge, intent.org) : health.failed(intent.forge, intent.org, error),
    });
  }
}

function isMoved(error: unknown): boolean {
  return error instanceof ForgeError && error.kind === 'moved';
}

/** Decided about a repository that was not the organization's: nothing is asked and nothing waits. */
function refusalOf({ org, target }: { readonly org: string; readonly target: Target }): Ending | null {
  if (target.kind !== 'repository' || !target.refused) return null;
  return classifyError(new TargetRefused(target.refused, { org, target }), null);
}

/** By operation, of one turn of an intent. */
type CallsMade = Map<string, number>;

/** What it cost is kept with what came of it, beside what was predicted. */
function withCalls(ending: Ending, calls: CallsMade): Ending {
  if (!('detail' in ending) || !isJsonObject(ending.detail) || calls.size === 0) return ending;
  return { ...ending, detail: { ...ending.detail, calls: Object.fromEntries(calls) } };
}

function endingOf(outcome: Outcome, { written }: GuardedForge): Ending {
  const detail: Json = {
    summary: outcome.summary,
    detail: outcome.detail,
    ...(outcome.kind === 'changed' ? { objectId: outcome.objectId } : {}),
  };
  if (outcome.kind !== 'changed') return { to: outcome.kind, reason: outcome.summary, wrote: written, detail };
  if (written?.outcome === 'done') return { to: 'done', reason: outcome.summary, wrote: written, detail };
  return {
    to: 'dead',
    reason: `the action reported a change without a write: ${outcome.summary}`,
    wrote: written,
    detail,
  };
}
