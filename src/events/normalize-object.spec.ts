import { describe, expect, it } from '@jest/globals';
import type { EventRepository } from '../core/event.js';
import { factOfObject, kindsOfObject } from './normalize-object.js';

const repo: EventRepository = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
const ann = { id: '3', login: 'ann' };
const issue = {
  id: '20',
  number: 12,
  title: 'Slow',
  state: 'open',
  user: ann,
  labels: [{ name: 'kind/bug' }],
  milestone: null,
};
const pull = { ...issue, base: { ref: 'main' }, head: { sha: 'abc' }, merged: false, merged_by: null };
const asIssue = { issue, pull: null, comment: null };
const asPull = { issue, pull, comment: { id: '5', body: '/retest', user: { id: '4', login: 'ben' } } };

describe('events/normalize-object', () => {
  it('makes what a delivery of the opening would tell', () => {
    expect(factOfObject('issue.opened', asIssue, repo)).toMatchObject({
      kind: 'issue.opened',
      factKey: '7|issue.opened|12',
      actor: ann,
      data: { action: 'opened', number: 12, issue },
    });
    expect(factOfObject('pull_request.opened', asPull, repo)).toMatchObject({
      kind: 'pull_request.opened',
      data: { number: 12, branch: 'main', sha: 'abc', pull_request: pull },
    });
  });

  it('shows a merge as merged, and counts labels that are there as just put on', () => {
    expect(factOfObject('pull_request.merged', asPull, repo)).toMatchObject({
      kind: 'pull_request.merged',
      data: { action: 'closed', pull_request: { merged: true, state: 'closed' } },
    });
    expect(factOfObject('issue.labeled', asIssue, repo)).toMatchObject({
      data: { action: 'label_updated', derived: { labels_added: ['kind/bug'], labels_removed: [], not_known: [] } },
    });
  });

  const times = { updated_at: '2026-07-30T12:00:00Z', closed_at: null };
  const merged = {
    ...pull,
    ...times,
    state: 'closed',
    merged: true,
    merged_at: times.updated_at,
    merged_by: { id: '9', login: 'cy' },
  };
  it.each([
    ['issue.closed', { ...issue, ...times }, { state: 'closed', closed_at: times.updated_at }],
    ['issue.reopened', { ...issue, state: 'closed', closed_at: times.updated_at }, { state: 'open', closed_at: null }],
    ['issue.demilestoned', { ...issue, milestone: { title: '1.0' } }, { milestone: null }],
    ['pull_request.closed', { ...pull, ...times }, { state: 'closed', merged: false }],
    ['pull_request.merged', { ...pull, ...times }, { state: 'closed', merged: true, merged_at: times.updated_at }],
    ['pull_request.opened', merged, { state: 'open', merged: false, merged_at: null, merged_by: null }],
    ['pull_request.ready_for_review', { ...pull, draft: true, title: 'WIP: Slow' }, { draft: false, title: 'Slow' }],
    ['pull_request.labeled', merged, { state: 'closed', merged: true }],
  ] as const)('shows the object as it is right after %s', (kind, object, shown) => {
    const isPull = kind.startsWith('pull_request');
    const fact = factOfObject(kind, { issue: object, pull: isPull ? object : null, comment: null }, repo);

    expect(fact).toMatchObject({ kind, data: { [isPull ? 'pull_request' : 'issue']: shown } });
  });

  it('shows the closing of a merged pull request as its merge, by whoever merged it', () => {
    expect(factOfObject('pull_request.closed', { issue, pull: merged, comment: null }, repo)).toMatchObject({
      kind: 'pull_request.merged',
      actor: { login: 'cy' },
    });
  });

  it('takes the newest comment, with its author, and says that there is none', () => {
    expect(factOfObject('comment.created', asPull, repo)).toMatchObject({
      actor: { login: 'ben' },
      data: { is_pull: true, comment: { body: '/retest' } },
    });
    expect(factOfObject('comment.created', asIssue, repo)).toMatchObject({
      reason: 'it has no comment within a year of its last change',
    });
    expect(factOfObject('issue.milestoned', asIssue, repo)).toMatchObject({ reason: 'it has no milestone' });
  });

  it('makes each kind that it offers', () => {
    const kinds = [false, true].flatMap((isPull) => kindsOfObject(isPull).map((kind) => [kind, isPull] as const));
    const made = kinds.map(([kind, isPull]) => {
      const milestone = { title: '1.0' };
      const fact = factOfObject(
        kind,
        { issue: { ...issue, milestone }, pull: isPull ? { ...pull, milestone } : null, comment: asPull.comment },
        repo,
      );
      return 'kind' in fact ? fact.kind : fact.reason;
    });

    expect(made).toEqual(kinds.map(([kind]) => kind));
  });
});
