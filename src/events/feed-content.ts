import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject, parseJson } from '../core/json.js';
import { objectOf, textOf } from './read-fields.js';

/**
 * The parts of a row's `content`: a JSON array of strings (Forgejo 13 and later), else text split at the first `|` only, since titles hold
 * `|` themselves. Old rows of a Forgejo keep the old form.
 */
export function readContentParts(content: string): string[] {
  if (content.startsWith('[')) {
    const list = tryParse(content);
    if (Array.isArray(list)) return list.map((item) => (typeof item === 'string' ? item : String(item)));
  }
  const bar = content.indexOf('|');
  return bar < 0 ? [content] : [content.slice(0, bar), content.slice(bar + 1)];
}

/** The number of an issue or pull request, which leads the content of every row about one; null when it does not. */
export function readNumber(parts: readonly string[]): number | null {
  const first = parts[0] ?? '';
  if (!/^[1-9]\d{0,15}$/.test(first)) return null;
  const number = Number(first);
  return Number.isSafeInteger(number) ? number : null;
}

export interface PushContent {
  /** '' when the row does not tell it. */
  readonly after: string;
  readonly compareUrl: string;
  readonly commits: JsonObject[];
  readonly head: JsonObject | null;
  /** True number of commits, of which the list holds at most five; null when the row does not tell it, nor the commits. */
  readonly total: number | null;
}

/** The push object in a row's content; null when the content is none. It is `{}` when it was longer than the server's column. */
export function readPushContent(content: string): PushContent | null {
  const object = content.startsWith('{') ? objectOf(tryParse(content)) : null;
  if (!object) return null;
  const compareUrl = textOf(object.CompareURL);
  const head = commitOf(object.HeadCommit);
  const commits = Array.isArray(object.Commits) ? object.Commits.map(commitOf).filter((commit) => commit !== null) : [];
  return {
    after: rightSideOf(compareUrl) || textOf(head?.id) || textOf(commits[0]?.id),
    compareUrl,
    commits,
    head,
    total: typeof object.Len === 'number' ? object.Len : null,
  };
}

/** `owner/name/compare/OLD...NEW`: the new side is what the ref points at, also for an annotated tag, whose head commit is another object. */
function rightSideOf(compareUrl: string): string {
  return /\.\.\.?([0-9a-f]{40}|[0-9a-f]{64})$/.exec(compareUrl)?.[1] ?? '';
}

/** The feed's commit (capital letters) under the names that deliveries use. */
function commitOf(value: Json | undefined): JsonObject | null {
  const commit = isJsonObject(value) ? value : null;
  const id = commit ? textOf(commit.Sha1) : '';
  if (!commit || id === '') return null;
  return {
    id,
    message: textOf(commit.Message),
    author: { name: textOf(commit.AuthorName), email: textOf(commit.AuthorEmail) },
    committer: { name: textOf(commit.CommitterName), email: textOf(commit.CommitterEmail) },
    timestamp: textOf(commit.Timestamp),
  };
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
