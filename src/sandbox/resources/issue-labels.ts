import { forbiddenEmpty, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import type { Handlers } from '../handler.js';
import type { Issue, Label, User, World } from '../world.js';
import { addEntry } from './comment.js';
import { askWrite, issueOf, labelsNamed, mayWrite, touch } from './issue-of.js';
import { byName, labelsUsableIn, scopeOf } from './label.js';
import { shownLabels } from './issue-view.js';

/** Of exclusive labels of one scope the last stays. */
export function withoutRivals(labels: readonly Label[]): Label[] {
  return labels.filter(
    (label, i) => scopeOf(label) === '' || !labels.slice(i + 1).some((later) => scopeOf(later) === scopeOf(label)),
  );
}

/** Puts labels on, in order of name; an exclusive one takes off others of its scope. Told even if nothing changed. */
export function addLabels(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  for (const label of [...labels].sort(byName)) putOn(world, by, issue, label);
  tell(world, by, issue);
}

/** Exactly these labels from now on. Told even if nothing changed. */
export function replaceLabels(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  setLabelsQuietly(world, by, issue, labels);
  tell(world, by, issue);
}

/** Told even if it was not on. */
function removeLabel(world: World, by: User, issue: Issue, label: Label): void {
  takeOff(world, by, issue, label.id);
  tell(world, by, issue);
}

function clearLabels(world: World, by: User, issue: Issue): void {
  const before = [...issue.labels];
  for (const id of before) takeOff(world, by, issue, id);
  // Every server shows in the delivery the labels that are gone.
  world.happened(by, {
    kind: 'issue.labels_cleared',
    repo: world.repo(issue.repoId),
    issue: { ...issue, labels: new Set(before) },
  });
}

/** Sets labels without a word to anybody: the edit call of pull requests does so. */
export function setLabelsQuietly(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  const wanted = withoutRivals([...labels].sort(byName));
  for (const label of wanted) putOn(world, by, issue, label);
  for (const id of [...issue.labels]) if (!wanted.some((label) => label.id === id)) takeOff(world, by, issue, id);
}

function tell(world: World, by: User, issue: Issue): void {
  world.happened(by, { kind: 'issue.labeled', repo: world.repo(issue.repoId), issue });
}

function putOn(world: World, by: User, issue: Issue, label: Label): void {
  if (issue.labels.has(label.id)) return;
  for (const id of [...issue.labels]) {
    const other = world.labels.get(id);
    if (other && scopeOf(label) !== '' && scopeOf(other) === scopeOf(label)) takeOff(world, by, issue, id);
  }
  issue.labels.add(label.id);
  addEntry(world, by, issue, 'label', { labelId: label.id });
  touch(world, issue);
}

function takeOff(world: World, by: User, issue: Issue, id: Label['id']): void {
  if (!issue.labels.delete(id)) return;
  addEntry(world, by, issue, 'label', { labelId: id, isRemoval: true });
  touch(world, issue);
}

const read = { part: 'tracker' } as const;
/** Everybody logged in comes this far; the issue then asks for the right to write. */
const member = { part: 'tracker', login: true } as const;
const fields = { labels: field.any() };

function writable(call: RepoCall): { issue: Issue; labels: Label[] } {
  const { labels } = bind(call, fields);
  const issue = issueOf(call);
  askWrite(call, issue);
  return { issue, labels: labelsNamed(call, labels) };
}

/** Without the right: 403 and no body. */
function removable(call: RepoCall): Issue {
  const issue = issueOf(call);
  if (!mayWrite(call, issue)) throw forbiddenEmpty();
  return issue;
}

function labelOf(call: RepoCall): Label {
  const label = labelsUsableIn(call.world, call.repo).find((one) => String(one.id) === call.params.id);
  if (!label) throw unprocessable('label does not exist [label_id: 0]');
  return label;
}

export const issueLabelHandlers: Handlers = {
  listIssueLabels: onRepository(read, (call) => ok(shownLabels(call.view, issueOf(call)))),
  addIssueLabels: onRepository(member, (call) => {
    const { issue, labels } = writable(call);
    addLabels(call.world, doer(call), issue, labels);
    return ok(shownLabels(call.view, issue));
  }),
  replaceIssueLabels: onRepository(member, (call) => {
    const { issue, labels } = writable(call);
    replaceLabels(call.world, doer(call), issue, labels);
    return ok(shownLabels(call.view, issue));
  }),
  removeIssueLabel: onRepository(member, (call) => {
    const issue = removable(call);
    removeLabel(call.world, doer(call), issue, labelOf(call));
  }),
  clearIssueLabels: onRepository(member, (call) => clearLabels(call.world, doer(call), removable(call))),
};
