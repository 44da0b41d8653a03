import type { StoredDelivery } from '../core/arrival.js';
import type { EventKind } from '../core/event-kinds.js';
import { hashOf } from '../core/ids.js';
import { factKeyOf, isZeroSha, type EventFact } from './event-fact.js';
import { objectOf, textOf } from './read-fields.js';

/**
 * What happens to deliveries of one text. Nothing in a delivery protects against a replay: its id stands outside the signature, its text does not.
 * Times have one second, so two acts may have one text (closed, reopened, closed within a second): the second one counts where an act that undid the
 * first was received between, and shortly after the first. All others are duplicates, for ever.
 */

/** A delivery that counts as an act of its text. Of one that the store keeps no more, `hook` and `deliveryId` are empty: no second act is so young. */
export interface TextAct {
  readonly id: string;
  readonly hook: string;
  readonly deliveryId: string;
  readonly receivedAt: Date;
}

/** Whoever does the same again within a second is seen by us within so much. */
const SECOND_ACT_WITHIN_MS = 10_000;

/** So long a delivery waits for what was received before it. */
const WAITS_AT_MOST_MS = 60 * 60_000;
/**
 * … and so long for what was received after it, if an equal one that was received later was decided first. The two may wait for each other, and
 * hundreds for them: in a flood of replays whose order is lost, each turn would try them all again.
 */
const WAITS_OUT_OF_ORDER_MS = SECOND_ACT_WITHIN_MS;

/** Names the first act of a text, in hex: the same text of one organization under one event type, through whatever hook and id. */
export function textKeyOf({ forge, org, textHash }: TextOwner, eventType: string): string {
  return hashOf('delivery', forge, org.toLowerCase(), eventType, textHash);
}

/** Of a text that makes no event: one for all event types, or whoever has a signed text fills the store under made-up ones. */
export function quarantineKeyOf({ forge, org, textHash }: TextOwner): string {
  return hashOf('quarantined', forge, org.toLowerCase(), textHash);
}

type TextOwner = Pick<StoredDelivery, 'forge' | 'org' | 'textHash'>;

/** Names the second act of a text, after which none counts. */
export function secondKeyOf(textKey: string): string {
  return hashOf('second', textKey);
}

/** Whether an equal delivery may be an act of its own, if one that undid the first was received between. */
export function mayBeSecondAct(first: TextAct, again: TextAct): boolean {
  return (
    again.hook === first.hook &&
    again.deliveryId !== '' &&
    again.deliveryId !== first.deliveryId &&
    Math.abs(again.receivedAt.getTime() - first.receivedAt.getTime()) <= SECOND_ACT_WITHIN_MS
  );
}

/** Whether an equal delivery still waits for what came between and is not decided. After that it is a duplicate: a poll finds the act, if it was one. */
export function stillWaits(first: Pick<TextAct, 'id'>, again: Pick<TextAct, 'id' | 'receivedAt'>, now: Date): boolean {
  const mostMs = first.id < again.id ? WAITS_AT_MOST_MS : WAITS_OUT_OF_ORDER_MS;
  return now.getTime() - again.receivedAt.getTime() <= mostMs;
}

/** Kinds that undo a kind, for the same object. One that undoes itself sets a value, and another text of it set another one. */
const UNDONE_BY: Partial<Record<EventKind, readonly EventKind[]>> = {
  'branch.created': ['branch.deleted'],
  'branch.deleted': ['branch.created'],
  'tag.deleted': ['tag.created'],
  'wiki.created': ['wiki.deleted'],
  'wiki.deleted': ['wiki.created'],
  'wiki.edited': ['wiki.edited'],
  'comment.edited': ['comment.edited'],
  'release.updated': ['release.updated'],
  'package.created': ['package.deleted'],
  'package.deleted': ['package.created'],
  'pull_request.review_requested': ['pull_request.review_request_removed'],
  'pull_request.review_request_removed': ['pull_request.review_requested'],
  ...ofTracker('issue'),
  ...ofTracker('pull_request'),
};

function ofTracker(what: 'issue' | 'pull_request'): Partial<Record<EventKind, readonly EventKind[]>> {
  return {
    [`${what}.closed`]: [`${what}.reopened`],
    [`${what}.reopened`]: [`${what}.closed`],
    [`${what}.edited`]: [`${what}.edited`],
    [`${what}.assigned`]: [`${what}.unassigned`],
    [`${what}.unassigned`]: [`${what}.assigned`],
    [`${what}.labeled`]: [`${what}.labeled`, `${what}.labels_cleared`],
    [`${what}.labels_cleared`]: [`${what}.labeled`],
    [`${what}.milestoned`]: [`${what}.milestoned`, `${what}.demilestoned`],
    [`${what}.demilestoned`]: [`${what}.milestoned`],
  };
}

/**
 * Fact keys of the acts that undo a fact: each stands for itself and for all that begin with it and a `|`. None: the act cannot happen twice, or
 * not with one text.
 */
export function oppositesOf({ kind, factKey, repo, data }: EventFact): string[] {
  const [repoId = '', , ...parts] = factKey.split('|');
  const [first = ''] = parts;
  const ofKind = (other: EventKind, ...named: readonly string[]): string => [repoId, other, ...named].join('|');
  switch (kind) {
    // Somebody set the ref back to where this push found it, or deleted the branch that this push made.
    case 'push': {
      const before = textOf(data.before);
      const isNew = isZeroSha(before);
      const back = before === '' ? [] : [ofKind('push', first, isNew ? '0' : before)];
      return isNew && repo && data.branch !== undefined
        ? [...back, factKeyOf(repo.id, 'branch.deleted', textOf(data.branch))]
        : back;
    }
    case 'tag.created':
      return [ofKind('tag.deleted', first)];
    // Between two pushes of one head was one of another.
    case 'pull_request.synchronized':
      return [ofKind('pull_request.synchronized', first)];
    case 'release.published': {
      const id = textOf(objectOf(data.release)?.id);
      return id === '' ? [] : [ofKind('release.updated', id)];
    }
    default:
      return (UNDONE_BY[kind] ?? []).map((other) => ofKind(other, ...parts));
  }
}

/** Whether a fact key is one of these, or begins with one. */
export function isOneOf(factKey: string, keys: readonly string[]): boolean {
  return keys.some((key) => factKey === key || factKey.startsWith(`${key}|`));
}
