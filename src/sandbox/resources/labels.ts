import { created, noContent, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { OrgCall, RepoCall } from '../guards.js';
import { doer, onOrganization, onRepository, TRACKER } from '../guards.js';
import { labelsOfOrg, labelsOfRepo, makeLabel, readColor } from '../make/label.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { listed } from '../paging.js';
import { renderLabel } from '../render/label.js';
import type { Call } from '../handler.js';
import type { Label } from '../world.js';

const read = { units: TRACKER } as const;
const write = { units: TRACKER, level: 'write' } as const;

const wishFields = {
  name: field.text({ required: true }),
  color: field.text({ required: true }),
  description: field.text(),
  exclusive: field.flag(),
  is_archived: field.flag(),
};

const changeFields = { name: field.text(), color: field.text(), description: field.text(), exclusive: field.flag(), is_archived: field.flag() };

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
  createLabel: onRepository(write, (call) => created(renderLabel(call.view, makeLabel(call.world, doer(call), { of: call.repo, ...readWish(call) })))),
  listLabels: onRepository(read, (call) => listed(call, labelsOfRepo(call.world, call.repo), (label) => renderLabel(call.view, label))),
  getLabel: onRepository(read, (call) => ok(renderLabel(call.view, labelOf(call)))),
  updateLabel: onRepository(write, (call) => ok(renderLabel(call.view, changeHere(call)))),
  /** 204 also for a label that is not there. */
  deleteLabel: onRepository(write, (call) => {
    removeHere(call);
    return noContent();
  }),
  listOrgLabels: onOrganization('visible', (call: OrgCall) => listed(call, labelsOfOrg(call.world, call.org), (label) => renderLabel(call.view, label))),
  updateOrgLabel: onOrganization('owner', (call: OrgCall) => {
    const label = labelOfOrg(call);
    if (!label) throw notFound();
    return ok(renderLabel(call.view, change(call, label)));
  }),
  deleteOrgLabel: onOrganization('owner', (call: OrgCall) => {
    const label = labelOfOrg(call);
    if (label) remove(call, label);
    return noContent();
  }),
  createOrgLabel: onOrganization('owner', (call: OrgCall) =>
    created(renderLabel(call.view, makeLabel(call.world, doer(call), { of: call.org, ...readWish(call) }))),
  ),
};
