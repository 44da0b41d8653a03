import { Injectable } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { Encryptor } from '../core/encryptor.js';
import { newId } from '../core/ids.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import type { JsonObject } from '../core/json.js';
import { Clock } from '../core/clock.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { planIntents } from '../pipeline/decide/plan-intents.js';
import { Accounts } from '../pipeline/rule-engine.port.js';
import { textOf } from '../core/reason.js';
import { runReason, verdictReason } from '../core/run-reasons.js';
import type { Cause } from '../core/run.js';
import { OF_THE_BOT } from '../pipeline/execute/forge-access.js';
import { Rehearser, type Rehearsal } from '../pipeline/execute/rehearse.js';

/** Stands in `rule` of these runs. */
export const ACCOUNT_SETTINGS = 'account.settings';

const ACTION = 'user_settings.update';
/** The config of a process has no revision. */
const NO_REVISION = '';

/** `runId`: the run that makes the change; null = nothing to change, or a dry run. */
type SyncReport = { readonly does: Rehearsal['does']; readonly reason: string; readonly runId: string | null };

/** Changes settings of the bot's own account like any other effect: a run with one intent, written before any call. */
@Injectable()
export class AccountSync {
  constructor(
    private readonly accounts: Accounts,
    private readonly encryptor: Encryptor,
    private readonly rehearser: Rehearser,
    private readonly journal: JournalStore,
    private readonly queue: WorkQueue,
    private readonly clock: Clock,
  ) {}

  /** @throws ForgeError while the forge cannot be asked */
  async want(forge: string, settings: JsonObject, cause: Cause, isDryRun: boolean): Promise<SyncReport> {
    const { accounts, encryptor, clock } = this;
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
      { actions, encryptor, newId, account: accounts.self(forge, null)?.login ?? '' },
    );
    const [intent] = plan.intents;
    const wanted = textOf(plan.run.reason);
    if (!intent) throw new Error(wanted);
    const rehearsal = await this.rehearser.rehearse(intent);
    const reason = rehearsal.does === 'write' ? wanted : textOf(rehearsal.reason);
    if (rehearsal.does !== 'write' || isDryRun) return { does: rehearsal.does, reason, runId: null };
    const due = await this.journal.recordDecision({}, [plan]);
    if (due.length > 0) this.queue.ring('background', OF_THE_BOT);
    return { does: 'write', reason, runId: plan.run.id };
  }
}
