import type { Attempt, Intent, Run } from '../core/run.js';
import type { AttemptEntity } from './entities/attempt.entity.js';
import type { IntentEntity } from './entities/intent.entity.js';
import type { RunEntity } from './entities/run.entity.js';
import { reasonOf, runReasonOf } from './reason-columns.js';
import { asJson, RowDecoder } from './row-decoder.js';

export const intentRows = new RowDecoder<IntentEntity>(
  `
id runId forge org rule revisionId stepId stepNo itemKey intentKey action params target lane effectKey effectHash mode plannedAt seq
state reason reasonCode reasonParams dueAt epoch attempts tries failingSince owner leaseUntil reads sightings lookAgainAt result
held heldBy heldSince background countsFor approval approvalBy approvalAt twoPeople approvalBeside updatedAt`,
  { params: asJson, target: asJson, result: asJson, countsFor: asJson },
);

export const attemptRows = new RowDecoder<AttemptEntity>(
  'id intentId org n operation epoch requestHash snapshot sentAt answeredAt outcome status message objectId',
  { snapshot: asJson },
);

export function toRun(row: RunEntity): Run {
  const { eventId: _eventId, seq: _seq, sealedN: _sealed, coalesceHash: _hash, dueAt, coalescedInto, ...stored } = row;
  const { reasonCode: _code, reasonParams: _params, ...run } = stored;
  return {
    ...run,
    reason: runReasonOf(row),
    ...(dueAt && run.state === 'gathering' ? { dueAt } : {}),
    ...(coalescedInto === null ? {} : { coalescedInto }),
  };
}

export function toIntent(row: IntentEntity): Intent {
  const {
    effectHash: _effectHash,
    seq: _seq,
    owner: _owner,
    leaseUntil: _leaseUntil,
    reads: _reads,
    sightings: _sightings,
    lookAgainAt: _look,
    approval,
    approvalBy,
    approvalAt,
    twoPeople,
    approvalBeside,
    held,
    heldBy: _heldBy,
    heldSince,
    countsFor,
    background,
    reasonCode: _code,
    reasonParams: _params,
    ...intent
  } = row;
  const budgets = {
    ...(held ? { held } : {}),
    ...(heldSince ? { heldSince } : {}),
    ...(countsFor ? { countsFor } : {}),
    ...(background ? { background } : {}),
  };
  return {
    ...intent,
    reason: reasonOf(row),
    ...budgets,
    ...(approval ? { approval } : {}),
    ...(approvalBy === null ? {} : { approvalBy }),
    ...(approvalAt ? { approvalAt } : {}),
    ...(twoPeople ? { twoPeople } : {}),
    ...(approvalBeside === null ? {} : { approvalBeside }),
  };
}

export function toAttempt(row: AttemptEntity): Attempt {
  const { org: _org, ...attempt } = row;
  return { ...attempt };
}
