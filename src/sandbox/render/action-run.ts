import { isEnded } from '../make/job.js';
import { writeGoJson } from '../deliveries/go-json.js';
import type { WorkflowRun } from '../world.js';
import { renderRepository } from './repository.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime } from './view.js';
import { displayRef, runWebUrl } from './workflow.js';

/** A run as Forgejo shows it, in its list and in deliveries. Its `status` is the internal word; only a run that has ended has a `duration`. */
export function renderActionRun(view: View, run: WorkflowRun): object {
  const { world } = view;
  const repo = world.repo(run.repoId);
  return {
    id: run.id,
    title: run.title,
    repository: renderRepository(view, repo),
    workflow_id: run.workflowId,
    index_in_repo: run.number,
    trigger_user: renderUser(view, world.owner(run.triggerActorId), { asOther: true }),
    ScheduleID: 0,
    prettyref: displayRef(run.ref),
    is_ref_deleted: false,
    commit_sha: run.headSha,
    is_fork_pull_request: false,
    need_approval: false,
    approved_by: 0,
    // What was dispatched has no event of git.
    event: run.event === 'workflow_dispatch' ? '' : run.event,
    event_payload: writeGoJson({ ref: run.ref, after: run.headSha }),
    trigger_event: run.event,
    status: run.state,
    started: shownTime(view, run.startedAt),
    stopped: shownTime(view, run.stoppedAt),
    created: shownTime(view, run.createdAt),
    updated: shownTime(view, run.updatedAt),
    ...(isEnded(run.state) ? { duration: Math.max(0, run.stoppedAt - run.startedAt) * 1_000_000_000 } : {}),
    html_url: runWebUrl(view, repo, run),
  };
}
