import type { label as apiLabel } from '../../core/objects/tracker.js';
import { created, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onOrganization, onRepository, type OrgCall, readId, type RepoCall, TRACKER } from '../guards.js';
import { apiUrl, type Shown, type View } from '../render/view.js';
import { listed } from '../paging.js';
import type { Call, Handlers } from '../handler.js';
import type { Organization, Repository, User, World } from '../world.js';
import { repoApiUrl } from './repository.js';
import type { Label } from '../entities/repository.js';

/** Six lower-case hex digits without `#`; three are doubled, spaces around are forgiven. Undefined when it is no color. */
export function readColor(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/.exec(text.trim().toLowerCase())?.[1];
  if (digits === undefined || digits.length === 6) return digits;
  return [...digits].map((digit) => digit + digit).join('');
}

interface LabelWish {
  /** A label of this repository, or of the organization. */
  of: Repository | Organization;
  name: string;
  /** As `readColor` gives it. */
  color: string;
  description?: string | undefined;
  exclusive?: boolean | undefined;
  isArchived?: boolean | undefined;
}

/** Names need not be unique: a second label of a name is a second label. */
export function makeLabel(world: World, by: User, wish: LabelWish): Label {
  const org = 'login' in wish.of ? wish.of : null;
  const repo = 'login' in wish.of ? null : wish.of;
  const label: Label = {
    id: world.nextId('label'),
    repoId: repo?.id ?? null,
    orgId: org?.id ?? null,
    name: wish.name,
    color: wish.color,
    description: wish.description ?? '',
    exclusive: wish.exclusive ?? false,
    isArchived: wish.isArchived ?? false,
  };
  world.add('label', world.labels, label);
  if (repo) world.happened(by, { kind: 'label.defined', repo, label });
  return label;
}

/** By name as bytes, as the database of a real server sorts; then by age. */
export function byName(a: Label, b: Label): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || Number(a.id - b.id);
}

function labelsOfRepo(world: World, repo: Repository): Label[] {
  return [...world.labels.values()].filter((label) => label.repoId === repo.id).sort(byName);
}

function labelsOfOrg(world: World, org: Organization): Label[] {
  return [...world.labels.values()].filter((label) => label.orgId === org.id).sort(byName);
}

/** Labels that an issue of the repository may carry: its own and its organization's. */
export function labelsUsableIn(world: World, repo: Repository): Label[] {
  return [...world.labels.values()]
    .filter((label) => label.repoId === repo.id || label.orgId === repo.ownerId)
    .sort(byName);
}

/** What stands before the last `/`: of the exclusive labels of a scope an issue carries one. Empty = none. */
export function scopeOf(label: Label): string {
  const slash = label.name.lastIndexOf('/');
  return label.exclusive && slash > 0 ? label.name.slice(0, slash) : '';
}

export function renderLabel(view: View, label: Label): Shown<typeof apiLabel> {
  return {
    id: label.id,
    name: label.name,
    exclusive: label.exclusive,
    is_archived: label.isArchived,
    color: label.color,
    description: label.description,
    url: labelUrl(view, label),
  };
}

function labelUrl(view: View, label: Label): string {
  if (label.repoId !== null) return repoApiUrl(view, view.world.repo(label.repoId), `/labels/${label.id}`);
  return apiUrl(view, `/orgs/${label.orgId === null ? '' : view.world.owner(label.orgId).login}/labels/${label.id}`);
}

const read = {} as const;
const write = { units: TRACKER, level: 'write' } as const;

const wishFields = {
  name: field.text({ required: true }),
  color: field.text({ required: true }),
  description: field.text(),
  exclusive: field.flag(),
  is_archived: field.flag(),
};

const changeFields = {
  name: field.text(),
  color: field.text(),
  description: field.text(),
  exclusive: field.flag(),
  is_archived: field.flag(),
};

function colorOf(text: string): string {
  const color = readColor(text);
  if (color === undefined) throw unprocessable(`invalid color: ${text}`);
  return color;
}

function readWish(call: Call) {
  const { name = '', color = '', description, exclusive, is_archived } = bind(call, wishFields);
  return { name, color: colorOf(color), description, exclusive, isArchived: is_archived };
}

function labelOf(call: RepoCall): Label {
  const label = call.world.labels.get(readId(call.params.id));
  if (label?.repoId !== call.repo.id) throw notFound();
  return label;
}

/** An `is_archived` that is left out un-archives. */
function change(call: Call, label: Label): Label {
  const wish = bind(call, changeFields);
  const color = wish.color === undefined ? undefined : colorOf(wish.color);
  label.name = wish.name ?? label.name;
  label.color = color ?? label.color;
  label.description = wish.description ?? label.description;
  label.exclusive = wish.exclusive ?? label.exclusive;
  label.isArchived = wish.is_archived ?? false;
  call.world.changed('label', label.id, 'updated');
  return label;
}

function changeHere(call: RepoCall): Label {
  const label = change(call, labelOf(call));
  call.world.happened(doer(call), { kind: 'label.changed', repo: call.repo, label });
  return label;
}

function remove({ world }: Call, label: Label): void {
  world.labels.delete(label.id);
  for (const issue of world.issues.values()) issue.labels.delete(label.id);
  world.changed('label', label.id, 'deleted');
}

function removeHere(call: RepoCall): void {
  const label = call.world.labels.get(readId(call.params.id));
  if (label?.repoId !== call.repo.id) return;
  remove(call, label);
  call.world.happened(doer(call), { kind: 'label.removed', repo: call.repo, label });
}

function labelOfOrg(call: OrgCall): Label | undefined {
  const label = call.world.labels.get(readId(call.params.id));
  return label?.orgId === call.org.id ? label : undefined;
}

export const labelHandlers: Handlers = {
  createLabel: onRepository(write, (call) =>
    created(renderLabel(call.view, makeLabel(call.world, doer(call), { of: call.repo, ...readWish(call) }))),
  ),
  listLabels: onRepository(read, (call) =>
    listed(call, labelsOfRepo(call.world, call.repo), (label) => renderLabel(call.view, label)),
  ),
  getLabel: onRepository(read, (call) => ok(renderLabel(call.view, labelOf(call)))),
  updateLabel: onRepository(write, (call) => ok(renderLabel(call.view, changeHere(call)))),
  /** 204 also for a label that is not there. */
  deleteLabel: onRepository(write, (call) => removeHere(call)),
  listOrgLabels: onOrganization('visible', (call: OrgCall) =>
    listed(call, labelsOfOrg(call.world, call.org), (label) => renderLabel(call.view, label)),
  ),
  updateOrgLabel: onOrganization('owner', (call: OrgCall) => {
    const label = labelOfOrg(call);
    if (!label) throw notFound();
    return ok(renderLabel(call.view, change(call, label)));
  }),
  deleteOrgLabel: onOrganization('owner', (call: OrgCall) => {
    const label = labelOfOrg(call);
    if (label) remove(call, label);
  }),
  createOrgLabel: onOrganization('owner', (call: OrgCall) =>
    created(renderLabel(call.view, makeLabel(call.world, doer(call), { of: call.org, ...readWish(call) }))),
  ),
};
