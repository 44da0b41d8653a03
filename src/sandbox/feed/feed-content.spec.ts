import { describe, expect, it } from '@jest/globals';
import { FORGEJO_TELLING, GITEA_TELLING } from '../telling-style.js';
import type { Commit } from '../world.js';
import { joinContent, pushContent, shortText } from './feed-content.js';

const GITEA = GITEA_TELLING.feed;
const FORGEJO = FORGEJO_TELLING.feed;

function aCommit(message = 'feat: login\n\nmore <b>\n'): Commit {
  const ben = { name: 'ben', email: 'ben@example.org', at: 1_795_113_213 };
  return {
    sha: 'c'.repeat(40),
    tree: 't'.repeat(40),
    parents: [],
    author: ben,
    committer: ben,
    message,
    files: new Map(),
  };
}

describe('sandbox/feed/feed-content', () => {
  it('joins the parts by a bar or writes them as a JSON array', () => {
    expect(joinContent(['12', 'a | b & c'], GITEA)).toBe('12|a | b & c');
    expect(joinContent(['12', 'a | b & c'], FORGEJO)).toBe('["12","a | b \\u0026 c"]');
  });

  it('cuts a long text at a blank near its end', () => {
    const text = `${'word '.repeat(60)}`;

    expect(shortText('short')).toBe('short');
    expect(shortText(text)).toBe(`${'word '.repeat(38)}word…`);
    expect(shortText('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`);
  });

  it('shows at most five commits and the true number', () => {
    const content = JSON.parse(
      pushContent(
        {
          commits: Array.from({ length: 12 }, () => aCommit()),
          head: aCommit(),
          compare: 'acme/app/compare/a...b',
          total: 12,
        },
        GITEA,
      ),
    ) as {
      Commits: unknown[];
      HeadCommit: Record<string, unknown>;
      Len: number;
    };

    expect(content.Commits).toHaveLength(5);
    expect(content.Len).toBe(12);
    expect(content.HeadCommit).toEqual({
      Sha1: 'c'.repeat(40),
      Message: 'feat: login\n\nmore <b>\n',
      AuthorEmail: 'ben@example.org',
      AuthorName: 'ben',
      CommitterEmail: 'ben@example.org',
      CommitterName: 'ben',
      Timestamp: '2026-11-19T18:33:33Z',
    });
  });

  it('writes the first line of a message and an empty list of commits the Forgejo way', () => {
    const text = pushContent({ commits: null, head: aCommit(), compare: '', total: 0 }, FORGEJO);

    expect(text).toContain('"Commits":[]');
    expect(text).toContain('"Message":"feat: login","');
    expect(text).toContain('"Signature":null,"Verification":null,"Timestamp"');
  });

  it('writes null for the commits of a tag the Gitea way', () => {
    expect(pushContent({ commits: null, head: null, compare: '', total: 0 }, GITEA)).toBe(
      '{"Commits":null,"HeadCommit":null,"CompareURL":"","Len":0}',
    );
  });

  it('becomes an empty object when too long', () => {
    expect(pushContent({ commits: [aCommit('x'.repeat(70_000))], head: null, compare: '', total: 1 }, GITEA)).toBe(
      '{}',
    );
  });
});
