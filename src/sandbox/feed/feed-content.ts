import { writeGoJson } from '../deliveries/go-json.js';
import type { FeedStyle } from '../telling-style.js';
import type { Commit } from '../world.js';

const COMMITS_SHOWN = 5;
const MAX_PUSH_OBJECT = 65_535;
const MAX_TEXT = 200;

/** `12|title` on Gitea, `["12","title"]` on Forgejo. */
export function joinContent(parts: readonly string[], style: FeedStyle): string {
  return style.content === 'json' ? writeGoJson(parts) : parts.join('|');
}

/** A comment's text as a row shows it: cut to about 200 characters, without a broken last word. */
export function shortText(text: string): string {
  const characters = [...text];
  if (characters.length <= MAX_TEXT) return text;
  const cut = characters.slice(0, MAX_TEXT - 1).join('');
  const lastBlank = cut.lastIndexOf(' ');
  return `${lastBlank !== -1 && cut.length - lastBlank < 15 ? cut.slice(0, lastBlank) : cut}…`;
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trimEnd() ?? '';
}

interface PushObject {
  /** Newest first; null for a tag. */
  readonly commits: readonly Commit[] | null;
  readonly head: Commit | null;
  /** `owner/name/compare/a...b`, or empty. */
  readonly compare: string;
  /** True number of commits. */
  readonly total: number;
}

/** The JSON object of a push row; `{}` when it is too long for the column. */
export function pushContent(push: PushObject, style: FeedStyle): string {
  const text = writeGoJson({
    Commits:
      push.commits === null
        ? style.noCommits
        : push.commits.slice(0, COMMITS_SHOWN).map((commit) => shownCommit(commit, style)),
    HeadCommit: push.head === null ? null : shownCommit(push.head, style),
    CompareURL: push.compare,
    Len: push.total,
  });
  return Buffer.byteLength(text) > MAX_PUSH_OBJECT ? '{}' : text;
}

function shownCommit(commit: Commit, style: FeedStyle): Record<string, unknown> {
  return {
    Sha1: commit.sha,
    Message: style.message === 'whole' ? commit.message : firstLine(commit.message),
    AuthorEmail: commit.author.email,
    AuthorName: commit.author.name,
    CommitterEmail: commit.committer.email,
    CommitterName: commit.committer.name,
    ...(style.hasVerification ? { Signature: null, Verification: null } : {}),
    Timestamp: new Date(commit.author.at * 1000).toISOString().replace('.000Z', 'Z'),
  };
}
