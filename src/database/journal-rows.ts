import type { Attempt, Intent, Run } from '../journal/run.js';
import type { AttemptEntity } from './entities/attempt.entity.js';
import type { IntentEntity } from './entities/intent.entity.js';
import type { RunEntity } from './entities/run.entity.js';

export function toRun(row: RunEntity): Run {
  const { eventId: _eventId, seq: _seq, ...run } = row;
  return { ...run };
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
    ...intent
  } = row;
  return { ...intent };
}

export function toAttempt(row: AttemptEntity): Attempt {
  const { org: _org, ...attempt } = row;
  return { ...attempt };
}
