import type { Call } from '../handler.js';
import { canRead, permissionOn } from '../permissions.js';
import type { Issue } from '../world.js';

/** Issues and pull requests of every repository that the caller may read, newest first. Unlike in one repository, any of the labels will do. */
export function searchedIssues(call: Call): Issue[] {
  const tests = [inSight(call), ofOwner(call), byState(call), byType(call), byLabels(call), byMilestones(call), byWords(call), byTime(call)];
  return [...call.world.issues.values()].filter((issue) => tests.every((test) => test(issue))).sort((a, b) => b.createdAt - a.createdAt || Number(b.id - a.id));
}

type Test = (issue: Issue) => boolean;
const everything: Test = () => true;

function wordsOf(call: Call, key: string): string[] {
  return (call.query.get(key) ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function inSight({ caller, world }: Call): Test {
  return (issue) => canRead(permissionOn(world, caller.user, world.repo(issue.repoId)), issue.pull ? 'repo.pulls' : 'repo.issues');
}

function ofOwner({ query, world }: Call): Test {
  const name = query.get('owner') ?? '';
  const owner = world.ownerByName(name);
  return name === '' ? everything : (issue) => world.repo(issue.repoId).ownerId === owner?.id;
}

/** Open unless said. */
function byState({ query }: Call): Test {
  const state = query.get('state') ?? 'open';
  return state === 'all' ? everything : (issue) => issue.state === (state === 'closed' ? 'closed' : 'open');
}

function byType({ query }: Call): Test {
  const type = query.get('type');
  if (type === 'issues') return (issue) => issue.pull === null;
  return type === 'pulls' ? (issue) => issue.pull !== null : everything;
}

function byLabels(call: Call): Test {
  const names = wordsOf(call, 'labels');
  return names.length === 0 ? everything : (issue) => [...issue.labels].some((id) => names.includes(call.world.labels.get(id)?.name ?? ''));
}

function byMilestones(call: Call): Test {
  const names = wordsOf(call, 'milestones');
  return names.length === 0 ? everything : (issue) => issue.milestoneId !== null && names.includes(call.world.milestones.get(issue.milestoneId)?.title ?? '');
}

function byWords({ query }: Call): Test {
  const words = (query.get('q') ?? '').trim().toLowerCase();
  return words === '' ? everything : (issue) => `${issue.title}\n${issue.body}`.toLowerCase().includes(words);
}

/** By the time of the last change. */
function byTime({ query }: Call): Test {
  const [since, before] = ['since', 'before'].map((name) => Date.parse(query.get(name) ?? '') / 1000);
  return (issue) => !(issue.updatedAt < (since ?? NaN)) && !(issue.updatedAt > (before ?? NaN));
}
