import { NO_ANSWERS, NO_CHECKS, NOBODY_WAITS } from '../builders/deciding.js';
import { NO_JOBS } from '../builders/no-jobs.js';
import { aConfig } from '../builders/a-config.js';
import { CachedLookups } from '../../src/actions/lookups/cached-lookups.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { OwnRepositoriesOnly } from '../../src/actions/lookups/own-repositories-only.js';
import { ForgeLookupReader } from '../../src/actions/lookups/forge-lookup-reader.js';
import { Secret } from '../../src/core/secret.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { newId } from '../../src/core/ids.js';
import { silentSecurityLog } from '../../src/core/security-log.js';
import { RevisionStatus } from '../../src/rules/revisions/rule-status.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { Budgets } from '../../src/pipeline/execute/budget-keeper.js';
import { Executor } from '../../src/pipeline/execute/executor.js';
import { ForgeHealth } from '../../src/pipeline/execute/forge-access.js';
import { IntentToEffect } from '../../src/pipeline/execute.js';
import { OutcomeRecovery } from '../../src/pipeline/recover.js';
import { Rehearser } from '../../src/pipeline/execute/rehearse.js';
import { Settler } from '../../src/pipeline/execute/settle.js';
import { StorePoll } from '../../src/pipeline/store-poll.js';
import { EffectEchoDetector } from '../../src/pipeline/decide/detect-echoes.js';
import { Scheduler } from '../../src/housekeeping/scheduler.js';
import { FeedPoller } from '../../src/polling/feed-poller.js';
import { PollLoop } from '../../src/polling/poll-loop.js';
import { PollPaces } from '../../src/polling/poll-paces.js';
import { DeliveryWriter } from '../../src/pipeline/receive.js';
import { receiveDelivery, type Hook } from '../../src/webhooks/receive-delivery.js';
import { DecideTurns } from '../../src/pipeline/decide/decide-turns.js';
import { ArrivalToIntents } from '../../src/pipeline/decide.js';
import { CrashLoopGuard } from '../../src/pipeline/decide/crash-loop-guard.js';
import { ArrivalDecider } from '../../src/pipeline/decide/decide-arrival.js';
import { BatchDecider } from '../../src/pipeline/decide/decide-arrivals.js';
import { AtHandDecider } from '../../src/pipeline/decide/decide-at-hand.js';
import { CandidateDecider } from '../../src/pipeline/decide/decide-candidate.js';
import { DueDecider } from '../../src/pipeline/decide/decide-due.js';
import { DecisionRecorder } from '../../src/pipeline/decide/record-decision.js';
import { Rollout } from '../../src/pipeline/decide/rollout.js';
import type { EchoDetector } from '../../src/pipeline/rule-engine.port.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { Planner } from '../../src/policies/planner.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import type { Bug } from './bugs.js';
import { portsOf } from './ports.js';
import { activeNow, engine } from './revisions.js';
import type { SimProcess } from './world/sim-process.js';
import { FakeMessenger } from '../fakes/fake-messenger.js';
import { honestActs } from '../fakes/honest-acts.js';

export const HOOK_SECRET = 'simulated-hook-secret';
export const CANARY = 'canary-simulated-mirror-password';
/** Parts of names of branches: who reads such a delivery, or decides about such an event, ends. */
export const POISON = { arrival: 'poison/read', event: 'poison/decide' } as const;
/** Of one organization one less in each. */
const HANDS = { intents: { most: 4, refill: 1 }, background: { most: 2, refill: 1 } } as const;
export const CONCURRENCY = HANDS.intents.most - 1 + HANDS.background.most - 1;
/** So short that work in hand is renewed: deciding takes some ten milliseconds here. */
const DEADLY_LEASE_MS = 90;
/** What an outsider may cause in an hour, and so in a whole run. */
const PER_STRANGER = 2;
const MEMBERS = { isMember: async (_forge: string, _org: string, login: string): Promise<boolean> => login !== 'eve' };
const TICKS_EVERY_MS = 7_000;
const POLLS_EVERY_MS = 8_000;
const POLLS_ARE_DUE_EVERY_MS = 2_000;

const UNCOUNTED = {
  attempts: { inc: () => undefined },
  effectSeconds: { observe: () => undefined },
  runs: { inc: () => undefined },
  events: { inc: () => undefined },
  setAside: { inc: () => undefined },
};
const SELF = { id: '5', login: 'forgehand' };
const hookOf = (id: HookId): Hook => ({
  id,
  org: 'acme',
  forge: 'main',
  secrets: [new Secret(HOOK_SECRET)],
  authorizations: [],
});
const SEALER = new Encryptor(new Secret('ab'.repeat(32)));
const rules = new PureRuleEngine(engine);
/** Of the organization, and of a repository: each tells the same. */
export type HookId = 'acme' | 'app';

export interface RunningBot {
  readonly process: SimProcess;
  receive(hook: HookId, headers: Record<string, string>, body: Buffer, answer: (status: number) => void): Promise<void>;
  /** What a person says to a step that waits for consent. */
  consent(intentId: string, verdict: 'given' | 'denied'): Promise<void>;
  /** Of its own accord a person has a plan made; it is to be decided like those that a schedule makes. */
  plan(): Promise<void>;
  /** What a person says to a plan; one that a person had made is applied with the yes. */
  decidePlan(hash: string, verdict: 'approved' | 'denied'): Promise<void>;
  /** A person lets the rule that is tried in some repositories write in all of them. */
  promote(): Promise<void>;
}

/** Reading such a delivery ends the process. */
function deadlyToRead(process: SimProcess): typeof readDelivery {
  return (delivery) => {
    if (delivery.text.includes(POISON.arrival)) process.diesOf(POISON.arrival);
    return readDelivery(delivery);
  };
}

/** So does deciding about such an event, at once or afterwards. */
function deadlyToDecide(process: SimProcess, echoes: EffectEchoDetector): EchoDetector {
  const touch = (event: ForgeEvent): void => {
    if (String(event.data['ref']).includes(POISON.event)) process.diesOf(POISON.event);
  };
  return {
    look: async (event) => {
      touch(event);
      return echoes.look(event);
    },
    effectsToldBy: (event) => {
      touch(event);
      return echoes.effectsToldBy(event);
    },
    openBreaker: (...args) => echoes.openBreaker(...args),
  };
}

/** Wire the production modules as the program does, over the ports of this process, and start them. */
export function startBot(process: SimProcess, bug: Bug | null): RunningBot {
  const { world, clock } = process;
  const parts = bug ? bug.plant(portsOf(process)) : portsOf(process);
  const {
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
    owners,
    targets,
    deduplicateInto,
  } = parts;
  const logger = world.loggerOf(process);
  const { alerts, stores } = world;
  const random = { next: (): number => world.chances.next() };
  const forges = { get: (id: string) => (id === 'main' ? access : null) };
  const settings = {
    powers: [],
    mirrorHosts: ['mirror.example.org'],
    notifyHosts: [],
    // Names are asked for in the time of the simulation: a real question would be answered in real time.
    addressesOf: async () => [],
    secrets: { mirror_token: new Secret(CANARY) },
    budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: PER_STRANGER },
  };
  const orgs = { get: (org: string) => (org === 'acme' ? settings : null) };
  const accounts = { self: () => SELF };
  const revisions = { active: async () => activeNow(world) };
  const newest = {
    active: async () => ({
      ...activeNow(world),
      org: 'acme',
      hash: '',
      files: [],
      state: 'active' as const,
      problems: [],
    }),
  };
  const health = new ForgeHealth(forges, clock, alerts, logger, journal, aConfig({ orgs: [{ name: 'acme' }] }));
  const rollout = new Rollout(rollouts, clock, alerts);
  const effectTools = {
    journal,
    recovery,
    actions: parts.actions,
    forges,
    orgs,
    encryptor: SEALER,
    targets,
    clock,
    messenger: new FakeMessenger(),
  };
  const unknown =
    parts.unknown ??
    new OutcomeRecovery(effectTools, health, process, random, alerts, logger, {
      unconfirmed: { inc: () => undefined },
    });
  const settler = new Settler(journal, unknown, UNCOUNTED, clock, random, logger, alerts);
  const budgets = new Budgets(MEMBERS, accounts, journal, honestActs, inbox, clock, alerts);
  const effects = new IntentToEffect(
    effectTools,
    settler,
    parts.status ?? new RevisionStatus(revisions, newest, rollout),
    health,
    budgets,
    alerts,
    silentSecurityLog,
    process,
  );
  const executor = new Executor(queue, journal, effects, HANDS, clock, logger);
  const events = {
    readDelivery: deadlyToRead(process),
    normalizeEntry,
    deduplicateInto,
    statedObjectOf,
    deriveFacts,
    isNews,
  };
  const watch = new CrashLoopGuard(
    poisonMessages,
    { name: process.name, startedAt: clock.now() },
    { leaseMs: DEADLY_LEASE_MS, aloneAfterMs: world.scenario.aloneAfterMs },
    clock,
    alerts,
    logger,
  );
  const lookups = new OwnRepositoriesOnly(
    new CachedLookups(new ForgeLookupReader(forges), clock),
    lookupCatalogue(),
    owners,
  );
  const inventory = {
    list: async () => [{ id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false, archived: false }],
  };
  const tools = { actions: parts.actions, encryptor: SEALER, newId };
  const decider = new CandidateDecider(
    rules,
    lookups,
    honestActs,
    accounts,
    { read: async () => null },
    { waitMs: () => 0 },
    owners,
    journal,
    rollout,
    { heldFor: () => null },
    tools,
    clock,
    logger,
    silentSecurityLog,
  );
  const rehearser = new Rehearser(effectTools);
  const planner = new Planner(
    aConfig({
      forges: [{ id: 'main', ratePerS: 10 }],
      orgs: [
        {
          forge: 'main',
          name: 'acme',
          trusted: true,
          freeze: [],
          budgets: { effectsPerPlan: null, percentOfSubjects: null, effectsPerHour: null },
        },
      ],
    }),
    revisions,
    inventory,
    rules,
    decider,
    rehearser,
    { heldNow: async () => new Map() },
    plans,
    journal,
    queue,
    { keep: async () => undefined },
    SEALER,
    { raise: () => undefined, resolve: () => undefined },
    { mayApprove: async () => '', mayApply: async () => undefined },
    clock,
  );
  const echoes = deadlyToDecide(
    process,
    new EffectEchoDetector(recovery, journal, tools, accounts, clock, logger, alerts),
  );
  const gate = parts.gate ?? planner;
  const recorder = new DecisionRecorder(
    // No run waits for a delivery here.
    { ...journal, hastenRuns: async () => undefined },
    queue,
    { keep: async () => undefined },
    SEALER,
    UNCOUNTED,
    alerts,
    logger,
  );
  const flow = new ArrivalToIntents(
    decider,
    recorder,
    rules,
    revisions,
    accounts,
    owners,
    inbox,
    journal,
    echoes,
    NO_ANSWERS,
    NO_CHECKS,
    gate,
    NOBODY_WAITS,
    queue,
    tools,
    clock,
    logger,
  );
  const due = new DueDecider(
    decider,
    recorder,
    rules,
    revisions,
    inbox,
    journal,
    inventory,
    gate,
    NOBODY_WAITS,
    NO_ANSWERS,
    NO_CHECKS,
    clock,
    logger,
  );
  const atHand = new AtHandDecider(
    decider,
    rules,
    revisions,
    accounts,
    owners,
    echoes,
    NO_ANSWERS,
    { mayPropose: () => false },
    tools,
  );
  const arrivals = new BatchDecider(
    new ArrivalDecider(aConfig({ retention: { maxAgeMs: null } }), events, atHand, { waitMs: () => 0 }, clock, logger),
    recorder,
    inbox,
    queue,
    { pinned: async () => null, pinnedAtHand: () => null, isRenamed: async () => false },
    { unguarded: () => null },
    { nudge: () => undefined },
    UNCOUNTED,
    { raise: () => undefined },
    silentSecurityLog,
    clock,
    logger,
  );
  const timed: ConstructorParameters<typeof DecideTurns>[3] = {
    run: (topic, id, work) => watch.run(topic, stores.timed(id), work),
    batch: (topic, deal, work) =>
      watch.batch(
        topic,
        async (except) => (await deal(except.map((id) => stores.untimed(id)))).map((id) => stores.timed(id)),
        (ids) => work(ids.map((id) => stores.untimed(id))),
      ),
    settled: () => watch.settled(),
  };
  const deciding = new DecideTurns(arrivals, flow, due, timed, queue, inbox, journal, revisions, clock, logger);
  const poll = new StorePoll(aConfig({ queue: { sweepS: 1 } }), journal, recovery, queue, unknown, logger);
  const scheduler = new Scheduler(
    aConfig({ orgs: [{ forge: 'main', name: 'acme', freeze: [] }] }),
    revisions,
    NO_JOBS,
    ticks,
    { read: async () => null, write: async () => undefined },
    due,
    clock,
    logger,
  );
  const writer = new DeliveryWriter(inbox, queue);
  void deciding.start();
  void executor.start();
  poll.start();
  const wake = (): void => void scheduler.wake();
  wake();
  setInterval(wake, TICKS_EVERY_MS);
  if (world.scenario.plays.polls) {
    const feed = new FeedPoller(
      { inbox, cursors, queue, clock, logger, client: access.client, startedAt: clock.now() },
      { forge: 'main', org: 'acme' },
    );
    const sources = [
      {
        name: 'feed/main/acme',
        source: 'feed' as const,
        forge: 'main',
        org: 'acme',
        credential: 'main',
        everyMs: POLLS_EVERY_MS,
        callsPerPoll: 1,
        isPressing: () => feed.isCutOff,
        poll: async () => (await feed.poll()).pages,
      },
    ];
    const unlimited = { forges: [], housekeeping: { audits: false } };
    const paces = new PollPaces(unlimited, { publish: () => undefined }, clock, alerts);
    // Every process polls: what two of them at once do to a cursor is a part of what is simulated.
    const leases = { holds: () => true, noteOutcome: () => undefined, release: async () => undefined };
    const polls = new PollLoop({ list: () => sources }, leases, paces, clock, random, logger, alerts);
    polls.wake();
    setInterval(() => polls.wake(), POLLS_ARE_DUE_EVERY_MS);
  }
  return {
    process,
    receive: async (hook, headers, body, answer) => {
      const received = receiveDelivery(hookOf(hook), { headers, encoding: 'json', body }, clock);
      if (!received) return answer(401);
      await writer.write(received).then(
        () => answer(202),
        () => answer(503),
      );
    },
    consent: async (intentId, verdict) => {
      await journal.decideApproval(intentId, verdict, 'olga');
      await poll.pass();
    },
    plan: async () => void (await planner.plan('acme', 'house', 'olga')),
    decidePlan: async (hash, verdict) => {
      const { plan, applied } = await planner.decide(hash, verdict, 'olga');
      if (applied === null && plan.state === 'approved') await planner.apply(hash, 'olga');
    },
    promote: async () => {
      const rule = rules.find(activeNow(world).revision, 'tried');
      if (rule) await rollout.promote('acme', rule, 'live', 'olga', { force: true, minDecisions: 1 });
    },
  };
}
