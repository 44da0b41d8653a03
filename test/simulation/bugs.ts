import type { AnyAction } from '../../src/actions/define-action.js';
import { wrapForgeClient } from '../../src/forge/forge-client.js';
import type { ForgeAccess } from '../../src/pipeline/execute/forge-access.js';
import type { RepositoryOwners } from '../../src/core/repository-owner.js';
import type { TargetResolver } from '../../src/pipeline/execute/prepare-effect.js';
import type { UnknownOutcomes } from '../../src/pipeline/execute/settle.js';
import type { TickStore } from '../../src/pipeline/tick-store.port.js';
import type { EventReader } from '../../src/pipeline/decide/event-reader.js';
import type { ArrivalBatch, InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { CursorStore } from '../../src/polling/cursor-store.port.js';
import type { PoisonMessageStore } from '../../src/pipeline/poison-message-store.port.js';
import type { JournalStore, RecordedRun } from '../../src/pipeline/journal-store.port.js';
import type { RuleStatus } from '../../src/rules/revisions/active-revisions.port.js';
import type { RecoveryStore } from '../../src/pipeline/recovery-store.port.js';
import type { RolloutRow, RolloutStore } from '../../src/pipeline/rollout-store.port.js';
import type { PlanStore } from '../../src/policies/plan-store.port.js';
import type { PolicyGate } from '../../src/pipeline/policy-gate.port.js';
import type { SimQueue } from './doubles/sim-queue.js';
import type { SimProcess } from './world/sim-process.js';
import { readText } from '../../src/core/json-bytes.js';
import { because } from '../builders/reasons.js';
import type { Spreadable } from '../fakes/spreadable.js';

/** What a process is made of, before the production modules are wired over it. */
export interface Parts {
  readonly process: SimProcess;
  readonly journal: Spreadable<JournalStore>;
  readonly recovery: Spreadable<RecoveryStore>;
  readonly ticks: Spreadable<TickStore>;
  readonly inbox: Spreadable<InboxStore>;
  readonly poisonMessages: Spreadable<PoisonMessageStore>;
  readonly rollouts: Spreadable<RolloutStore>;
  readonly plans: Spreadable<PlanStore>;
  readonly cursors: Spreadable<CursorStore>;
  readonly queue: ReturnType<SimQueue['of']>;
  readonly access: ForgeAccess;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly owners: RepositoryOwners;
  readonly targets: TargetResolver;
  /** Null = the production one. */
  readonly unknown: UnknownOutcomes | null;
  readonly status: RuleStatus | null;
  readonly gate: PolicyGate | null;
  readonly deduplicateInto: EventReader['deduplicateInto'];
}

/** A fault put in on purpose, from outside: a port that breaks its word, or a small module in the place of ours. */
export interface Bug {
  readonly name: string;
  /** Invariants by which it may be found. */
  readonly breaks: readonly number[];
  /** Where the bug never comes to rest: both runs, with it and without, may take this long alone. */
  readonly overAfterMs?: number | undefined;
  plant(parts: Parts): Parts;
}

export const BUGS: readonly Bug[] = [
  {
    name: 'no settle time',
    breaks: [3],
    plant: (parts) => ({ ...parts, access: { ...parts.access, settleS: 0 } }),
  },
  {
    name: 'no epoch check before the send',
    breaks: [2, 3, 4, 7],
    plant: (parts) => {
      parts.process.world.stores.journal.isUnfenced = true;
      return parts;
    },
  },
  {
    name: 'the read is skipped',
    breaks: [3],
    plant: (parts) => {
      const nothing = { listLabels: [], listOrgLabels: [], listMilestones: [], listPushMirrors: [] } as Readonly<
        Record<string, readonly unknown[]>
      >;
      const client = wrapForgeClient(parts.access.client, (name, next, args, options) =>
        name in nothing ? Promise.resolve(nothing[name]) : next(args, options),
      );
      return { ...parts, access: { ...parts.access, client } };
    },
  },
  {
    name: 'sent again after an unknown outcome',
    breaks: [3],
    plant: (parts) => {
      const { journal } = parts;
      const again = async (id: string): Promise<void> => {
        await journal.move({
          intentId: id,
          epoch: null,
          from: ['unknown'],
          to: 'planned',
          reason: because('tried again'),
          dueAt: parts.process.clock.now(),
        });
      };
      const due = async (): Promise<void> => {
        for (const id of await parts.recovery.dueRecoveries(100)) await again(id);
      };
      return { ...parts, unknown: { handle: ({ id }) => again(id), pass: () => due().catch(() => undefined) } };
    },
  },
  {
    name: 'dedupe says "seen"',
    breaks: [1],
    plant: (parts) => {
      const { process, inbox } = parts;
      const seen = seenTexts(process);
      return {
        ...parts,
        inbox: {
          ...inbox,
          storeDeliveries: async (batch) => {
            const known = await process.call('inbox.seen', () =>
              batch.map(({ contentType, body }) => {
                const { textHash } = readText(contentType, body);
                return seen.has(textHash) || void seen.add(textHash);
              }),
            );
            const fresh = batch.filter((_, n) => !known[n]);
            if (fresh.length > 0) await inbox.storeDeliveries(fresh);
          },
        },
      };
    },
  },
  {
    name: 'leases by the clock of the process',
    breaks: [2, 3, 4, 7],
    plant: (parts) => {
      const { process } = parts;
      const { stores } = process.world;
      const byOwn = <Result>(point: string, ask: () => Promise<Result>): Promise<Result> =>
        process.call(point, () => stores.byClock(process.clock.now(), ask));
      return {
        ...parts,
        journal: {
          ...parts.journal,
          claim: (...args) => byOwn('journal.claim', () => stores.journal.claim(...args)),
          reclaimExpired: () => byOwn('journal.reclaimExpired', () => stores.journal.reclaimExpired()),
        },
        recovery: {
          ...parts.recovery,
          claimRecovery: (...args) => byOwn('recovery.claimRecovery', () => stores.journal.claimRecovery(...args)),
        },
      };
    },
  },
  {
    name: 'the poll overlooks what was claimed',
    breaks: [2],
    plant: (parts) => ({ ...parts, journal: { ...parts.journal, reclaimExpired: async () => 0 } }),
  },
  {
    name: 'the poll hears that nothing waits',
    breaks: [2],
    plant: (parts) => ({ ...parts, recovery: { ...parts.recovery, mayHaveWork: async () => false } }),
  },
  {
    name: 'ticks are not unique',
    breaks: [8],
    plant: (parts) => {
      const { process, ticks } = parts;
      const insert = async (tick: Parameters<TickStore['claim']>[0]): Promise<boolean> => {
        process.world.stores.ticks.rows.push({ ...tick, state: 'due' });
        return true;
      };
      return { ...parts, ticks: { ...ticks, claim: (tick) => process.call('ticks.claim', () => insert(tick)) } };
    },
  },
  {
    name: 'effect keys are not unique',
    breaks: [3, 7],
    plant: (parts) => {
      parts.process.world.stores.journal.ignoresOthers = true;
      return parts;
    },
  },
  {
    name: 'own echoes are not recognized',
    breaks: [8, 17],
    plant: (parts) => ({ ...parts, recovery: { ...parts.recovery, echoOf: async () => null } }),
  },
  {
    name: 'of own acts nobody knows the rule',
    breaks: [17],
    plant: (parts) => ({ ...parts, recovery: { ...parts.recovery, intentOf: async () => null } }),
  },
  {
    name: 'targets are found by their name',
    breaks: [6],
    plant: (parts) => ({
      ...parts,
      targets: {
        resolve: async (_access: unknown, _forge: string, _org: string, target: unknown) => target,
        doubt: () => undefined,
      } as unknown as TargetResolver,
    }),
  },
  {
    name: 'rules that are gone still write',
    breaks: [5],
    plant: (parts) => ({ ...parts, status: { of: async () => ({ is: 'wanted' as const }) } }),
  },
  {
    name: 'events are decided as they come',
    breaks: [11],
    plant: (parts) => {
      parts.process.world.stores.inbox.ignoresOrder = true;
      return parts;
    },
  },
  {
    name: 'nobody is asked for consent',
    breaks: [12],
    plant: (parts) => {
      const { journal, inbox } = parts;
      const unasked = <Planned extends RecordedRun>(plan: Planned): Planned => ({
        ...plan,
        intents: plan.intents.map(({ approval: _approval, ...intent }) => intent),
      });
      const unaskedIn = (batch: ArrivalBatch): ArrivalBatch => ({
        ...batch,
        write: (all) =>
          batch.write(
            all.map((news) => ({
              ...news,
              made: news.made.map((one) => ({
                ...one,
                decision: one.decision && { ...one.decision, runs: one.decision.runs.map(unasked) },
              })),
            })),
          ),
      });
      return {
        ...parts,
        inbox: { ...inbox, inBatch: (work) => inbox.inBatch((batch) => work(unaskedIn(batch))) },
        journal: {
          ...journal,
          recordDecision: (decided, plans) => journal.recordDecision(decided, plans.map(unasked)),
        },
      };
    },
  },
  {
    name: 'deaths are not counted',
    breaks: [2],
    // It dies and starts for ever.
    overAfterMs: 8 * 60_000,
    plant: (parts) => ({
      ...parts,
      poisonMessages: {
        ...parts.poisonMessages,
        begin: async (work) => new Map([...(await parts.poisonMessages.begin(work)).keys()].map((id) => [id, 0])),
      },
    }),
  },
  {
    name: 'windows are never over',
    breaks: [2],
    plant: (parts) => ({ ...parts, journal: { ...parts.journal, dueRuns: async () => [] } }),
  },
  {
    name: 'what is told again is not looked at again',
    breaks: [13],
    plant: (parts) => ({ ...parts, recovery: { ...parts.recovery, doubtAbout: async () => null } }),
  },
  {
    name: 'twins are not known',
    breaks: [14],
    plant: (parts) => ({ ...parts, deduplicateInto: () => null }),
  },
  {
    name: 'every row of the feed is taken for known',
    breaks: [2, 14],
    plant: (parts) => ({
      ...parts,
      inbox: { ...parts.inbox, knownEntries: async (_forge, _org, _source, keys) => new Set(keys) },
    }),
  },
  {
    name: 'stages are not looked at',
    breaks: [15],
    plant: (parts) => {
      const { rollouts } = parts;
      const live = async (org: string, rule: string): Promise<RolloutRow | null> => {
        const row = await rollouts.newest(org, rule);
        return row && { ...row, stage: 'live', percent: null };
      };
      return { ...parts, rollouts: { ...rollouts, newest: live } };
    },
  },
  {
    name: 'policies pass no gate',
    breaks: [8, 12],
    plant: (parts) => ({
      ...parts,
      gate: {
        review: async ({ runs }) => ({
          runs: runs.map((run) => ({
            ...run,
            intents: run.intents.map(({ approval: _approval, ...intent }) => intent),
          })),
          failure: null,
        }),
      },
    }),
  },
  {
    name: 'what stands behind a held step keeps its place',
    breaks: [16],
    plant: (parts) => {
      parts.process.world.stores.journal.holdsOneStep = true;
      return parts;
    },
  },
  {
    name: 'what stepped aside holds nothing back',
    breaks: [18],
    plant: (parts) => {
      parts.process.world.stores.journal.overlooksAside = true;
      return parts;
    },
  },
  {
    name: 'work is claimed while the forge waits',
    breaks: [18],
    plant: (parts) => {
      parts.process.world.stores.journal.overlooksForges = true;
      return parts;
    },
  },
  {
    name: 'a plan is approved whatever is said',
    breaks: [12],
    plant: (parts) => ({
      ...parts,
      plans: { ...parts.plans, decide: (id, _verdict, by) => parts.plans.decide(id, 'approved', by) },
    }),
  },
];

const SEEN = new WeakMap<object, Set<string>>();

/** A table of its own, in another commit than the rows. */
function seenTexts({ world }: SimProcess): Set<string> {
  let seen = SEEN.get(world);
  if (!seen) SEEN.set(world, (seen = new Set()));
  return seen;
}
