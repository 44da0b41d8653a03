import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../src/core/json.js';
import type { Answer } from './answer.js';
import { compareAnswers } from './compare.js';

function anAnswer(changes: Partial<Answer> & { body: Json }): Answer {
  return { status: 200, totalCount: null, hasLink: false, origin: 'http://127.0.0.1:3300', ...changes };
}

function differencesOf(recorded: Json, answered: Json, path = '/repos/a/b'): string[] {
  const comparison = compareAnswers(anAnswer({ body: recorded }), anAnswer({ body: answered }), {
    server: 'gitea 1.27.0',
    path,
  });
  return comparison.differences.map((one) => one.what);
}

const DIGEST = '(70000 characters, sha256 bca09f4a757d5571c7d9f3341d4301f3c391c090826acc1a3013c6bcb7c01722)';

function pushOf(...digits: string[]): string {
  return JSON.stringify({ is_force_push: false, commit_ids: digits.map((digit) => digit.repeat(40)) });
}

describe('contract/compare', () => {
  it.each<[string, Json, Json, string[]]>([
    ['the same => equal', { name: 'bug' }, { name: 'bug' }, []],
    ['another text => different', { name: 'bug' }, { name: 'bugs' }, ['name']],
    ['another number => different', { number: 1 }, { number: 2 }, ['number']],
    ['a number for its text => different', { number: 1 }, { number: '1' }, ['number']],
    ['a key less => different', { a: 1, b: 2 }, { a: 1 }, ['b']],
    ['a key more => different', { a: 1 }, { a: 1, b: 2 }, ['b']],
    ['a shorter array => different', { labels: ['x', 'y'] }, { labels: ['x'] }, ['length of labels']],
    ['units of a team in another order => free', { units: ['x', 'y'] }, { units: ['y', 'x'] }, []],
    ['another unit of a team => different', { units: ['x', 'y'] }, { units: ['x', 'z'] }, ['units.(as a set)']],
    ['another order => different', ['x', 'y'], ['y', 'x'], ['[0]', '[1]']],
    ['other commits in the text of a push => free', { body: pushOf('a') }, { body: pushOf('b') }, []],
    ['one commit more in it => different', { body: pushOf('a') }, { body: pushOf('a', 'b') }, ['body']],
    ['other commits in another text => different', { title: pushOf('a') }, { title: pushOf('b') }, ['title']],
    ['assignees in another order => free', { assignees: ['a', 'b'] }, { assignees: ['b', 'a'] }, []],
    ['another assignee => different', { assignees: ['a', 'b'] }, { assignees: ['a', 'c'] }, ['assignees.(as a set)']],
    [
      'any of several assignees as the one => free',
      { assignee: { login: 'a' }, assignees: [{ login: 'a' }, { login: 'b' }] },
      { assignee: { login: 'b' }, assignees: [{ login: 'b' }, { login: 'a' }] },
      [],
    ],
    [
      'an assignee who is none of them => different',
      { assignee: { login: 'a' }, assignees: [{ login: 'a' }, { login: 'b' }] },
      { assignee: { login: 'c' }, assignees: [{ login: 'a' }, { login: 'b' }] },
      ['assignee'],
    ],
    [
      'another one of one assignee => different',
      { assignee: { login: 'a' }, assignees: [{ login: 'a' }] },
      { assignee: { login: 'b' }, assignees: [{ login: 'a' }] },
      ['assignee.login'],
    ],
    [
      'a patch of another commit and day => equal',
      `From ${'a'.repeat(40)} Mon Sep 17 00:00:00 2001\nDate: Mon, 23 Nov 2026 01:54:00 +0000\n+ one`,
      `From ${'b'.repeat(40)} Mon Sep 17 00:00:00 2001\nDate: Fri, 27 Nov 2026 18:01:02 +0000\n+ one`,
      [],
    ],
    ['a text with another day => equal', { body: 'due 2026-11-20' }, { body: 'due 2026-11-27' }, []],
    ['a text without the day => different', { body: 'due 2026-11-20' }, { body: 'due' }, ['body']],
    [
      'a day in a text that is no text of the server => different',
      { title: '2026-11-20' },
      { title: '2026-11-27' },
      ['title'],
    ],
    ['a long text for its digest => equal', { body: DIGEST }, { body: 'x'.repeat(70_000) }, []],
    ['another long text => different', { body: DIGEST }, { body: 'x'.repeat(70_001) }, ['body']],
    ['an id => free', { id: 5, repo_id: 6 }, { id: 7, repo_id: 8 }, []],
    ['an id as text => different', { id: 5 }, { id: '5' }, ['id']],
    ['a key inside a closed object => free', { _links: { self: 'a' } }, { _links: { self: 'b' } }, []],
    [
      'a key less inside a closed object => different',
      { _links: { self: 'a', git: 'b' } },
      { _links: { self: 'a' } },
      ['_links.git'],
    ],
    ['null for a list => different', { assets: [] }, { assets: null }, ['assets']],
    ['two set times => equal', { due_on: '2027-01-31T13:00:00+01:00' }, { due_on: '2026-05-01T00:00:00Z' }, []],
    [
      'set and unset time => different',
      { last_login: '2027-01-31T13:00:00+01:00' },
      { last_login: '1970-01-01T01:00:00+01:00' },
      ['last_login'],
    ],
    [
      'two unset times => equal',
      { last_login: '0001-01-01T00:00:00Z' },
      { last_login: '1970-01-01T01:00:00+01:00' },
      [],
    ],
    [
      'the language of a repository that was not counted yet => free',
      { language: 'Go', languages_url: 'a' },
      { language: '', languages_url: 'a' },
      [],
    ],
    [
      'a merge that was not looked at yet => free',
      { mergeable: true, merge_base: 'a' },
      { mergeable: false, merge_base: 'a' },
      [],
    ],
    [
      'a merge that was not looked at when it was recorded => free',
      { mergeable: false, merge_base: 'a' },
      { mergeable: true, merge_base: 'a' },
      [],
    ],
    ['another language of a person => different', { language: 'en-US' }, { language: '' }, ['language']],
    ['a time and none => different', { closed_at: '2027-01-31T13:00:00+01:00' }, { closed_at: null }, ['closed_at']],
    ['a file that is not there => different', [null, { name: 'a' }], [null, null], ['[1]']],
  ])('%s', (_, recorded, answered, differences) => {
    expect(differencesOf(recorded, answered)).toEqual(differences);
  });

  it('makes the addresses of both servers alike', () => {
    const recorded = anAnswer({ body: { remote_address: 'http://127.0.0.1:3300/acme/t.git' } });
    const answer = anAnswer({
      body: { remote_address: 'http://127.0.0.1:4711/acme/t.git' },
      origin: 'http://127.0.0.1:4711',
    });

    expect(compareAnswers(recorded, answer, { server: 'gitea', path: '/x' }).differences).toEqual([]);
  });

  it('compares status, total count and the presence of Link', () => {
    const recorded = anAnswer({ body: [], totalCount: '3', hasLink: true });
    const answer = anAnswer({ body: [], status: 201 });

    expect(
      compareAnswers(recorded, answer, { server: 'gitea', path: '/x' }).differences.map((one) => one.what),
    ).toEqual(['status', 'X-Total-Count', 'Link']);
  });

  it('looks only at the kind of a refusal body', () => {
    const refusal = (body: Json): Answer => anAnswer({ status: 404, body });
    const kinds = (a: Json, b: Json): number =>
      compareAnswers(refusal(a), refusal(b), { server: 'gitea', path: '/x' }).differences.length;

    expect(kinds({ message: 'not found' }, { message: 'gone', errors: [] })).toBe(0);
    expect(kinds({ message: 'not found' }, '')).toBe(1);
    expect(kinds({ message: 'not found' }, '404 page not found')).toBe(1);
  });

  it('compares the events of a hook as a set, and no others', () => {
    expect(differencesOf({ events: ['push', 'release'] }, { events: ['release', 'push'] }, '/orgs/a/hooks/1')).toEqual(
      [],
    );
    expect(differencesOf({ events: ['push', 'push'] }, { events: ['release', 'push'] }, '/orgs/a/hooks/1')).toEqual([
      'events.(as a set)',
    ]);
    expect(differencesOf({ events: ['push', 'release'] }, { events: ['release', 'push'] }, '/repos/a/b')).toHaveLength(
      2,
    );
  });

  it.each(['/repos/a/b/compare/main...dev', '/repos/a/b/commits?limit=1'])(
    'compares the files of %s as a set, and no others',
    (path) => {
      const of = (...names: string[]): Json => ({ files: names.map((filename) => ({ filename })) });

      expect(differencesOf(of('a.md', 'b.md'), of('b.md', 'a.md'), path)).toEqual([]);
      expect(differencesOf(of('a.md', 'b.md'), of('b.md', 'c.md'), path)).toEqual(['files.(as a set)']);
      expect(differencesOf(of('a.md', 'a.md'), of('a.md', 'b.md'), path)).toEqual(['files.(as a set)']);
      expect(differencesOf(of('a.md', 'b.md'), of('b.md', 'a.md'), '/repos/a/b/pulls/1')).toHaveLength(2);
    },
  );

  it('lets assignments of one second stand in any order in a timeline, and nothing else', () => {
    const entry = (type: string, login: string, second = 0): Json => ({
      type,
      assignee: { login },
      created_at: `2026-11-20T19:08:5${second}Z`,
    });
    const [wes, olga, label] = [entry('assignees', 'wes'), entry('assignees', 'olga'), entry('label', '')];
    const timeline = '/repos/a/b/issues/1/timeline?limit=3';

    expect(differencesOf([label, wes, olga], [label, olga, wes], timeline)).toEqual([]);
    expect(differencesOf([wes, olga], [olga, wes])).not.toEqual([]);
    expect(differencesOf([wes, olga], [wes, wes], timeline)).not.toEqual([]);
    expect(differencesOf([wes, label, olga], [olga, label, wes], timeline)).not.toEqual([]);
    expect(differencesOf([wes, entry('assignees', 'olga', 1)], [olga, wes], timeline)).not.toEqual([]);
  });

  it('lets a page of tokens show another token of the same second, but no invented one', () => {
    const context = {
      server: 'gitea',
      path: '/users/tom/tokens?limit=1&page=2',
      listed: [
        { id: 1, name: 'one' },
        { id: 2, name: 'two' },
      ],
    };
    const page = (name: string): Answer => anAnswer({ body: [{ id: 9, name }] });

    expect(compareAnswers(page('one'), page('two'), context).differences).toEqual([]);
    expect(compareAnswers(page('one'), page('three'), context).differences).toHaveLength(1);
    expect(compareAnswers(page('three'), page('two'), context).differences).toHaveLength(1);
  });

  it('counts the leaves and those it compared', () => {
    const body = { id: 1, name: 'a', owner: { id: 2, login: 'b' }, tags: ['x', 'y'] };

    expect(compareAnswers(anAnswer({ body }), anAnswer({ body }), { server: 'gitea', path: '/x' })).toMatchObject({
      leaves: 6,
      compared: 4,
    });
  });
});
