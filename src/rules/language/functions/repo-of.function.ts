import { defineFunction } from './define-function.js';

const ANY = /^/;
const NUMBER = /^\d*$/;
const REF = /^(?:branch|tag|commit|blob)$/;

/**
 * First path segments that can follow a repository in the forge's web addresses, with what stands behind each for sure (nothing is an empty text).
 * A repository may have such a name itself: the first that is followed by what belongs there counts, then the first that may be followed by
 * anything, then the first of all.
 */
const BELOW_A_REPOSITORY = new Map<string, RegExp>([
  ['-', ANY],
  ['_cherrypick', ANY],
  ['_delete', ANY],
  ['_diffpatch', ANY],
  ['_edit', ANY],
  ['_new', ANY],
  ['_upload', ANY],
  ['actions', /^(?:runs|jobs|tasks|artifacts|variables|secrets|workflows|runners|)$/],
  ['activity', ANY],
  ['archive', ANY],
  ['atom', /^branch$/],
  ['attachments', ANY],
  ['badges', ANY],
  ['blame', REF],
  ['blob', ANY],
  ['branch_protections', ANY],
  ['branches', ANY],
  ['cherry-pick', ANY],
  ['commit', /^[0-9a-f]{7,64}$/],
  ['commits', /^(?:branch|tag|commit|[0-9a-f]{7,64}|)$/],
  ['compare', ANY],
  ['contents', ANY],
  ['find', REF],
  ['fork', ANY],
  ['forks', ANY],
  ['git', /^(?:blobs|commits|refs|tags|trees)$/],
  ['git-receive-pack', ANY],
  ['git-upload-pack', ANY],
  ['graph', ANY],
  ['hooks', ANY],
  ['info', /^(?:refs|lfs)$/],
  ['issues', NUMBER],
  ['labels', ANY],
  ['lastcommit', ANY],
  ['media', REF],
  ['milestone', /^\d+$/],
  ['milestones', NUMBER],
  ['packages', ANY],
  ['projects', NUMBER],
  ['pulls', NUMBER],
  ['raw', ANY],
  ['releases', /^(?:tag|tags|download|latest|\d+|)$/],
  ['render', REF],
  ['rss', /^branch$/],
  ['search', ANY],
  ['settings', ANY],
  ['src', REF],
  ['stars', ANY],
  ['statuses', /^[0-9a-f]{7,64}$/],
  ['tags', ANY],
  ['tree', ANY],
  ['watchers', ANY],
  ['wiki', ANY],
]);

/** First segments that no owner has: pages of the forge itself, of a person or of an organization. */
const NO_OWNER = new Set(
  '- admin api assets attachments avatar avatars captcha explore login notifications org repo repo-avatars user v2'.split(
    ' ',
  ),
);

/** A workflow job tells its repository by its addresses alone. */
export const repoOf = defineFunction({
  name: 'repo_of',
  summary:
    'The repository ("owner/name") that an address of the forge belongs to. An error when the address names none.',
  params: [{ name: 'address', type: 'string' }],
  result: 'string',
  example: ['repo_of("https://forge.example.org/acme/web/actions/runs/7/jobs/1")', 'acme/web'],
  charge: ([address]) => address.length / 4,
  run: ([address]) => {
    const segments = address
      .replace(/^(?:[a-z+]+:\/\/[^/]*|[^/@:]+@[^/:]+:)/i, '')
      .replace(/[?#].*$/s, '')
      .split('/')
      .filter((segment) => segment !== '');
    const [owner, written] = ofApi(segments) ?? ofPage(segments);
    const name = written?.replace(/(?:\.wiki)?\.git$|\.(?:rss|atom)$/i, '');
    if (!owner || !name || name === '-' || NO_OWNER.has(owner))
      throw new Error(`"${address.slice(0, 120)}" names no repository`);
    return `${decode(owner)}/${decode(name)}`;
  },
});

/** Owner and name stand behind `/api/v1/repos`. */
function ofApi(segments: readonly string[]): readonly string[] | null {
  const at = segments.findIndex((segment, index) => segment === 'api' && segments[index + 1] === 'v1');
  if (at < 0) return segments[0] === 'api' ? [] : null;
  return segments[at + 2] === 'repos' ? segments.slice(at + 3, at + 5) : [];
}

function ofPage(segments: readonly string[]): readonly string[] {
  if (segments[0] === 'user' && segments[1] === 'settings') return [];
  const behind = (index: number): RegExp | undefined =>
    index < 2 ? undefined : BELOW_A_REPOSITORY.get(segments[index]?.replace(/\.(?:rss|atom)$/, '') ?? '');
  const isBelow = (index: number): boolean => behind(index)?.test(segments[index + 1] ?? '') ?? false;
  const isSure = (index: number): boolean => isBelow(index) && behind(index) !== ANY && index + 1 < segments.length;
  const isListed = (index: number): boolean => behind(index) !== undefined;
  const at = [isSure, isBelow, isListed]
    .map((isIt) => segments.findIndex((_, index) => isIt(index)))
    .find((index) => index >= 0);
  if (at !== undefined) return segments.slice(at - 2, at);
  return NO_OWNER.has(segments.at(-3) ?? '') ? [] : segments.slice(-2);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
