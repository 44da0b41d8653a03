import type { RepoCall } from '../guards.js';
import { labelsUsableIn } from './label.js';
import type { Issue } from '../world.js';

/** What the query of the issue list asks for, newest first. */
export function wantedIssues(call: RepoCall): Issue[] {
  const tests = [byState(call), byType(call), byLabels(call), byTime(call), byPerson(call), byMilestone(call)];
  return [...call.world.issues.values()]
    .filter((issue) => issue.repoId === call.repo.id && tests.every((test) => test(issue)))
    .sort((a, b) => b.createdAt - a.createdAt || Number(b.id - a.id));
}

type Test = (issue: Issue) => boolean;
const everything: Test = () => true;

/** Open unless said. */
function byState(call: RepoCall): Test {
  const state = call.query.get('state') ?? 'open';
  if (state === 'all') return everything;
  return (issue) => issue.state === (state === 'closed' ? 'closed' : 'open');
}

function byType(call: RepoCall): Test {
  const type = call.query.get('type');
  if (type === 'issues') return (issue) => issue.pull === null;
  return type === 'pulls' ? (issue) => issue.pull !== null : everything;
}

/** All of the names; unknown names are dropped, and if none is known the filter vanishes, as on a real server. */
function byLabels(call: RepoCall): Test {
  const names = (call.query.get('labels') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = labelsUsableIn(call.world, call.repo);
  const wanted = names.map((name) => known.filter((label) => label.name === name)).filter((labels) => labels.length > 0);
  return (issue) => wanted.every((labels) => labels.some((label) => issue.labels.has(label.id)));
}

/** By the time of the last change. */
function byTime(call: RepoCall): Test {
  const [since, before] = ['since', 'before'].map((name) => Date.parse(call.query.get(name) ?? '') / 1000);
  return (issue) => !(issue.updatedAt < (since ?? NaN)) && !(issue.updatedAt > (before ?? NaN));
}

function byPerson(call: RepoCall): Test {
  const [poster, assignee] = ['created_by', 'assigned_by'].map((name) => call.query.get(name) ?? '');
  const posterId = poster ? (call.world.userByName(poster)?.id ?? -1n) : undefined;
  const assigneeId = assignee ? (call.world.userByName(assignee)?.id ?? -1n) : undefined;
  return (issue) => (posterId === undefined || issue.posterId === posterId) && (assigneeId === undefined || issue.assignees.includes(assigneeId));
}

/** Titles or numbers with commas between; any of them. */
function byMilestone(call: RepoCall): Test {
  const names = (call.query.get('milestones') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return everything;
  return (issue) => {
    const milestone = issue.milestoneId === null ? undefined : call.world.milestones.get(issue.milestoneId);
    return milestone !== undefined && (names.includes(milestone.title) || names.includes(String(milestone.id)));
  };
}
