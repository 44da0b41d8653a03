import type { Attachment } from '../parts.js';
import type { Id } from '../world.js';
import { mirrorsOf, syncPushMirror } from './push-mirror.js';

const REF_ACTS = ['pushed', 'branch.created', 'branch.deleted', 'tag.created', 'tag.deleted'];

/** Push mirrors with `sync_on_commit` run soon after a ref of their repository moved, several moves at once together. */
export const followMirrors: Attachment = ({ world, ledger }) => {
  const due = new Set<Id>();
  let soon: NodeJS.Immediate | null = null;
  const syncDue = (): void => {
    soon = null;
    const ids = [...due];
    due.clear();
    for (const id of ids) {
      const mirror = world.pushMirrors.get(id);
      if (mirror && world.repos.has(mirror.repoId)) syncPushMirror(world, mirror);
    }
  };
  world.listen((told) => {
    if (!REF_ACTS.includes(told.kind) || !('repo' in told)) return;
    for (const mirror of mirrorsOf(world, told.repo)) if (mirror.syncOnCommit) due.add(mirror.id);
    if (due.size > 0) soon ??= setImmediate(() => ledger.apart(syncDue));
  });
  return {
    close: () => {
      if (soon) clearImmediate(soon);
    },
  };
};
