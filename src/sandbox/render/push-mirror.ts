import type { PushMirror } from '../world.js';
import { shaped } from './shape.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

export function renderPushMirror(view: View, mirror: PushMirror): object {
  return shaped(view, 'push mirror', {
    repo_name: view.world.repo(mirror.repoId).name,
    remote_name: mirror.remoteName,
    remote_address: mirror.remoteAddress,
    created: shownTime(view, mirror.created),
    last_update: shownTime(view, mirror.lastUpdate),
    last_error: mirror.lastError,
    interval: mirror.interval,
    sync_on_commit: mirror.syncOnCommit,
    public_key: '',
    branch_filter: mirror.branchFilter,
  });
}
