import type { AnyAction } from '../../actions/define-action.js';
import type { OpenCall, RecoveryContext, Verdict } from '../../actions/support/recovery.js';
import { judgeOpenCall, operationsAfterCall, readsOf } from '../../actions/look-compare-write.js';
import type { Encryptor } from '../../core/encryptor.js';
import type { Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { Attempt, Intent } from '../../core/run.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { EffectTools } from '../execute/effect-tools.js';
import type { ForgeAccess } from '../execute/forge-access.js';
import { resolveParams } from '../execute/prepare-effect.js';

/** Longest life of a request at a forge whose operator says nothing about it. */
const DEFAULT_SETTLE_S = 60;

/** Look once more, and let the action compare. */
export async function readBack(
  tools: EffectTools,
  action: AnyAction,
  intent: Intent,
  attempts: readonly Attempt[],
  sentAgoMs: number,
): Promise<Verdict> {
  const ready = await prepareRead(tools, action, intent, attempts, sentAgoMs);
  if ('code' in ready) return { is: 'person', reason: ready };
  const { context, wanted, call } = ready;
  return judgeOpenCall(action, context as never, wanted as never, call);
}

/** Everything a read needs, or why there can be none. */
export async function prepareRead(
  { forges, orgs, encryptor, targets }: EffectTools,
  action: AnyAction,
  intent: Intent,
  made: readonly Attempt[],
  sentAgoMs = 0,
): Promise<
  | {
      access: ForgeAccess;
      context: RecoveryContext;
      wanted: Record<string, unknown>;
      canRead: boolean;
      call: OpenCall;
    }
  | Reason
> {
  const access = forges.get(intent.forge, intent.org);
  const settings = orgs.get(intent.org);
  if (!settings) return intentReason('intent.no-org', { org: intent.org });
  if (!access) return intentReason('intent.no-forge', { forge: intent.forge });
  const wanted = resolveParams(action, intent.params, settings.secrets, encryptor);
  // Where there are steps on the way, what became of an earlier one is no question any more.
  const attempts = action.onTheWay ? made.filter(({ operation }) => operation === made.at(-1)?.operation) : made;
  const target = await targets.resolve(access, intent.forge, intent.org, intent.target);
  const context = {
    target,
    forge: pick(action, access),
    snapshot: snapshotOf(attempts),
    hashOf: (value: Parameters<Encryptor['hash']>[0]) => encryptor.hash(value),
  };
  const open = attempts.filter(isOpen);
  const call: OpenCall = {
    snapshot: context.snapshot,
    sends: open.length,
    equalFailures: equalFailures(attempts),
    message: attempts.at(-1)?.message ?? null,
    sentAgoMs,
    firstSentAt: open[0]?.sentAt ?? intent.plannedAt,
  };
  return { access, context, wanted, canRead: canRead(action, access), call };
}

/** How long a call without an answer may still come through. */
export function settleMsOf({ forges }: Pick<EffectTools, 'forges'>, { forge, org }: Intent): number {
  return (forges.get(forge, org)?.settleS ?? DEFAULT_SETTLE_S) * 1_000;
}

export function isOpen({ outcome }: Attempt): boolean {
  return outcome === null || outcome === 'unknown';
}

/** Whether the forge tells what became of a call. */
export function canRead(action: AnyAction, access: Pick<ForgeAccess, 'offers'>): boolean {
  const reads = readsOf(action);
  return reads.length > 0 && reads.every((name) => access.offers(name));
}

function pick(action: AnyAction, access: ForgeAccess): Partial<ForgeClient> {
  const names = operationsAfterCall(action).filter((name) => access.offers(name));
  return Object.fromEntries(names.map((name) => [name, access.client[name]])) as Partial<ForgeClient>;
}

/** What was remembered before the first call that may have had its effect: what is there now beyond it may be ours. */
function snapshotOf(attempts: readonly Attempt[]): Attempt['snapshot'] {
  return attempts.find((attempt) => isOpen(attempt) && attempt.snapshot !== null)?.snapshot ?? null;
}

/** The newest open calls in a row that were answered alike with a status 500. */
function equalFailures(attempts: readonly Attempt[]): number {
  const last = attempts.at(-1);
  if (!last || last.status !== 500) return 0;
  let count = 0;
  for (const attempt of [...attempts].reverse()) {
    if (attempt.status !== 500 || attempt.message !== last.message) break;
    count += 1;
  }
  return count;
}
