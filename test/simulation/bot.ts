import { actionCatalogue, actions } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { CachedLookups } from '../../src/actions/lookups/cached-lookups.js';
import { Secret } from '../../src/core/secret.js';
import { newId } from '../../src/core/ids.js';
import { RevisionStanding } from '../../src/config/rule-sources/rule-standing.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { foldInto } from '../../src/events/fold.js';
import { misfitOf, normalizeDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { Budgets } from '../../src/execute/budgets.js';
import { KnownMembers } from '../../src/execute/known-members.js';
import { Executor } from '../../src/execute/executor.js';
import { ForgeHealth } from '../../src/execute/forge-health.js';
import { IntentToEffect } from '../../src/execute/intent-to-effect.js';
import { OutcomeRecovery } from '../../src/execute/recover-outcome.js';
import { TargetResolver } from '../../src/execute/resolve-target.js';
import { Settler } from '../../src/execute/settle.js';
import { Sweep } from '../../src/execute/sweep.js';
import { EffectWitness } from '../../src/execute/witness-event.js';
import { Scheduler } from '../../src/housekeeping/scheduler.js';
import type { TickStore } from '../../src/housekeeping/tick-store.js';
import { decideArrival } from '../../src/inbox/decide-arrival.js';
import type { ArrivalDecision, InboxStore } from '../../src/inbox/inbox-store.js';
import { DeliveryWriter } from '../../src/ingest/webhooks/delivery-writer.js';
import { receiveDelivery, type Hook } from '../../src/ingest/webhooks/receive-delivery.js';
import { DEFAULT_WEBHOOK_LIMITS } from '../../src/ingest/webhooks/webhook-route.js';
import { ArrivalToIntents } from '../../src/journal/arrival-to-intents.js';
import { DeathWatch } from '../../src/journal/death-watch.js';
import type { DeadlyWorkStore } from '../../src/journal/deadly-work.js';
import type { JournalStore } from '../../src/journal/journal-store.js';
import type { RecoveryStore } from '../../src/journal/recovery-store.js';
import type { ActiveRevision, EventWitness } from '../../src/journal/rule-engine.js';
import { Sealer } from '../../src/journal/sealer.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/load/load-rules.js';
import type { Revision } from '../../src/rules/revision.js';
import type { Bug, Parts } from './bugs.js';
import { portOf, type SimProcess } from './world/sim-process.js';
import { START_MS, type World } from './world/world.js';

export const HOOK_SECRET = 'simulated-hook-secret';
export const CANARY = 'canary-simulated-mirror-password';
/** Parts of names of branches: who reads such a delivery, or decides about such an event, ends. */
export const POISON = { arrival: 'poison/read', event: 'poison/decide' } as const;
export const CONCURRENCY = 4;
const SETTLE_S = 6;
/** So short that work in hand is renewed: deciding takes some ten milliseconds here. */
const DEADLY_LEASE_MS = 90;
const TICKS_EVERY_MS = 7_000;

const SELF = { id: '5', login: 'forgehand' };
const HOOK: Hook = { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(HOOK_SECRET)], authorizations: [] };
const SEALER = new Sealer(new Secret('ab'.repeat(32)));
const engine = new CelEngine();
const rules = new PureRuleEngine(engine);

const RULES = `
  - id: label
    on: push
    where: {branch: "label/*"}
    do: {label.ensure: {name: "\${{ event.branch }}", color: "#d73a4a"}}
  - id: milestone
    on: push
    where: {branch: "milestone/*"}
    do: {milestone.ensure: {title: "\${{ event.branch }}"}}
  - id: mirror
    on: push
    where: {branch: "mirror/*"}
    do:
      - push_mirror.ensure:
          remote_address: "https://mirror.example.org/\${{ event.branch }}.git"
          remote_username: bot
          remote_password: "\${{ secrets.mirror_token }}"
  - id: copy
    on: push
    where: {branch: "branch/*"}
    do: {branch.create: {new_branch_name: "copy/\${{ event.branch }}", old_ref_name: main}}
  - id: again
    on: branch.created
    where: {actor: [bot], branch: ["copy/**", "again/**"]}
    do: {branch.create: {new_branch_name: "again/\${{ event.branch }}", old_ref_name: main}}
  - id: steps
    on: push
    where: {branch: "steps/*"}
    do:
      - label.ensure: {name: "\${{ event.branch }}", color: "#0e8a16"}
      - milestone.ensure: {title: "\${{ event.branch }}"}
  - id: told
    on: [issue.closed, issue.reopened]
    do: {label.ensure: {name: "told/\${{ event.issue.number }}/\${{ event.issue.updated_at }}", color: "#fbca04"}}
  - id: many
    on: push
    where: {branch: "many/*"}
    coalesce: {key: "\${{ repo.full_name }} \${{ event.branch }}", window: 5s}
    do: {label.ensure: {name: "\${{ event.branch }}", color: "#c2e0c6"}}
  - id: asked
    on: push
    where: {branch: "asked/*"}
    do:
      - use: milestone.ensure
        approval: owners
        with: {title: "\${{ event.branch }}"}
  - id: nightly
    schedule: {cron: "* * * * *"}
    where: {repo: ["acme/app"]}
    do: {milestone.ensure: {title: "at \${{ now }}"}}
    limits: {effects_per_run: 2}
`;

function revisionWithout(rule: string | null): Revision {
  const kept = RULES.split(/^ {2}(?=- id: )/m).filter((text) => text.trim() !== '' && !text.startsWith(`- id: ${rule ?? ' '}\n`));
  const text = `version: 1\norg: acme\nsecrets: [mirror_token]\nrules:\n${kept.map((one) => `  ${one}`).join('')}`;
  const environment = {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set<string>(),
    secrets: new Set(['mirror_token']),
    engine,
  };
  const loaded = loadRules([{ path: 'rules/a.yaml', text }], environment);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ line, col, message }) => `${line}:${col}: ${message}`).join('\n'));
  return loaded.revision;
}

const REVISIONS = new Map(['', 'label', 'milestone', 'steps'].map((rule) => [rule, revisionWithout(rule === '' ? null : rule)]));

/** The rules of the moment: files that change, change for every process at once. */
function activeNow({ time, scenario: { disabled } }: World): ActiveRevision {
  const gone = disabled && time.nowMs >= disabled.atMs ? disabled : null;
  const revision = REVISIONS.get(gone?.rule ?? '');
  if (!revision) throw new Error('no such revision');
  return { id: gone ? 'rev-2' : 'rev-1', revision, loadedAt: new Date(gone?.atMs ?? START_MS) };
}

export interface RunningBot {
  readonly process: SimProcess;
  receive(headers: Record<string, string>, body: Buffer, answer: (status: number) => void): Promise<void>;
  /** What a person says to a step that waits for consent. */
  consent(intentId: string, verdict: 'given' | 'denied'): Promise<void>;
}

const JOURNAL = [
  'recordDecision',
  'dueRuns',
  'decideGathered',
  'firedInLastHour',
  'waitingForApproval',
  'decideApproval',
  'dueIntents',
  'dueNear',
  'upkeepAmong',
  'spentBudget',
  'claim',
  'renew',
  'markSent',
  'recordAnswer',
  'move',
  'reclaimExpired',
  'lastSettled',
  'run',
  'intent',
  'runs',
  'intentsOfRun',
  'attemptsOfIntent',
  'workOfRuns',
  'countByState',
  'intentsInState',
  'retry',
  'pause',
  'resume',
  'paused',
] as const satisfies readonly (keyof JournalStore)[];

const RECOVERY = [
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
  'intentOf',
  'noteEcho',
  'echoOf',
] as const satisfies readonly (keyof RecoveryStore)[];

const INBOX = [
  'storeDeliveries',
  'dueArrivals',
  'undecidedEvents',
  'event',
  'isBehindAnother',
  'nextOfObject',
] as const satisfies readonly (keyof InboxStore)[];
const DEADLY = ['begin', 'renew', 'end', 'quarantine'] as const satisfies readonly (keyof DeadlyWorkStore)[];
const TICKS = ['claim', 'last', 'due', 'markDecided'] as const satisfies readonly (keyof TickStore)[];
const DECISION = [
  'lockFact',
  'eventsOfFact',
  'objectState',
  'keepObjectState',
  'insertEvent',
  'join',
  'close',
] as const satisfies readonly (keyof ArrivalDecision)[];

/** The ports of one process: the doubles, with a point before and after every call. */
function portsOf(process: SimProcess): Parts {
  const { world } = process;
  const { stores, forge } = world;
  const journal = portOf<JournalStore>(process, 'journal', stores.journal, JOURNAL);
  const recovery = portOf<RecoveryStore>(process, 'recovery', stores.journal, RECOVERY);
  const ticks = portOf<TickStore>(process, 'ticks', stores.ticks, TICKS);
  const inbox = portOf<InboxStore>(process, 'inbox', stores.inbox, INBOX);
  const deadlyWork = portOf<DeadlyWorkStore>(process, 'deadly', stores.deadlyWork, DEADLY);
  for (const method of DECISION) world.points.add(`inbox.decide.${method}`);
  world.points.add('inbox.decide');
  inbox.decide = (id, decide) => process.call('inbox.decide', () => stores.inbox.decide(id, (tx) => decide(transactionOf(process, tx))));
  const told = world.queue.of(process);
  const queue = {
    ...told,
    announce: (...args: Parameters<typeof told.announce>) => process.call('queue.announce', () => told.announce(...args), { canFail: false }),
  };
  world.points.add('queue.announce');
  // The step in which a process is told that its attempt is committed is the step in which it sends.
  const markSent = journal.markSent;
  journal.markSent = async (...args) => {
    const attempt = await markSent(...args);
    process.sentJustNow = attempt && { intentId: attempt.intentId, attemptId: attempt.id };
    return attempt;
  };
  const access = { client: forge.clientOf(process), settleS: SETTLE_S, offers: forge.offers };
  return {
    process,
    journal,
    recovery,
    ticks,
    inbox,
    deadlyWork,
    queue,
    access,
    actions,
    targets: new TargetResolver(process.clock),
    unknown: null,
    standing: null,
  };
}

function transactionOf(process: SimProcess, tx: ArrivalDecision): ArrivalDecision {
  const wrapped: Record<string, unknown> = { arrival: tx.arrival };
  for (const method of DECISION) {
    const inner = tx[method] as unknown as (...args: unknown[]) => Promise<unknown>;
    wrapped[method] = async (...args: unknown[]) => {
      process.within(`inbox.decide.${method}:before`);
      const answer = await inner(...args);
      process.within(`inbox.decide.${method}:after`);
      return answer;
    };
  }
  return wrapped as unknown as ArrivalDecision;
}

/** Reading such a delivery ends the process. */
function deadlyToRead(process: SimProcess): typeof normalizeDelivery {
  return (delivery) => {
    if (delivery.text.includes(POISON.arrival)) process.diesOf(POISON.arrival);
    return normalizeDelivery(delivery);
  };
}

/** So does deciding about such an event. */
function deadlyToDecide(process: SimProcess, witness: EventWitness): EventWitness {
  return {
    look: async (event) => {
      if (String(event.data['ref']).includes(POISON.event)) return process.diesOf(POISON.event);
      return witness.look(event);
    },
    openBreaker: (...args) => witness.openBreaker(...args),
  };
}

/** Wire the production modules as the program does, over the ports of this process, and start them. */
export function startBot(process: SimProcess, bug: Bug | null): RunningBot {
  const { world, clock } = process;
  const parts = bug ? bug.plant(portsOf(process)) : portsOf(process);
  const { journal, recovery, ticks, inbox, deadlyWork, queue, access, targets } = parts;
  const logger = world.loggerOf(process);
  const { alerts, stores } = world;
  const random = (): number => world.chances.next();
  const forges = { get: (id: string) => (id === 'main' ? access : null) };
  const settings = {
    powers: [],
    mirrorHosts: ['mirror.example.org'],
    secrets: { mirror_token: new Secret(CANARY) },
    budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: null },
  };
  const orgs = { get: (org: string) => (org === 'acme' ? settings : null) };
  const accounts = { self: () => SELF };
  const revisions = { active: async () => activeNow(world) };
  const newest = { active: async () => ({ ...activeNow(world), org: 'acme', hash: '', files: [], state: 'active' as const, problems: [] }) };
  const health = new ForgeHealth({ forges, clock, alerts, logger });
  const common = { journal, recovery, actions: parts.actions, forges, orgs, sealer: SEALER, targets, health, clock, random, logger, alerts };
  const unknown = parts.unknown ?? new OutcomeRecovery(common, { owner: process.name });
  const settler = new Settler({ journal, unknown, clock, random, logger, alerts, observer: { attempted: () => undefined, ended: () => undefined } });
  const budgets = new Budgets({ members: new KnownMembers(forges, clock), accounts, journal, clock, alerts });
  const effects = new IntentToEffect(
    { ...common, settler, budgets, standing: parts.standing ?? new RevisionStanding(revisions, newest) },
    { owner: process.name },
  );
  const executor = new Executor({ journal, queue, effects, logger });
  const events = { normalizeDelivery: deadlyToRead(process), normalizeEntry, foldInto, statedObjectOf, deriveFacts, isNews };
  const arrivals = { inbox, queue, events, clock, logger };
  const watch = new DeathWatch({ store: deadlyWork, clock, alerts, logger }, { owner: process.name, startedAt: clock.now(), leaseMs: DEADLY_LEASE_MS });
  const flow = new ArrivalToIntents({
    watch: { run: (topic, id, work) => watch.run(topic, stores.timed(id), work) },
    witness: deadlyToDecide(process, new EffectWitness({ recovery, journal, actions: parts.actions, accounts, clock, logger, alerts })),
    arrivals: { decide: (id) => decideArrival(arrivals, id) },
    inbox,
    revisions,
    rules,
    lookups: new CachedLookups({ read: async () => ({ missing: true }) }, clock),
    inventory: { list: async () => [{ id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false, archived: false }] },
    accounts,
    journal,
    queue,
    tools: { actions: parts.actions, sealer: SEALER, newId },
    alerts,
    clock,
    logger,
  });
  const handlers = {
    arrival: (id: string) => flow.decideArrival(id),
    event: (id: string) => flow.decideEvent(id),
    intent: (id: string) => executor.handle(id),
    upkeep: (id: string) => executor.handle(id),
  };
  const sweep = new Sweep({ journal, inbox, queue, unknown, handlers, decideRun: (id) => flow.decideRun(id), logger });
  const scheduler = new Scheduler({ orgs: [{ forge: 'main', org: 'acme' }], revisions, ticks, decideTick: (tick) => flow.decideTick(tick), clock, logger });
  const writer = new DeliveryWriter(inbox, undefined, (ids) => void queue.announce('arrival', ids).catch(() => undefined));
  void queue.consume('arrival', CONCURRENCY, handlers.arrival);
  void queue.consume('event', CONCURRENCY, handlers.event);
  void executor.start(CONCURRENCY);
  sweep.start();
  const wake = (): void => void scheduler.wake();
  wake();
  setInterval(wake, TICKS_EVERY_MS);
  return {
    process,
    receive: async (headers, body, answer) => {
      const received = receiveDelivery(HOOK, { headers, encoding: 'json', body }, { caps: DEFAULT_WEBHOOK_LIMITS.caps, misfitOf, clock });
      if ('status' in received) return answer(received.status);
      await writer.write(received).then(
        ({ duplicate }) => answer(duplicate ? 200 : 202),
        () => answer(503),
      );
    },
    consent: async (intentId, verdict) => {
      await journal.decideApproval(intentId, verdict, 'olga');
      await sweep.pass();
    },
  };
}
