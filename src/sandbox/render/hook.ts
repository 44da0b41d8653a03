import type { Hook } from '../world.js';
import { shaped } from './shape.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

/** The secret is never shown. */
export function renderHook(view: View, hook: Hook): object {
  const hasMore = Object.keys(hook.extraConfig).length > 0;
  return shaped(view, 'hook', {
    id: hook.id,
    name: hook.name,
    type: hook.type,
    branch_filter: hook.branchFilter,
    url: hook.url,
    config: { content_type: hook.contentType, url: hook.url, ...hook.extraConfig },
    events: hook.events,
    authorization_header: hook.authorizationHeader,
    content_type: hook.contentType,
    metadata: hasMore ? hook.extraConfig : null,
    active: hook.isActive,
    updated_at: shownTime(view, hook.updatedAt),
    created_at: shownTime(view, hook.createdAt),
  });
}
