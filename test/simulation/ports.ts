import { aConfig } from '../builders/a-config.js';
import { actions } from '../../src/actions/index.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { ForgeOwners } from '../../src/forge/forge-owners.js';
import { TargetResolver } from '../../src/pipeline/execute/prepare-effect.js';
import type { TickStore } from '../../src/pipeline/tick-store.port.js';
import type { ArrivalBatch, InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { CursorStore } from '../../src/polling/cursor-store.port.js';
import type { PoisonMessageStore } from '../../src/pipeline/poison-message-store.port.js';
import type { JournalStore } from '../../src/pipeline/journal-store.port.js';
import type { RecoveryStore } from '../../src/pipeline/recovery-store.port.js';
import type { RolloutStore } from '../../src/pipeline/rollout-store.port.js';
import type { PlanStore } from '../../src/policies/plan-store.port.js';
import type { Parts } from './bugs.js';
import { portOf, type SimProcess } from './world/sim-process.js';
import type { Spreadable } from '../fakes/spreadable.js';

const SETTLE_S = 6;

const JOURNAL = [
  'recordDecision',
  'dueRuns',
  'putOffRun',
  'decideGathered',
  'firedInLastHour',
  'waitingForApproval',
  'decideApproval',
  'dueIntents',
  'dueNear',
  'revisit',
  'spentBudget',
  'claim',
  'renew',
  'markSent',
  'recordAnswer',
  'move',
  'settle',
  'holdForge',
  'releaseForge',
  'reclaimExpired',
  'lastSettled',
  'run',
  'intent',
  'runs',
  'intentsOfRun',
  'openInOrder',
  'attemptsOfIntent',
  'workOfRuns',
  'countNewestByState',
  'intentsInState',
  'retry',
  'pause',
  'resume',
  'paused',
] as const satisfies readonly (keyof JournalStore)[];

const RECOVERY = [
  'mayHaveWork',
  'dueLines',
  'dueRecoveries',
  'claimRecovery',
  'putOffRecovery',
  'lookAgain',
  'dueLooks',
  'claimLook',
  'noteRemoval',
  'resolve',
  'noteUndo',
  'undoOf',
  'sentOfEffects',
  'sentWithOrderKey',
  'intentOf',
  'doubtAbout',
  'noteEcho',
  'echoOf',
] as const satisfies readonly (keyof RecoveryStore)[];

const INBOX = [
  'storeDeliveries',
  'storeEntries',
  'knownEntries',
  'dueArrivals',
  'putOff',
  'undecidedEvents',
  'event',
  'learn',
  'claimEvents',
] as const satisfies readonly (keyof InboxStore)[];
const DEADLY = ['begin', 'renew', 'end', 'quarantine'] as const satisfies readonly (keyof PoisonMessageStore)[];
const TICKS = ['claim', 'last', 'due', 'markDecided'] as const satisfies readonly (keyof TickStore)[];
const ROLLOUTS = ['newest', 'list', 'add', 'evidence'] as const satisfies readonly (keyof RolloutStore)[];
const PLANS = [
  'keep',
  'find',
  'list',
  'decide',
  'markApplied',
  'isTrusted',
  'trust',
] as const satisfies readonly (keyof PlanStore)[];
const CURSORS = ['read', 'begin', 'replace', 'write'] as const satisfies readonly (keyof CursorStore)[];
const BATCH = ['claim', 'load', 'receivedBetween', 'write'] as const satisfies readonly (keyof ArrivalBatch)[];

/** The ports of one process: the doubles, with a point before and after every call. */
export function portsOf(process: SimProcess): Parts {
  const { world } = process;
  const { stores, forge } = world;
  const journal = portOf<JournalStore>(process, 'journal', stores.journal, JOURNAL);
  const recovery = portOf<RecoveryStore>(process, 'recovery', stores.journal, RECOVERY);
  const ticks = portOf<TickStore>(process, 'ticks', stores.ticks, TICKS);
  const inbox = portOf<InboxStore>(process, 'inbox', stores.inbox, INBOX);
  const poisonMessages = portOf<PoisonMessageStore>(process, 'deadly', stores.poisonMessages, DEADLY);
  const rollouts = portOf<RolloutStore>(process, 'rollouts', stores.rollouts, ROLLOUTS);
  const plans = portOf<PlanStore>(process, 'plans', stores.plans, PLANS);
  const cursors = portOf<CursorStore>(process, 'cursors', stores.cursors, CURSORS);
  for (const method of BATCH) world.points.add(`inbox.inBatch.${method}`);
  world.points.add('inbox.inBatch');
  inbox.inBatch = (work) =>
    process.call('inbox.inBatch', () => stores.inbox.inBatch((batch) => work(batchOf(process, batch))));
  const told: Spreadable<ReturnType<typeof world.queue.of>> = world.queue.of(process);
  const queue = {
    ...told,
    ring: (...args: Parameters<typeof told.ring>): void =>
      void process.call('queue.ring', () => told.ring(...args), { canFail: false }),
  };
  world.points.add('queue.ring');
  // The step in which a process is told that its attempt is committed is the step in which it sends.
  const markSent = journal.markSent;
  journal.markSent = async (...args) => {
    const attempt = await markSent(...args);
    process.sentJustNow = attempt && { intentId: attempt.intentId, attemptId: attempt.id };
    return attempt;
  };
  const access = { client: forge.clientOf(process), settleS: SETTLE_S, offers: forge.offers };
  const forges = { get: (id: string) => (id === 'main' ? access : null) };
  // Where the forge finds none by number, the operator names them.
  const owners = new ForgeOwners(
    forges,
    stores.seen,
    aConfig({ orgs: [{ forge: 'main', name: 'acme', repositories: ['7', '8'] }] }),
    process.clock,
  );
  return {
    process,
    journal,
    recovery,
    ticks,
    inbox,
    poisonMessages,
    rollouts,
    plans,
    cursors,
    queue,
    access,
    actions,
    owners,
    targets: new TargetResolver(owners),
    deduplicateInto,
    unknown: null,
    status: null,
    gate: null,
  };
}

function batchOf(process: SimProcess, batch: ArrivalBatch): ArrivalBatch {
  const wrapped: Record<string, unknown> = {};
  for (const method of BATCH) {
    const inner = batch[method] as unknown as (...args: unknown[]) => Promise<unknown>;
    wrapped[method] = async (...args: unknown[]) => {
      process.within(`inbox.inBatch.${method}:before`);
      const answer = await inner(...args);
      process.within(`inbox.inBatch.${method}:after`);
      return answer;
    };
  }
  return wrapped as unknown as ArrivalBatch;
}
