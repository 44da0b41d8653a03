import type { Issue, Label, User, World } from '../world.js';
import { addEntry, touch, withoutRivals } from './issue.js';
import { byName, scopeOf } from './label.js';

/** Puts labels on, in order of name; an exclusive one takes off others of its scope. Told even if nothing changed. */
export function addLabels(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  for (const label of [...labels].sort(byName)) putOn(world, by, issue, label);
  tell(world, by, issue);
}

/** Exactly these labels from now on. Told even if nothing changed. */
export function replaceLabels(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  const wanted = withoutRivals([...labels].sort(byName));
  for (const id of [...issue.labels]) if (!wanted.some((label) => label.id === id)) takeOff(world, by, issue, id);
  for (const label of wanted) putOn(world, by, issue, label);
  tell(world, by, issue);
}

/** Told even if it was not on. */
export function removeLabel(world: World, by: User, issue: Issue, label: Label): void {
  takeOff(world, by, issue, label.id);
  tell(world, by, issue);
}

export function clearLabels(world: World, by: User, issue: Issue): void {
  for (const id of [...issue.labels]) takeOff(world, by, issue, id);
  world.happened(by, { kind: 'issue.labels_cleared', repo: world.repo(issue.repoId), issue });
}

/** Sets labels without a word to anybody: the edit call of pull requests does so. */
export function setLabelsQuietly(world: World, by: User, issue: Issue, labels: readonly Label[]): void {
  const wanted = withoutRivals([...labels].sort(byName));
  for (const id of [...issue.labels]) if (!wanted.some((label) => label.id === id)) takeOff(world, by, issue, id);
  for (const label of wanted) putOn(world, by, issue, label);
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
