import { describe, expect, it } from '@jest/globals';
import { normalizeDelivery } from '../../test/builders/normalize-delivery.js';
import { REPOSITORY, SHA_A, SHA_B, ZERO_SHA, sampleBody } from '../../test/builders/sample-bodies.js';
import type { JsonObject } from '../core/json.js';
import { stringifyJson } from '../core/json.js';
import {
  isOneOf,
  mayBeSecondAct,
  oppositesOf,
  quarantineKeyOf,
  secondKeyOf,
  stillWaits,
  textKeyOf,
} from './equal-texts.js';
import { Misfit, type EventFact } from './event-fact.js';

function factOf(eventType: string, change: JsonObject = {}): EventFact {
  const text = stringifyJson({ ...sampleBody(eventType), ...change });
  const fact = normalizeDelivery({ org: 'acme', eventType, text });
  if (fact instanceof Misfit) throw new Error(fact.reason);
  return fact;
}

const ISSUE = sampleBody('issues').issue as JsonObject;
const issue = (eventType: string, action: string): EventFact =>
  factOf(eventType, { action, issue: { ...ISSUE, title: action } });
const push = (before: string, after: string): EventFact => factOf('push', { ref: 'refs/heads/main', before, after });
const ref = (eventType: 'create' | 'delete', ref_type: string, name: string): EventFact =>
  factOf(eventType, { ref: name, ref_type });
const wiki = (action: string): EventFact => factOf('wiki', { action });

describe('events/equal-texts', () => {
  it.each<[string, EventFact, EventFact]>([
    ['closing an issue', issue('issues', 'closed'), issue('issues', 'reopened')],
    ['reopening an issue', issue('issues', 'reopened'), issue('issues', 'closed')],
    ['a change of labels', issue('issue_label', 'label_updated'), issue('issue_label', 'label_cleared')],
    ['another change of labels', issue('issue_label', 'label_updated'), issue('issue_label', 'label_updated')],
    ['an assignment', issue('issue_assign', 'assigned'), issue('issue_assign', 'unassigned')],
    ['a milestone', issue('issue_milestone', 'milestoned'), issue('issue_milestone', 'milestoned')],
    ['an edit', issue('issues', 'edited'), issue('issues', 'edited')],
    ['a push', push(SHA_A, SHA_B), push(SHA_B, SHA_A)],
    ['the push of a new branch', push(ZERO_SHA, SHA_A), ref('delete', 'branch', 'main')],
    ['a branch', ref('create', 'branch', 'a|b'), ref('delete', 'branch', 'a|b')],
    ['the end of a branch', ref('delete', 'branch', 'a'), ref('create', 'branch', 'a')],
    ['a tag', ref('create', 'tag', 'v1'), ref('delete', 'tag', 'v1')],
    ['the end of a tag', ref('delete', 'tag', 'v1'), ref('create', 'tag', 'v1')],
    ['a page of the wiki', wiki('created'), wiki('deleted')],
  ])('%s is undone by its opposite', (_title, fact, opposite) => {
    expect(isOneOf(opposite.factKey, oppositesOf(fact))).toBe(true);
  });

  it.each<[string, EventFact, EventFact]>([
    ['closing an issue, by a comment on it', issue('issues', 'closed'), factOf('issue_comment')],
    [
      'closing an issue, by another issue that is reopened',
      issue('issues', 'closed'),
      factOf('issues', { action: 'reopened', issue: { ...ISSUE, number: 10 * Number(ISSUE.number) } }),
    ],
    [
      'closing an issue, by one of another repository',
      issue('issues', 'closed'),
      factOf('issues', { action: 'reopened', repository: { ...REPOSITORY, id: 8 } }),
    ],
    ['a push, by the next one', push(SHA_A, SHA_B), push(SHA_B, ZERO_SHA)],
    [
      'a branch, by the end of one whose name begins with its',
      ref('create', 'branch', 'a'),
      ref('delete', 'branch', 'ab'),
    ],
  ])('%s is not undone', (_title, fact, other) => {
    expect(isOneOf(other.factKey, oppositesOf(fact))).toBe(false);
  });

  it.each(['fork', 'status', 'workflow_run', 'workflow_job', 'action_run_success', 'issue_comment'])(
    'what happens once has no opposite: %s',
    (eventType) => {
      expect(oppositesOf(factOf(eventType))).toEqual([]);
    },
  );

  const AT = new Date('2026-11-20T12:00:00Z');
  const act = (over: object = {}) => ({ id: 'a', hook: 'acme', deliveryId: 'one', receivedAt: AT, ...over });
  const later = (ms: number): Date => new Date(AT.getTime() + ms);

  it.each<[string, object, boolean]>([
    ['under another delivery id, within ten seconds', { receivedAt: later(10_000) }, true],
    ['whatever the order in which receivers had them', { receivedAt: later(-10_000) }, true],
    ['later', { receivedAt: later(10_001) }, false],
    ['under the same delivery id', { deliveryId: 'one' }, false],
    ['without a delivery id', { deliveryId: '' }, false],
    ['by another hook', { hook: 'second' }, false],
  ])('an equal text %s', (_title, over, expected) => {
    expect(mayBeSecondAct(act(), act({ deliveryId: 'two', ...over }))).toBe(expected);
  });

  it.each<[string, object, number, boolean]>([
    ['received after the first waits an hour', { id: 'b' }, 3_600_000, true],
    ['received after the first waits no longer', { id: 'b' }, 3_600_001, false],
    ['received before the first waits ten seconds, since both may wait for each other', { id: '0' }, 10_000, true],
    ['received before the first waits no longer', { id: '0' }, 10_001, false],
  ])('an equal text that was %s', (_title, over, afterMs, expected) => {
    expect(stillWaits(act(), act(over), later(afterMs))).toBe(expected);
  });

  it('names a text for its organization in any spelling, its event type and its forge', () => {
    const text = { forge: 'main', org: 'acme', textHash: 'aa' };
    const key = textKeyOf(text, 'push');

    expect(textKeyOf({ ...text, org: 'ACME' }, 'push')).toBe(key);
    const others = [
      textKeyOf(text, 'create'),
      textKeyOf({ ...text, org: 'other' }, 'push'),
      textKeyOf({ ...text, forge: 'second' }, 'push'),
      textKeyOf({ ...text, textHash: 'ab' }, 'push'),
      secondKeyOf(key),
      quarantineKeyOf(text),
    ];
    expect(new Set([key, ...others]).size).toBe(7);
  });
});
