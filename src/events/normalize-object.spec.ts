import { describe, expect, it } from '@jest/globals';
import type { EventRepository } from '../core/event.js';
import { factOfObject, kindsOfObject } from './normalize-object.js';

const repo: EventRepository = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
const ann = { id: '3', login: 'ann' };
const issue = { id: '20', number: 12, title: 'Slow', state: 'open', user: ann, labels: [{ name: 'kind/bug' }] };
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

  it('takes the newest comment, with its author, and says that there is none', () => {
    expect(factOfObject('comment.created', asPull, repo)).toMatchObject({
      actor: { login: 'ben' },
      data: { is_pull: true, comment: { body: '/retest' } },
    });
    expect(factOfObject('comment.created', asIssue, repo)).toMatchObject({ reason: 'it has no comment' });
  });

  it('makes each kind that it offers', () => {
    const kinds = [false, true].flatMap((isPull) => kindsOfObject(isPull).map((kind) => [kind, isPull] as const));
    const made = kinds.map(([kind, isPull]) => {
      const fact = factOfObject(kind, isPull ? asPull : { ...asIssue, comment: asPull.comment }, repo);
      return 'kind' in fact ? fact.kind : fact.reason;
    });

    expect(made).toEqual(kinds.map(([kind]) => kind));
  });
});
