import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES } from '../../core/event-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { JsonObject } from '../../core/json.js';
import type { EventFact } from '../event-fact.js';
import { deriveFacts, statedObjectOf } from './derive-facts.js';
import { TRACKED_THINGS } from './tracked-things.js';

const REPO = { id: '37', owner: 'acme', name: 'app', full_name: 'acme/app' };

function aFact(kind: EventKind, data: JsonObject, second: number | null = null): EventFact {
  const factAt = second === null ? null : new Date(Date.UTC(2026, 10, 20, 12, 0, second));
  return { kind, factKey: `37|${kind}`, factAt, actor: null, repo: REPO, data };
}

/** What is derived from the facts, each seen against what the ones before it left. */
function told(...facts: readonly EventFact[]): Array<JsonObject | null> {
  const states = new Map<string, JsonObject>();
  return facts.map((fact) => {
    const key = JSON.stringify(statedObjectOf(fact));
    const { facts: derived, state } = deriveFacts(fact, states.get(key) ?? null);
    if (state) states.set(key, state);
    return derived;
  });
}

const issue = (kind: EventKind, fields: JsonObject, second: number | null = null): EventFact =>
  aFact(kind, { number: 1, issue: { number: 1, ...fields } }, second);
const named = (...names: string[]): JsonObject => ({ labels: names.map((name) => ({ name })) });
const pull = (kind: EventKind, fields: JsonObject, second: number | null = null): EventFact =>
  aFact(kind, { number: 4, pull_request: { number: 4, ...fields } }, second);
const release = (kind: EventKind, fields: JsonObject): EventFact =>
  aFact(kind, { tag: 'v1', release: { id: '8', tag_name: 'v1', ...fields } });
const job = (conclusion: string, second: number, more: JsonObject = { branch: 'main' }): EventFact =>
  aFact('task.finished', { task: { name: 'build', conclusion }, ...more }, second);

const UNKNOWN_LABELS = { not_known: ['labels_added', 'labels_removed'] };

describe('events/derive', () => {
  it('says which labels were put on and taken off', () => {
    const derived = told(
      issue('issue.opened', named(), 1),
      issue('issue.labeled', named('bug'), 2),
      issue('issue.labeled', named('bug', 'feature'), 3),
      issue('issue.labeled', named('later'), 4),
      issue('issue.labels_cleared', named(), 5),
    );

    expect(derived).toEqual([
      null,
      { labels_added: ['bug'], labels_removed: [], not_known: [] },
      { labels_added: ['feature'], labels_removed: [], not_known: [] },
      { labels_added: ['later'], labels_removed: ['bug', 'feature'], not_known: [] },
      { labels_added: [], labels_removed: ['later'], not_known: [] },
    ]);
  });

  it('says that it does not know where no earlier state is held', () => {
    expect(told(issue('issue.labeled', named('bug'), 1))).toEqual([UNKNOWN_LABELS]);
  });

  it('takes the labels an issue was opened with for put on by the facts that say so', () => {
    const [, labeled] = told(issue('issue.opened', named('bug'), 1), issue('issue.labeled', named('bug'), 1));

    expect(labeled).toEqual({ labels_added: ['bug'], labels_removed: [], not_known: [] });
  });

  it('takes what it was opened with for put on, also where the feed dates the opening a second later', () => {
    const derived = told(
      issue('issue.opened', named('bug'), 2),
      issue('issue.labeled', named('bug'), 1),
      pull('pull_request.opened', { assignees: [{ login: 'ann' }] }, 2),
      pull('pull_request.assigned', { assignees: [{ login: 'ann' }] }, 1),
    );

    expect(derived).toMatchObject([
      null,
      { labels_added: ['bug'], not_known: [] },
      null,
      { assignees_added: ['ann'], not_known: [] },
    ]);
  });

  it('learns from what comes along with another fact, until a fact of its own speaks', () => {
    const derived = told(
      issue('issue.edited', named('bug'), 1),
      issue('issue.labeled', named(), 2),
      issue('issue.edited', named('race'), 3),
    );

    expect(derived[1]).toEqual({ labels_added: [], labels_removed: ['bug'], not_known: [] });
    expect(
      told(
        issue('issue.labeled', named(), 2),
        issue('issue.edited', named('race'), 3),
        issue('issue.labeled', named('race'), 4),
      )[2],
    ).toMatchObject({
      labels_added: ['race'],
    });
  });

  it('derives nothing from an older fact that comes late, and lets it change nothing', () => {
    const derived = told(
      issue('issue.opened', named(), 1),
      issue('issue.labeled', named('a', 'b'), 5),
      issue('issue.labeled', named('a'), 3),
      issue('issue.labeled', named('b'), 6),
    );

    expect(derived[2]).toEqual(UNKNOWN_LABELS);
    expect(derived[3]).toMatchObject({ labels_added: [], labels_removed: ['a'] });
  });

  it('takes facts of one second in the order in which they come', () => {
    const derived = told(
      issue('issue.opened', named(), 1),
      issue('issue.labeled', named('a'), 1),
      issue('issue.labeled', named('a', 'b'), 1),
    );

    expect(derived.slice(1).map((one) => one?.labels_added)).toEqual([['a'], ['b']]);
  });

  it('says who was assigned and which milestone it was', () => {
    const users = (...logins: string[]): JsonObject => ({
      assignees: logins.length > 0 ? logins.map((login) => ({ login })) : null,
    });
    const derived = told(
      issue('issue.opened', {}, 1),
      issue('issue.assigned', users('ann', 'ben'), 2),
      issue('issue.unassigned', users('ben'), 3),
      issue('issue.unassigned', users(), 4),
      issue('issue.milestoned', { milestone: { title: '1.0' } }, 5),
      issue('issue.milestoned', { milestone: { title: '2.0' } }, 6),
      issue('issue.demilestoned', { milestone: null }, 7),
    );

    expect(derived.slice(1)).toEqual([
      { assignees_added: ['ann', 'ben'], assignees_removed: [], not_known: [] },
      { assignees_added: [], assignees_removed: ['ann'], not_known: [] },
      { assignees_added: [], assignees_removed: ['ben'], not_known: [] },
      { milestone_before: null, milestone_after: '1.0', not_known: [] },
      { milestone_before: '1.0', milestone_after: '2.0', not_known: [] },
      { milestone_before: '2.0', milestone_after: null, not_known: [] },
    ]);
  });

  it('knows the milestone it has now where it does not know the one before', () => {
    expect(told(issue('issue.milestoned', { milestone: { title: '1.0' } }, 1))).toEqual([
      { milestone_after: '1.0', not_known: ['milestone_before'] },
    ]);
  });

  it('says that a pull request left draft, whichever event tells it', () => {
    const derived = told(
      pull('pull_request.opened', { draft: false }, 1),
      pull('pull_request.edited', { draft: true }, 2),
      pull('pull_request.edited', { draft: true }, 3),
      pull('pull_request.edited', { draft: false }, 4),
      pull('pull_request.edited', { draft: false }, 5),
    );

    expect(derived.slice(1).map((one) => one?.left_draft)).toEqual([false, false, true, false]);
    expect(told(pull('pull_request.ready_for_review', { draft: false }, 1))).toEqual([
      { left_draft: true, not_known: [] },
    ]);
    expect(told(pull('pull_request.edited', { draft: false }, 1))).toEqual([{ not_known: ['left_draft'] }]);
  });

  it('says that a release became public, also by an update', () => {
    const first = '2026-11-20T12:00:00Z';
    const later = '2026-11-20T13:00:00Z';

    expect(told(release('release.published', { draft: false, published_at: first }))).toEqual([
      { became_public: true, not_known: [] },
    ]);
    expect(told(release('release.updated', { draft: false, published_at: first }))).toEqual([
      { not_known: ['became_public'] },
    ]);
    expect(
      told(
        release('release.updated', { draft: true, published_at: null }),
        release('release.updated', { draft: false, published_at: first }),
        release('release.updated', { draft: false, published_at: first }),
        release('release.updated', { draft: false, published_at: later }),
      ).map((one) => one?.became_public),
    ).toEqual([false, true, false, true]);
  });

  it('says that a job failed after it had passed, on one branch or pull request', () => {
    const derived = told(job('success', 1), job('skipped', 2), job('failure', 3), job('failure', 4), job('success', 5));

    expect(derived).toEqual([
      { failed_after_pass: false, not_known: ['previous_conclusion'] },
      { not_known: [] },
      { previous_conclusion: 'success', failed_after_pass: true, not_known: [] },
      { previous_conclusion: 'failure', failed_after_pass: false, not_known: [] },
      { previous_conclusion: 'failure', failed_after_pass: false, not_known: [] },
    ]);
    const asRow = { task: { name: 'build', conclusion: 'failure', head_branch: '#6' } };
    expect(told(job('success', 1), aFact('task.finished', asRow, 2))[1]).toEqual({
      not_known: ['previous_conclusion', 'failed_after_pass'],
    });
    expect(told(job('success', 1, { pull_request: { number: 6 } }), aFact('task.finished', asRow, 2))[1]).toMatchObject(
      { failed_after_pass: true },
    );
  });

  it('keeps objects of different repositories, kinds and numbers apart', () => {
    const of = (fact: EventFact, id: string): EventFact => ({ ...fact, repo: { ...REPO, id } });
    const keys = [
      issue('issue.labeled', {}),
      of(issue('issue.labeled', {}), '38'),
      pull('pull_request.labeled', {}),
      job('success', 1),
      job('success', 1, {}),
    ];

    expect(new Set(keys.map((fact) => JSON.stringify(statedObjectOf(fact)))).size).toBe(5);
    expect(statedObjectOf(aFact('push', { branch: 'main' }))).toBeNull();
  });

  it('writes nothing where nothing changed', () => {
    const { state } = deriveFacts(issue('issue.labeled', named('bug'), 1), null);

    expect(deriveFacts(issue('issue.labeled', named('bug'), 1), state).state).toBeNull();
    expect(deriveFacts(aFact('push', { branch: 'main' }), null)).toEqual({ facts: null, state: null });
  });

  it('has a typed field for everything that it derives', () => {
    for (const thing of Object.values(TRACKED_THINGS).flat()) {
      for (const kind of thing.about) {
        const type = EVENT_TYPES.get(kind)?.type.fields.derived?.type;
        const names = Object.keys(thing.derive(undefined, [], aFact(kind, {})));
        expect([kind, type?.kind === 'object' ? Object.keys(type.fields).sort() : null]).toEqual([
          kind,
          [...names, 'not_known'].sort(),
        ]);
      }
    }
  });
});
