import { defineFunction } from './define-function.js';

/** First path segments that can follow a repository in the forge's web and API addresses. */
const BELOW_A_REPOSITORY = new Set([
  'actions',
  'branches',
  'commit',
  'commits',
  'compare',
  'issues',
  'milestone',
  'milestones',
  'packages',
  'pulls',
  'raw',
  'releases',
  'src',
  'tags',
  'wiki',
]);

/** A workflow job tells its repository by its addresses alone. */
export const repoOf = defineFunction({
  name: 'repo_of',
  summary:
    'The repository ("owner/name") that an address of the forge belongs to. An error when the address names none.',
  params: [{ name: 'address', type: 'string' }],
  result: 'string',
  example: ['repo_of("https://forge.example.org/acme/web/actions/runs/7/jobs/1")', 'acme/web'],
  run: ([address]) => {
    const segments = address
      .replace(/^[a-z]+:\/\/[^/]*/i, '')
      .replace(/[?#].*$/s, '')
      .split('/')
      .filter((segment) => segment !== '');
    const below = segments.findIndex((segment, index) => index >= 2 && BELOW_A_REPOSITORY.has(segment));
    const [owner, name] = below === -1 ? segments.slice(-2) : segments.slice(below - 2, below);
    if (owner === undefined || name === undefined) throw new Error(`"${address.slice(0, 120)}" names no repository`);
    return `${decode(owner)}/${decode(name)}`;
  },
});

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
