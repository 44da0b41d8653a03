import { orMissing, whereAllowed } from '../../actions/support/reads.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Target } from '../../core/target.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { Issue } from '../../core/objects/tracker.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { Reason } from '../../core/reason.js';
import { intentReason, type LiveDifference } from '../../core/run-reasons.js';
import type { Intent } from '../../core/run.js';

/** Code of an intent that was cancelled because its object is otherwise now. */
export const CONTRADICTED = 'stale.contradicted';

export interface LiveStateDeps {
  readonly recovery: Partial<Pick<RecoveryStore, 'doubtAbout'>>;
}

/**
 * An event tells what was. Where its object was told about once more, or out of order, or the step waited long, what the event tells may have been
 * overtaken: the step reads the object of now before it acts (reliability I3, S3).
 */
export class LiveState {
  constructor(private readonly deps: LiveStateDeps) {}

  /**
   * @param read the forge's read of an issue or pull request; undefined where it offers none, and nothing can be compared
   * @returns why what caused the intent does not hold any more; null when it does, or nobody doubts it
   * @throws ForgeError when it cannot be read now
   */
  async contradiction(
    { runId }: Intent,
    target: Target,
    read: ForgeClient['getIssue'] | undefined,
  ): Promise<Reason | null> {
    const doubt = (await this.deps.recovery.doubtAbout?.(runId)) ?? null;
    if (!doubt || target.kind !== 'repository' || doubt.event.repo?.id !== target.id) return null;
    const claim = claimOf(doubt.event);
    if (!claim) return null;
    const live = await whereAllowed(read, (get) =>
      orMissing(get({ owner: target.owner, repo: target.name, index: claim.number })),
    );
    // What cannot be seen tells nothing: a token without the right to read it is answered "not there" as well.
    const now = live ? claim.differs(live) : null;
    const { kind } = doubt.event;
    return now && intentReason('intent.contradicted', { kind, number: claim.number, doubt: doubt.because, now });
  }
}

interface Claim {
  readonly number: string;
  /** What is otherwise now; null = nothing. */
  differs(live: Issue): LiveDifference | null;
}

/** What an event says about its issue or pull request that can be read back; null for all that only tells that something happened. */
export function claimOf({ kind, data }: Pick<ForgeEvent, 'kind' | 'data'>): Claim | null {
  const match = /^(issue|pull_request)\.(.+)$/.exec(kind);
  const number = String(data['number'] ?? '');
  const subject = objectIn(data['pull_request']) ?? objectIn(data['issue']);
  const differs = match?.[2] === undefined || number === '' ? null : comparisonOf(match[2], subject);
  return differs && { number, differs };
}

function comparisonOf(what: string, subject: JsonObject | null): Claim['differs'] | null {
  switch (what) {
    case 'opened':
    case 'reopened':
      return ({ state }) => (state === 'open' ? null : { what: 'state', value: state ?? 'not open' });
    case 'closed':
      return ({ state }) => (state === 'closed' ? null : { what: 'state', value: state ?? 'not closed' });
    case 'merged':
      return (live) => (live.pull_request?.merged === true ? null : { what: 'merged', value: false });
    case 'ready_for_review':
      return (live) => (live.pull_request?.draft === true ? { what: 'draft', value: true } : null);
    case 'labeled':
    case 'labels_cleared':
      return sameNames('labels', namesIn(subject?.['labels'], 'name'), ({ labels }) =>
        (labels ?? []).map(({ name }) => name ?? ''),
      );
    case 'assigned':
    case 'unassigned':
      return sameNames('assignees', namesIn(subject?.['assignees'], 'login'), ({ assignees }) =>
        (assignees ?? []).map(({ login }) => login ?? ''),
      );
    case 'milestoned':
    case 'demilestoned':
      return sameNames('milestone', namesIn([subject?.['milestone'] ?? null], 'title'), ({ milestone }) =>
        milestone?.title ? [milestone.title] : [],
      );
    default:
      return null;
  }
}

function sameNames(
  what: 'labels' | 'assignees' | 'milestone',
  told: string[] | null,
  of: (live: Issue) => string[],
): Claim['differs'] | null {
  if (told === null) return null;
  return (live) => {
    const now = of(live).sort();
    return now.join('\n') === told.join('\n') ? null : { what, value: now };
  };
}

/** Sorted; null when the event does not tell them. */
function namesIn(list: Json | undefined, field: string): string[] | null {
  if (list === undefined) return null;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => (isJsonObject(item) && typeof item[field] === 'string' ? [item[field]] : [])).sort();
}

function objectIn(value: Json | undefined): JsonObject | null {
  return value !== undefined && isJsonObject(value) ? value : null;
}
