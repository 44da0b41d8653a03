import type { JsonObject } from '../core/json.js';
import type { Clock } from '../core/clock.js';
import type { JournalStore } from '../pipeline/journal-store.port.js';
import { planIntents, type PlanTools } from '../pipeline/decide/plan-intents.js';
import type { Accounts } from '../pipeline/rule-engine.port.js';
import { textOf } from '../core/reason.js';
import { runReason, verdictReason } from '../core/run-reasons.js';
import type { Cause, NewIntent } from '../core/run.js';
import { OF_THE_BOT } from '../pipeline/execute/forge-access.js';
import type { Rehearsal } from '../pipeline/execute/rehearse.js';

/** Stands in `rule` of these runs. */
export const ACCOUNT_SETTINGS = 'account.settings';

const ACTION = 'user_settings.update';
/** The config of a process has no revision. */
const NO_REVISION = '';

interface AccountSyncDeps {
  readonly accounts: Accounts;
  readonly tools: Omit<PlanTools, 'account'>;
  /** What it would do now. @throws ForgeError while the forge cannot be asked */
  readonly rehearse: (intent: NewIntent) => Promise<Rehearsal>;
  readonly journal: Pick<JournalStore, 'recordDecision'>;
  /** Its intent is due. */
  readonly ring: () => void;
  readonly clock: Clock;
}

/** `runId`: the run that makes the change; null = nothing to change, or a dry run. */
type SyncReport = { readonly does: Rehearsal['does']; readonly reason: string; readonly runId: string | null };

/** Changes settings of the bot's own account like any other effect: a run with one intent, written before any call. */
export class AccountSync {
  constructor(private readonly deps: AccountSyncDeps) {}

  /** @throws ForgeError while the forge cannot be asked */
  async want(forge: string, settings: JsonObject, cause: Cause, isDryRun: boolean): Promise<SyncReport> {
    const { accounts, tools, rehearse, journal, ring, clock } = this.deps;
    const plan = planIntents(
      {
        forge,
        org: OF_THE_BOT,
        rule: ACCOUNT_SETTINGS,
        kind: 'policy',
        mode: 'live',
        revisionId: NO_REVISION,
        cause,
        repo: null,
        report: {
          rule: ACCOUNT_SETTINGS,
          verdict: 'fired',
          reason: runReason('run.fired', {
            because: verdictReason('verdict.account', { settings: Object.keys(settings) }),
          }),
          trace: null,
        },
        steps: [{ stepId: 'account', stepNo: 0, action: ACTION, items: [{ itemKey: 'settings', params: settings }] }],
        lookups: {},
        decidedAt: clock.now(),
      },
      // Empty if the forge does not say who we are: the account of the token, whatever its name.
      { ...tools, account: accounts.self(forge, null)?.login ?? '' },
    );
    const [intent] = plan.intents;
    const wanted = textOf(plan.run.reason);
    if (!intent) throw new Error(wanted);
    const rehearsal = await rehearse(intent);
    const reason = rehearsal.does === 'write' ? wanted : textOf(rehearsal.reason);
    if (rehearsal.does !== 'write' || isDryRun) return { does: rehearsal.does, reason, runId: null };
    const due = await journal.recordDecision({}, [plan]);
    if (due.length > 0) ring();
    return { does: 'write', reason, runId: plan.run.id };
  }
}
