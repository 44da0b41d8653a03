import type { Attachment } from '../parts.js';
import { setState } from './issue.js';
import { moveHead, openPulls } from './pull.js';

const BRANCH = 'refs/heads/';

/** Keeps pull requests in step with their branches: a push to the head synchronizes them, the end of a branch closes them. */
export const followPulls: Attachment = ({ world }) => {
  world.listen((told) => {
    if (told.kind === 'pushed' && told.ref.startsWith(BRANCH)) {
      for (const issue of openPulls(world, told.repo, 'from', told.ref.slice(BRANCH.length))) moveHead(world, told.by, issue, told.repo, told.after);
    }
    if (told.kind === 'branch.deleted') {
      const branch = told.ref.slice(BRANCH.length);
      for (const issue of [...openPulls(world, told.repo, 'from', branch), ...openPulls(world, told.repo, 'to', branch)])
        setState(world, told.by, issue, 'closed');
    }
  });
  return undefined;
};
