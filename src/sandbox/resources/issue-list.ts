import type { RepoCall } from '../guards.js';
import type { Call } from '../handler.js';
import { canRead, permissionOn } from '../permissions.js';
import { notFound } from '../answer.js';
import type { Issue, Milestone, Unit } from '../world.js';
import { mayRead } from './issue-of.js';
import { labelsUsableIn } from './label.js';

const UNIT_OF_TYPE: ReadonlyMap<string, Unit> = new Map([
  ['issues', 'repo.issues'],
  ['pulls', 'repo.pulls'],
]);

/** What the query of a repository's issue list asks for, newest first. */
export function wantedIssues(call: RepoCall): Issue[] {
  const unit = UNIT_OF_TYPE.get(call.query.get('type') ?? '');
  if (unit && !canRead(call.permission, unit)) throw notFound();
  return newestOf(call, [
    (issue) => issue.repoId === call.repo.id && mayRead(call, issue),
    byState(call),
    byType(call),
    byLabels(call),
    byTime(call),
    byPerson(call),
    byMilestone(call),
  ]);
}

/** Issues and pull requests of every repository that the caller may read, newest first. Unlike in one repository, any of the labels will do. */
export function searchedIssues(call: Call): Issue[] {
  return newestOf(call, [
    inSight(call),
    ofOwner(call),
    byState(call),
    byType(call),
    byAnyLabel(call),
    byMilestoneTitle(call),
    byWords(call),
    byTime(call),
  ]);
}

type Test = (issue: Issue) => boolean;
const everything: Test = () => true;

function newestOf({ world }: Call, tests: readonly Test[]): Issue[] {
  return [...world.issues.values()]
    .filter((issue) => tests.every((test) => test(issue)))
    .sort((a, b) => b.createdAt - a.createdAt || Number(b.id - a.id));
}

/** Words with commas between. */
function wordsOf({ query }: Call, key: string): string[] {
  const words = (query.get(key) ?? '').split(',').map((word) => word.trim());
  return words.filter((word) => word !== '');
}

function inSight({ caller, world }: Call): Test {
  return (issue) =>
    canRead(permissionOn(world, caller.user, world.repo(issue.repoId)), issue.pull ? 'repo.pulls' : 'repo.issues');
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

/** All of the names; unknown names are dropped, and if none is known the filter vanishes, as on a real server. */
function byLabels(call: RepoCall): Test {
  const labels = labelsUsableIn(call.world, call.repo);
  const wanted = wordsOf(call, 'labels').map((name) => labels.filter((label) => label.name === name));
  return (issue) => wanted.every((labels) => labels.length === 0 || labels.some((label) => issue.labels.has(label.id)));
}

function byAnyLabel(call: Call): Test {
  const names = wordsOf(call, 'labels');
  return names.length === 0
    ? everything
    : (issue) => [...issue.labels].some((id) => names.includes(call.world.labels.get(id)?.name ?? ''));
}

/** By the time of the last change. */
function byTime({ query }: Call): Test {
  const [since, before] = ['since', 'before'].map((name) => Date.parse(query.get(name) ?? '') / 1000);
  return (issue) => !(issue.updatedAt < (since ?? NaN)) && !(issue.updatedAt > (before ?? NaN));
}

function byPerson({ query, world }: Call): Test {
  const [posterId, assigneeId] = ['created_by', 'assigned_by'].map((key) => {
    const name = query.get(key);
    if (!name) return undefined;
    const user = world.userByName(name);
    if (!user) throw notFound();
    return user.id;
  });
  return (issue) =>
    (posterId === undefined || issue.posterId === posterId) &&
    (assigneeId === undefined || issue.assignees.includes(assigneeId));
}

/** Titles or numbers; any of them. */
function byMilestone(call: Call): Test {
  return milestoneAmong(call, (names, { title, id }) => names.includes(title) || names.includes(String(id)));
}

function byMilestoneTitle(call: Call): Test {
  return milestoneAmong(call, (names, { title }) => names.includes(title));
}

function milestoneAmong(call: Call, isNamed: (names: readonly string[], milestone: Milestone) => boolean): Test {
  const names = wordsOf(call, 'milestones');
  if (names.length === 0) return everything;
  return ({ milestoneId }) => {
    const milestone = milestoneId === null ? undefined : call.world.milestones.get(milestoneId);
    return milestone !== undefined && isNamed(names, milestone);
  };
}

function byWords({ query }: Call): Test {
  const words = (query.get('q') ?? '').trim().toLowerCase();
  return words === '' ? everything : (issue) => `${issue.title}\n${issue.body}`.toLowerCase().includes(words);
}
