import { describe, expect, it } from '@jest/globals';
import { SAMPLE_BODIES, sampleBody } from '../../../test/builders/sample-bodies.js';
import { organizationOf } from './organization-of.js';

describe('ingest/webhooks/organization-of', () => {
  it('finds the organization of every event type', () => {
    for (const [eventType, body] of Object.entries(SAMPLE_BODIES)) expect([eventType, organizationOf(eventType, body)]).toEqual([eventType, 'acme']);
  });

  it.each([
    ["the original's owner of a fork", 'fork', sampleBody('fork'), 'acme'],
    ["the repository's owner of anything else that has a forkee", 'push', { ...sampleBody('push'), forkee: { owner: { login: 'evil' } } }, 'acme'],
    ['the repository before the organization', 'repository', { repository: { owner: { login: 'one' } }, organization: { login: 'two' } }, 'one'],
    ["the package's owner", 'package', { repository: null, package: { owner: { login: 'one' } }, organization: { username: 'two' } }, 'one'],
    ["the run's repository", 'action_run_success', { run: { repository: { owner: { login: 'one' } } } }, 'one'],
    ['the organization itself', 'whatever', { organization: { username: 'two' } }, 'two'],
    ['an organization by name', 'whatever', { organization: { name: 'two' } }, 'two'],
  ])('%s', (_title, eventType, body, expected) => {
    expect(organizationOf(eventType, body)).toBe(expected);
  });

  it.each([
    ['an empty body', {}],
    ['a list', []],
    ['a text', 'acme'],
    ['null', null],
    ['a repository that is a text', { repository: 'acme/app' }],
    ['an owner that is a text', { repository: { owner: 'acme' } }],
    ['an owner without a name', { repository: { owner: { id: 1 } } }],
    ['an owner named by a number', { repository: { owner: { login: 1 } } }],
    ['an inherited owner', Object.create({ repository: { owner: { login: 'acme' } } })],
  ])('%s => none', (_title, body) => {
    expect(organizationOf('push', body)).toBeNull();
  });
});
