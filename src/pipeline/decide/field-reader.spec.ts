import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { everyRepositoryIsOurs } from '../../../test/fakes/repository-owners.js';
import { ForgeError } from '../../core/errors.js';
import { LEARNED, isUnknown } from '../../core/event-knowledge.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { ForgeAccess } from '../execute/forge-access.js';
import { FieldReader } from './field-reader.js';

const [OLD, ONE, TWO] = ['0a', '1b', '2c'].map((pair) => pair.repeat(20)) as [string, string, string];
const commit = (sha: string, added: string[], removed: string[] = []) => ({
  sha,
  html_url: `https://f/${sha}`,
  commit: { message: sha, author: { name: 'a', email: 'e', date: 'd' }, committer: { name: 'a', email: 'e' } },
  files: [
    ...added.map((filename) => ({ filename, status: 'added' })),
    ...removed.map((filename) => ({ filename, status: 'removed' })),
  ],
});

describe('pipeline/decide/field-reader', () => {
  let calls: string[];
  let answers: Record<string, (params: Record<string, unknown>) => unknown>;
  let learned: Array<[string, object]>;
  let clock: ManualClock;
  let reader: FieldReader;

  beforeEach(() => {
    [calls, answers, learned, clock] = [[], {}, [], new ManualClock()];
    const client = new Proxy(
      {},
      {
        get: (_, name: string) => async (params: Record<string, unknown>) => {
          calls.push(name);
          return answers[name]?.(params);
        },
      },
    );
    const access = { client, offers: (name: string) => name in answers } as unknown as ForgeAccess;
    reader = new FieldReader(
      { get: () => access },
      everyRepositoryIsOurs,
      { learn: async (id, known) => void learned.push([id, known]) },
      clock,
    );
  });

  const push = (over: object = {}): ForgeEvent =>
    anEvent({
      source: 'feed',
      data: {
        ref: 'refs/heads/main',
        branch: 'main',
        after: TWO,
        compare_url: `acme/app/compare/${OLD}...${TWO}`,
        commits: [{ id: TWO }, { id: ONE }],
        head_commit: { id: TWO },
        total_commits: 2,
        ...over,
      },
    });
  const byId: Record<string, object> = {
    [ONE]: commit(ONE, ['docs/a.md', 'tmp']),
    [TWO]: commit(TWO, ['b.md'], ['tmp']),
  };

  it('reads the files of each commit that a push shows', async () => {
    answers['getCommit'] = ({ sha }) => byId[String(sha)];
    const event = push();
    const known = await reader.read(event, ['event.files.added']);

    expect(calls).toEqual(['getCommit', 'getCommit']);
    // What one commit adds and the next removes stands in both lists.
    expect(known?.data).toMatchObject({
      files: { added: ['b.md', 'docs/a.md', 'tmp'], modified: [], removed: ['tmp'] },
      files_complete: true,
      commits: [
        { id: TWO, added: ['b.md'], removed: ['tmp'] },
        { id: ONE, added: ['docs/a.md', 'tmp'] },
      ],
      head_commit: { id: TWO, added: ['b.md'] },
      [LEARNED]: ['files'],
    });
    expect(known && isUnknown(known, 'files.added')).toBe(false);
    expect(learned).toEqual([[event.id, { data: known?.data, repo: event.repo }]]);
    expect(known && (await reader.read(known, ['event.files.added']))).toBeNull();
  });

  it('compares both ends of a push that shows a part of its commits, also of one that was delivered', async () => {
    answers['compareCommits'] = ({ basehead }) => {
      expect(basehead).toBe(`${OLD}...${TWO}`);
      return { total_commits: 2, commits: [byId[TWO], byId[ONE]] };
    };
    for (const before of [{}, { before: OLD, files: { added: ['b.md'], modified: [], removed: [] } }]) {
      const event = push({ commits: [{ id: TWO, added: ['b.md'] }], files_complete: false, ...before });
      expect((await reader.read({ ...event, source: 'webhook' }, ['event.files_complete']))?.data).toMatchObject({
        files: { added: ['b.md', 'docs/a.md', 'tmp'] },
        files_complete: true,
      });
    }
  });

  it('says whose account a commit is of, and that it is of none only where the forge says so', async () => {
    const persons = { author: { name: 'A', email: 'a@x' }, committer: { name: 'A', email: 'a@x' } };
    const of = (id: string, more: object): object => ({ ...byId[id], commit: { message: 'm', ...persons }, ...more });
    const all: Record<string, object> = {
      [ONE]: of(ONE, {}),
      [TWO]: of(TWO, { author: { login: 'ann' }, committer: null }),
    };
    answers['getCommit'] = ({ sha }) => all[String(sha)];
    const read = await reader.read(push({ commits: [{ id: TWO }, { id: ONE }] }), ['event.commits']);

    const [two, one] = read?.data['commits'] as JsonObject[];
    expect(two).toMatchObject({ author: { name: 'A', username: 'ann' }, committer: { name: 'A', username: '' } });
    expect(one?.['author']).toEqual({ name: 'A', email: 'a@x' });
  });

  it('adds the account to the name that a row of the feed told', async () => {
    answers['getCommit'] = ({ sha }) => ({ ...byId[String(sha)], author: { login: 'ann' }, committer: null });
    const author = { name: 'As the row says', email: 'a@x' };
    const read = await reader.read(push({ commits: [{ id: TWO, author }, { id: ONE }] }), [
      'event.commits[].author.username',
    ]);

    const [two] = read?.data['commits'] as JsonObject[];
    expect(two?.['author']).toEqual({ ...author, username: 'ann' });
  });

  it.each<[string, object]>([
    ['another number of commits', { total_commits: 3, commits: [{ id: TWO }] }],
    ['a ref that is gone', { deleted: true }],
    ['no new end', { after: undefined }],
  ])('does not take a part for the whole: %s', async (_why, over) => {
    answers['getCommit'] = ({ sha }) => byId[String(sha)];
    answers['compareCommits'] = () => ({ total_commits: 2, commits: [byId[TWO], byId[ONE]] });
    expect(await reader.read(push(over), ['event.files.added'])).toBeNull();
  });

  it('a commit that is gone, or does not say its files, tells nothing', async () => {
    answers['getCommit'] = () => {
      throw new ForgeError('refused', 'gone', { status: 404 } as never);
    };
    expect(await reader.read(push(), ['event.files.added'])).toBeNull();
    answers['getCommit'] = ({ sha }) => ({ ...byId[String(sha)], files: undefined });
    expect(await reader.read(push(), ['event.files.added'])).toBeNull();
    expect(learned).toEqual([]);
  });

  it.each<[string, ForgeEvent, string, string, object, object]>([
    [
      'labels',
      anEvent({ kind: 'issue.opened', source: 'feed', data: { number: 4, issue: { number: 4, title: 'then' } } }),
      'event.labels',
      'getIssue',
      { number: 4, title: 'now', labels: [{ name: 'bug' }] },
      { issue: { number: 4, title: 'then', labels: [{ name: 'bug' }] } },
    ],
    [
      'the author',
      anEvent({ kind: 'comment.created', source: 'feed', data: { number: 4, issue: { number: 4 } } }),
      'event.author',
      'getIssue',
      { number: 4, user: { login: 'ann' } },
      { issue: { number: 4, user: { login: 'ann' } } },
    ],
    [
      'the author of a pull request',
      anEvent({ kind: 'pull_request.opened', source: 'feed', data: { number: 4, pull_request: { number: 4 } } }),
      'event.author',
      'getPull',
      { number: 4, user: { login: 'ann' }, head: { sha: ONE } },
      { pull_request: { user: { login: 'ann' } }, sha: ONE },
    ],
    [
      'the base of a pull request',
      anEvent({ kind: 'pull_request.opened', source: 'lists', data: { number: 4, pull_request: { number: 4 } } }),
      'event.branch',
      'getPull',
      { number: 4, base: { ref: 'main' }, head: { sha: ONE } },
      { branch: 'main', sha: ONE, pull_request: { base: { ref: 'main' } } },
    ],
    [
      'a release',
      anEvent({ kind: 'release.published', source: 'feed', data: { tag: 'v1', release: { tag_name: 'v1' } } }),
      'event.release.body',
      'getReleaseByTag',
      { id: '8', tag_name: 'v1', body: 'text' },
      { release: { id: '8', body: 'text' } },
    ],
    [
      'a comment',
      anEvent({ kind: 'comment.created', source: 'feed', data: { number: 4, comment: { id: '9', body: 'x' } } }),
      'event.comment.html_url',
      'getComment',
      { id: '9', html_url: 'https://f/9' },
      { comment: { body: 'x', html_url: 'https://f/9' } },
    ],
  ])('reads %s', async (_what, event, path, operation, answer, data) => {
    answers[operation] = () => answer;
    expect((await reader.read(event, [path]))?.data).toMatchObject(data);
    expect(calls).toEqual([operation]);
  });

  it('reads what the repository is', async () => {
    answers['getRepo'] = () => ({ id: '7', archived: true, topics: ['x'], owner: { login: 'acme' } });
    const known = await reader.read(anEvent(), ['event.repo.topics']);
    expect(known?.repo).toMatchObject({ owner: 'acme', name: 'app', archived: true, topics: ['x'] });
  });

  it('says that nothing tells who did it, or what was there before a push', async () => {
    expect(await reader.read(push(), ['event.before', 'event.actor'])).toBeNull();
    expect(calls).toEqual([]);
  });

  it('waits for a forge that cannot be asked, for a day', async () => {
    answers['getCommit'] = () => {
      throw new ForgeError('unknown', 'away', {} as never);
    };
    const event = push();
    clock.advance(event.storedAt.getTime() - clock.now().getTime());
    await expect(reader.read(event, ['event.files.added'])).rejects.toThrow('away');
    clock.advance(24 * 3_600_000);
    expect(await reader.read(event, ['event.files.added'])).toBeNull();
  });
});
