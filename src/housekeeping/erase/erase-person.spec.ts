import { describe, expect, it } from '@jest/globals';
import type { Json } from '../../core/json.js';
import { addressesIn, PersonEraser, type PersonToErase } from './erase-person.js';

const ANN: PersonToErase = { login: 'ann', addresses: new Set(['ann@example.org']) };
const ann = { id: 7, login: 'Ann', full_name: 'Ann Example', email: 'ann@example.org', html_url: 'https://f/Ann' };
const annErased = { id: 7, login: 'Ann', full_name: '', email: '', html_url: 'https://f/Ann' };
const bob = { id: 8, login: 'bob', full_name: 'Bob', email: 'bob@example.org' };

const erased = (value: Json, isActor = false, known: readonly string[] = []) =>
  new PersonEraser(ANN, known).erase(value, isActor);

describe('housekeeping/erase-person', () => {
  const CASES: ReadonlyArray<readonly [what: string, before: Json, after: Json]> = [
    ['an account keeps number and name', { user: ann }, { user: annErased }],
    [
      'an issue of the person keeps its number and labels',
      { issue: { number: 3, title: 'My title', body: 'My body', user: ann, labels: [{ name: 'bug' }] }, sender: bob },
      { issue: { number: 3, title: '', body: '', user: annErased, labels: [{ name: 'bug' }] }, sender: bob },
    ],
    [
      'an issue of somebody else keeps its texts under a comment of the person',
      { issue: { title: 'His', body: 'His', user: bob }, comment: { id: 1, body: 'Mine', user: ann }, sender: ann },
      {
        issue: { title: 'His', body: 'His', user: bob },
        comment: { id: 1, body: '', user: annErased },
        sender: annErased,
      },
    ],
    [
      'a review names no author: it is the sender’s',
      { action: 'reviewed', review: { type: 'x', content: 'Mine' }, sender: ann },
      { action: 'reviewed', review: { type: 'x', content: '' }, sender: annErased },
    ],
    [
      'what an edit replaced goes with the text of the person, whoever edited',
      { changes: { title: { from: 'My old' } }, issue: { title: 'My new', user: ann }, sender: bob },
      { changes: { title: { from: '' } }, issue: { title: '', user: annErased }, sender: bob },
    ],
    [
      'what an edit of somebody else’s text replaced stays',
      { changes: { title: { from: 'His old' } }, issue: { title: 'His', user: bob }, sender: bob },
      { changes: { title: { from: 'His old' } }, issue: { title: 'His', user: bob }, sender: bob },
    ],
    [
      'a commit is known by the address of its author',
      {
        commits: [
          { id: 'c0', message: 'fix', author: { name: 'Ann Example', email: 'ANN@example.org', username: '' } },
        ],
      },
      { commits: [{ id: 'c0', message: '', author: { name: '', email: '', username: '' } }] },
    ],
    [
      'a commit of somebody else keeps its message, without the address in it',
      {
        commits: [
          {
            message: 'fix\n\nCo-authored-by: Ann Example <ann@example.org>',
            author: { ...bob, login: undefined as never },
          },
        ],
      },
      { commits: [{ message: 'fix\n\nCo-authored-by:[erased]', author: { ...bob, login: undefined as never } }] },
    ],
    [
      'a release keeps its tag, and loses name and notes',
      { release: { tag_name: 'v1', name: 'One', body: 'Notes', author: ann }, sender: ann },
      { release: { tag_name: 'v1', name: '', body: '', author: annErased }, sender: annErased },
    ],
    [
      'a row of the feed keeps the number in its content',
      { op_type: 'create_issue', content: '12|My title', act_user: ann, repo: { description: 'of the place' } },
      { op_type: 'create_issue', content: '12|', act_user: annErased, repo: { description: 'of the place' } },
    ],
    [
      'a repository in which the person acts keeps its description',
      { repository: { name: 'app', description: 'of the place' }, ref: 'refs/heads/main', pusher: ann },
      { repository: { name: 'app', description: 'of the place' }, ref: 'refs/heads/main', pusher: annErased },
    ],
    [
      'nobody of that name',
      { issue: { title: 'His', user: bob }, sender: bob },
      { issue: { title: 'His', user: bob }, sender: bob },
    ],
  ];

  it.each(CASES)('%s', (_what, before, after) => {
    const { value, isChanged } = erased(before);

    expect(value).toEqual(after);
    expect(isChanged).toBe(JSON.stringify(before) !== JSON.stringify(after));
  });

  it('takes objects without an author for those of whoever the event says did it', () => {
    expect(erased({ number: 3, issue: { title: 'Mine' } }, true).value).toEqual({ number: 3, issue: { title: '' } });
    expect(erased({ number: 3, issue: { title: 'Mine' } }).value).toEqual({ number: 3, issue: { title: 'Mine' } });
  });

  it('tells the texts that it took, longest first, and takes them out of what was made of them', () => {
    const { texts } = erased({
      comment: { body: 'a long text of hers', user: ann, title: 'short' },
      issue: { title: 'bug', user: ann },
    });
    expect(texts).toEqual(['a long text of hers', 'ann@example.org', 'Ann Example', 'short']);

    expect(
      erased({ params: { body: 'Thanks for: a long text of hers', label: 'shortest', name: 'short' } }, false, texts)
        .value,
    ).toEqual({ params: { body: 'Thanks for: [erased]', label: 'shortest', name: '[erased]' } });
  });

  it('finds them in the Markdown that shows them', () => {
    const body = 'Thanks for: a \\*long\\* text, Ann Example &lt;ann@\u200bexample.org&gt;';

    expect(erased({ params: { body } }, false, ['a *long* text']).value).toEqual({
      params: { body: 'Thanks for:[erased]' },
    });
  });

  it('takes the name before an address out where the address is among the known texts', () => {
    const body = 'Signed-off-by: Ann Example <ann@example.org>';

    expect(erased({ params: { body } }, false, ['ann@example.org']).value).toEqual({
      params: { body: 'Signed-off-by:[erased]' },
    });
  });

  it('finds nothing a second time', () => {
    const once = erased(CASES.map(([, before]) => before) as Json);

    expect(new PersonEraser(ANN).erase(once.value)).toMatchObject({ isChanged: false, value: once.value });
  });

  it('learns the addresses of the person from every account and commit', () => {
    const told = { user: ann, commits: [{ author: { username: 'ANN', email: 'ann@work.example' } }, { author: bob }] };

    expect([...addressesIn(told, { login: 'ann', addresses: new Set() })].sort()).toEqual([
      'ann@example.org',
      'ann@work.example',
    ]);
  });
});
