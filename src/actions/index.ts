import type { ActionFacts } from '../rules/language/catalogue.js';
import { backport, labelFailedBackport, openBackport } from './backport.action.js';
import { createBranch } from './branch-create.action.js';
import { deleteBranch } from './branch-delete.action.js';
import type { AnyAction } from './define-action.js';
import { assignIssue } from './issue-assign.action.js';
import { commentOnce } from './issue-comment.action.js';
import { ensureIssue } from './issue-ensure.action.js';
import { labelIssue } from './issue-label.action.js';
import { setIssueMilestone } from './issue-milestone.action.js';
import { reactToIssue } from './issue-react.action.js';
import { setIssueState } from './issue-state.action.js';
import { ensureLabel } from './label-ensure.action.js';
import { removeLabel } from './label-remove.action.js';
import { ensureMilestone } from './milestone-ensure.action.js';
import { removeMilestone } from './milestone-remove.action.js';
import { setOrgVariable } from './org-variable-set.action.js';
import { ensureProtection } from './protection-ensure.action.js';
import { ensurePushMirror } from './push-mirror-ensure.action.js';
import { mergePullRequest } from './pull-request-merge.action.js';
import { unqueuePull } from './pull-request-unqueue.action.js';
import { requestReview } from './pull-request-request-review.action.js';
import { updatePullBranch } from './pull-request-update-branch.action.js';
import { ensureReleaseNotes } from './release-notes-ensure.action.js';
import { updateRelease } from './release-update.action.js';
import { createRepoForUser } from './repo-create-for-user.action.js';
import { ensureRepositorySettings } from './repository-settings-ensure.action.js';
import { rerunFailedJobs } from './run-rerun-failed.action.js';
import { setStatus } from './status-set.action.js';
import { ensureTopics } from './topics-ensure.action.js';
import { approveReview } from './review-approve.action.js';
import { updateUserSettings } from './user-settings-update.action.js';
import { createUserVariable } from './user-variable-create.action.js';
import { notify } from './notify.action.js';
import { dispatchWorkflow } from './workflow-dispatch.action.js';
import { checkParam } from './support/params.js';

/** Every action; adding one is one file and one line. */
const all = [
  approveReview,
  assignIssue,
  backport,
  openBackport,
  labelFailedBackport,
  commentOnce,
  createBranch,
  createRepoForUser,
  createUserVariable,
  deleteBranch,
  ensureIssue,
  ensureLabel,
  ensureMilestone,
  ensureProtection,
  ensurePushMirror,
  ensureReleaseNotes,
  ensureRepositorySettings,
  ensureTopics,
  labelIssue,
  dispatchWorkflow,
  mergePullRequest,
  notify,
  reactToIssue,
  removeLabel,
  removeMilestone,
  requestReview,
  rerunFailedJobs,
  setIssueMilestone,
  setIssueState,
  setOrgVariable,
  setStatus,
  unqueuePull,
  updatePullBranch,
  updateRelease,
  updateUserSettings,
] as const;

export const actions: ReadonlyMap<string, AnyAction> = new Map(
  all.map((action) => [action.name, action as unknown as AnyAction]),
);

const laterSteps = new Set([...actions.values()].flatMap((action) => stepsOf(action).slice(1)));

/** What the compiler of rules must know about the actions that rules write. */
export function actionCatalogue(): Map<string, ActionFacts> {
  return new Map(
    [...actions.values()].flatMap((action) => (laterSteps.has(action) ? [] : [[action.name, factsOf(action)]])),
  );
}

/** A verb and its further steps. */
function stepsOf(action: AnyAction): AnyAction[] {
  const later = (action.laterSteps ?? []).map(({ action: name }) => actions.get(name));
  return [action, ...later.filter((step) => step !== undefined)];
}

function factsOf(action: AnyAction): ActionFacts {
  const { unfit, unclear } = action;
  const steps = stepsOf(action);
  return {
    name: action.name,
    summary: action.summary,
    params: Object.fromEntries(Object.entries(action.params).map(([name, param]) => [name, param.facts])),
    naturalKey: action.naturalKey,
    itemBy: action.itemBy ?? [action.naturalKey],
    keyOf: action.keyOf,
    operations: [...new Set(steps.flatMap(({ operations, whereOffered }) => [...operations, ...whereOffered]))],
    requires: [...new Set(steps.flatMap(({ operations }) => operations))],
    ...(action.requiresWith ? { requiresWith: action.requiresWith } : {}),
    raises: [...new Set(steps.flatMap(({ raises }) => raises))],
    echoes: [...new Set(steps.flatMap(({ recover }) => recover?.matcher?.echoes ?? []))],
    ...(action.laterSteps ? { laterSteps: action.laterSteps } : {}),
    target: action.target,
    ...(action.sends ? { sends: true as const } : {}),
    ...(action.effect ? { effect: action.effect } : {}),
    right: action.right,
    ...(action.asksAct ? { asksAct: true as const } : {}),
    ...(unfit || unclear
      ? { unfit: (inputs, operator) => unfit?.(inputs, operator) ?? unclear?.(inputs) ?? null }
      : {}),
    ...(action.power ? { power: action.power } : {}),
    checkConstant: (name, value) => {
      const param = action.params[name];
      return param ? checkParam(param, value) : null;
    },
  };
}
