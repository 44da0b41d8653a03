import { keepAccountSettings } from './account-settings.job.js';
import { pruneActs } from './acts-prune.job.js';
import { sealAudit } from './audit-seal.job.js';
import { staleBranches } from './branches-stale.job.js';
import { digestDeadLetters } from './dead-letters-digest.job.js';
import { auditForge } from './forge-audit.job.js';
import { pruneHistory } from './history-prune.job.js';
import { auditHooks } from './hooks-audit.job.js';
import { archiveInbox } from './inbox-archive.job.js';
import type { Job } from './job.js';
import { auditMirrors } from './mirrors-audit.job.js';
import { reconcilePolicies } from './policies-reconcile.job.js';
import { auditProtections } from './protections-audit.job.js';
import { takeInventory } from './repositories-inventory.job.js';
import { auditRules } from './rules-audit.job.js';
import { reloadRules } from './rules-reload.job.js';
import { pruneTicks } from './ticks-prune.job.js';
import { auditToken } from './token-audit.job.js';
import { freeStuckWork } from './work-stuck.job.js';

/** Every job of the bot's own, as people see them listed. */
export const jobs: readonly Job[] = [
  reconcilePolicies,
  takeInventory,
  auditHooks,
  auditForge,
  auditToken,
  auditRules,
  auditMirrors,
  auditProtections,
  staleBranches,
  keepAccountSettings,
  reloadRules,
  freeStuckWork,
  sealAudit,
  archiveInbox,
  pruneTicks,
  pruneHistory,
  pruneActs,
  digestDeadLetters,
];
