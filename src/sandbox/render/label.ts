import type { Label } from '../world.js';
import { repoApiUrl } from './repository.js';
import type { View } from './view.js';
import { apiUrl } from './view.js';

export function renderLabel(view: View, label: Label): object {
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
