import { parseJson, type JsonObject } from '../../../src/core/json.js';
import { isEnded } from '../../../src/core/states.js';
import type { IntentState } from '../../../src/core/states.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { keyOfIntent, type Counted } from '../effect-key.js';
import { keyText } from './judge.js';

interface Row {
  id: string;
  run_id: string;
  step_no: number;
  action: string;
  state: IntentState;
  reason: string | null;
  params: string;
  effect_key: string;
}

export interface OpenIntent {
  readonly key: string;
  readonly state: IntentState;
  readonly reason: string | null;
  /** Behind a waiting one: of its run, or of its effect key. */
  readonly isHeldUp: boolean;
}

export interface CrossCounts {
  readonly states: Readonly<Record<string, number>>;
  /** Not ended, or ended badly: what became of a wanted effect that the ledger does not show. */
  readonly notDone: readonly OpenIntent[];
  /** Messages of which nobody knows whether they were taken, by their keys: done, and never sent again. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Of labels and milestones. */
  readonly waitingKeyless: number;
  /** Attempts of labels and milestones without a usable answer: sent, and no living owner stored one. */
  readonly unansweredKeyless: number;
  /** Of these, ended meanwhile by something that arrived. */
  readonly settledByArrival: number;
}

const OPERATION: Readonly<Record<string, Counted>> = {
  'label.ensure': 'createLabel',
  'milestone.ensure': 'createMilestone',
  'branch.create': 'createBranch',
  'repo.create_for_user': 'adminCreateRepo',
  'user_settings.update': 'updateUserSettings',
  'push_mirror.ensure': 'createPushMirror',
  'release.update': 'updateRelease',
  'org_variable.set': 'updateOrgVariable',
  'user_variable.create': 'createUserVariable',
  'branch.delete': 'deleteBranch',
  'pull_request.update_branch': 'updatePullBranch',
  'issue.ensure': 'createIssue',
  backport: 'applyPatch',
  'backport.open': 'createPull',
  'pull_request.merge': 'mergePull',
  'pull_request.unqueue': 'cancelPlannedMerge',
  'review.approve': 'createReview',
  notify: 'notify',
};

/**
 * The journal's own view, read once the bot is down; nothing is written. It never says whether an effect is there: the ledger does. It
 * tells why one is not, and the two numbers that are held against each other.
 */
export async function crossCounts({ dataSource }: Stores): Promise<CrossCounts> {
  const rows = (await dataSource.query(
    'SELECT id, run_id, step_no, action, state, reason_code AS reason, params, effect_key FROM intents ORDER BY seq',
  )) as Row[];
  const attempts = (await dataSource.query(
    `SELECT intent_id FROM attempts WHERE outcome IS NULL OR outcome = 'unknown'`,
  )) as Array<{ intent_id: string }>;
  const states: Record<string, number> = {};
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1;
  const waiting = rows.filter(({ state }) => state === 'waiting');
  const waitingKeys = new Set(waiting.map(({ effect_key }) => effect_key));
  const openRuns = new Map<string, number>();
  for (const { run_id, step_no } of waiting) openRuns.set(run_id, Math.min(step_no, openRuns.get(run_id) ?? Infinity));
  const keyOf = (row: Row): string =>
    keyText({
      operation: OPERATION[row.action] ?? 'createLabel',
      key: keyOfIntent(parseJson(row.params) as JsonObject),
    });
  const isKeyless = ({ action }: Row): boolean => action === 'label.ensure' || action === 'milestone.ensure';
  const keyless = new Map(rows.filter(isKeyless).map((row) => [row.id, row]));
  const unanswered = attempts.flatMap(({ intent_id }) => keyless.get(intent_id) ?? []);
  return {
    states,
    notDone: rows
      .filter(({ state }) => state !== 'done' && state !== 'unchanged' && state !== 'suppressed')
      .map((row) => ({
        key: keyOf(row),
        state: row.state,
        reason: row.reason,
        isHeldUp:
          row.state === 'planned' &&
          (waitingKeys.has(row.effect_key) || row.step_no > (openRuns.get(row.run_id) ?? Infinity)),
      })),
    unconfirmed: new Set(rows.filter(({ reason }) => reason === 'notify.unconfirmed').map(keyOf)),
    waitingKeyless: waiting.filter(isKeyless).length,
    unansweredKeyless: new Set(unanswered.map(({ id }) => id)).size,
    settledByArrival: new Set(unanswered.filter(({ state }) => isEnded(state)).map(({ id }) => id)).size,
  };
}

/** Whether nothing is left to decide or to do, but for what waits for a person. */
export async function openCount({ dataSource }: Stores): Promise<number> {
  const [{ n }] = (await dataSource.query(
    `SELECT (SELECT count(*) FROM arrivals WHERE state = 'stored') + (SELECT count(*) FROM events WHERE decided_at IS NULL) + (SELECT count(*) FROM intents i WHERE state IN ('claimed', 'sent', 'unknown')
       OR state = 'planned' AND NOT EXISTS (SELECT FROM intents w WHERE w.state = 'waiting' AND
         (w.effect_hash = i.effect_hash OR w.run_id = i.run_id AND w.step_no < i.step_no))) AS n`,
  )) as [{ n: string }];
  return Number(n);
}
