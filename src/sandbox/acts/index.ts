import type { Act } from './define-act.js';
import { issueActs } from './issue-acts.js';
import { otherActs } from './other-acts.js';
import { pullActs } from './pull-acts.js';
import { refActs } from './ref-acts.js';
import { releaseActs } from './release-acts.js';
import { repositoryActs } from './repository-acts.js';
import { workflowActs } from './workflow-acts.js';

/** Everything that a person can do by `POST /_sandbox/act`. */
export const acts: readonly Act[] = [
  ...refActs,
  ...repositoryActs,
  ...releaseActs,
  ...issueActs,
  ...pullActs,
  ...workflowActs,
  ...otherActs,
];
