import { hostname } from 'node:os';
import { StoreControl } from './admin/store-control.js';
import type { StoreControlDeps } from './admin/store-control.js';
import type { AppConfig, OrgConfig } from './config/app-config.js';
import { FolderSource } from './config/rule-sources/folder-source.js';
import { RevisionKeeper } from './config/rule-sources/revision-keeper.js';
import { RevisionStanding } from './config/rule-sources/rule-standing.js';
import { actionCatalogue, actions } from './actions/index.js';
import { lookupCatalogue } from './actions/lookups/index.js';
import { CachedLookups } from './actions/lookups/cached-lookups.js';
import { ForgeLookupReader } from './actions/lookups/forge-lookup-reader.js';
import type { Alerts } from './core/alerts.js';
import { callingAs, type CallLane } from './core/caller.js';
import type { Clock } from './core/clock.js';
import { UserError } from './core/errors.js';
import type { ForgeEvent } from './core/event.js';
import { newId } from './core/ids.js';
import type { Logger } from './core/logger.js';
import type { Stores } from './database/open-stores.js';
import { deriveFacts, statedObjectOf } from './events/derive/derive-facts.js';
import { foldInto } from './events/fold.js';
import { misfitOf, normalizeDelivery } from './events/normalize-delivery.js';
import { normalizeEntry } from './events/normalize-entry.js';
import { Budgets } from './execute/budgets.js';
import { Executor } from './execute/executor.js';
import { ForgeHealth } from './execute/forge-health.js';
import type { Forges, OrgDirectory } from './execute/forges.js';
import { KnownMembers } from './execute/known-members.js';
import { IntentToEffect } from './execute/intent-to-effect.js';
import { OutcomeRecovery } from './execute/recover-outcome.js';
import { TargetResolver } from './execute/resolve-target.js';
import { Settler } from './execute/settle.js';
import { DeathWatch } from './journal/death-watch.js';
import { EffectWitness } from './execute/witness-event.js';
import { Sweep } from './execute/sweep.js';
import { ConnectedForges } from './forge/connected-forges.js';
import { createForgeClient } from './forge/http/create-forge-client.js';
import { decideArrival } from './inbox/decide-arrival.js';
import type { OperationName } from './forge/operations.js';
import { FeedPoller } from './ingest/polling/feed-poller.js';
import { KnownRepositories } from './ingest/polling/known-repositories.js';
import { PollLoop } from './ingest/polling/poll-loop.js';
import type { Polled } from './ingest/polling/poll-loop.js';
import { readTaskPosition } from './ingest/polling/task-position.js';
import { TaskPoller } from './ingest/polling/task-poller.js';
import { DEFAULT_WEBHOOK_LIMITS } from './ingest/webhooks/webhook-route.js';
import type { WebhookDeps } from './ingest/webhooks/webhook-route.js';
import { BotFactsReader } from './history/bot-facts.js';
import { GapKeeper } from './history/gaps/gap-keeper.js';
import type { OwnHook } from './history/gaps/classify-gap.js';
import { Doctor, type DoctorDeps } from './housekeeping/doctor/doctor.js';
import type { ArchiveInbox } from './housekeeping/archive-inbox.js';
import type { JobRunner } from './housekeeping/jobs/job-runner.js';
import { OfferCheck } from './housekeeping/offer-check.js';
import type { RuleVerdicts } from './housekeeping/rule-verdicts.js';
import type { Scheduler } from './housekeeping/scheduler.js';
import { ServerFootings } from './housekeeping/server-footing.js';
import { ArrivalToIntents } from './journal/arrival-to-intents.js';
import { keyBesideData } from './journal/data-key.js';
import { Rollout } from './journal/rollout.js';
import type { ActiveRevisions, LookupReader, RepositoryInventory, RuleEngine } from './journal/rule-engine.js';
import { Sealer } from './journal/sealer.js';
import { FindingKeeper } from './policies/finding-keeper.js';
import type { Planner } from './policies/planner.js';
import type { PolicyGate } from './policies/policy-gate.js';
import type { Metrics } from './observability/metrics.js';
import type { WakeQueue } from './queue/wake-queue.js';
import type { HookProduct } from './rules/hook-events.js';
import { CelEngine } from './rules/expressions/cel-engine.js';
import { loadSteps } from './rules/load/load-rules.js';
import { orgOf, shadowOrg } from './journal/shadow.js';
import { makeRuleThread } from './thread-wiring.js';
import { inSlices } from './core/in-slices.js';
import { tryLoading } from './policies/thread/bounded-rules.js';
import type { CompiledRule } from './rules/revision.js';
import { loginOf, makeExplainer } from './explain-wiring.js';
import { mayChangeRules, makeRuleSource } from './rules-wiring.js';
import { VERSION } from './version.js';

/** What every part may need; made first, by the start. */
export interface Ground {
  readonly config: AppConfig;
  readonly stores: Stores;
  readonly queue: WakeQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly alerts: Alerts;
  readonly startedAt: Date;
}

/** Each part is made from the ground and from parts that stand before it in the flow; no part starts anything here. */

export function makeForges({ config, clock, logger, alerts }: Ground): ConnectedForges {
  const forges = config.forges.map((forge) => ({
    id: forge.id,
    username: forge.auth.type === 'basic' ? forge.auth.username : null,
    client: createForgeClient({ ...forge, clock, logger }),
  }));
  return new ConnectedForges(forges, logger, alerts);
}

export function makeSealer({ config }: Ground): Sealer {
  if (config.keys.data) return new Sealer(config.keys.data);
  // readConfig demands keys.data with PostgreSQL.
  if (config.store.kind !== 'embedded') throw new Error('keys.data is missing');
  return new Sealer(keyBesideData(config.store.dir));
}

export function makeRevisionKeeper({ config, stores, clock, logger, alerts }: Ground, forges: ConnectedForges, verdicts: RuleVerdicts): RevisionKeeper {
  const thread = makeRuleThread();
  const engine = new CelEngine();
  const environment = { actions: actionCatalogue(), lookups: lookupCatalogue(), engine, checkTypes: true };
  const orgs = new Map(config.orgs.map((org) => [org.name, org]));
  const keeper = new RevisionKeeper({
    orgs: config.orgs.flatMap((org) => [
      { name: org.name, source: makeRuleSource(org, stores, forges, verdicts) },
      ...(org.rules.shadow ? [{ name: shadowOrg(org.name), source: new FolderSource(org.rules.shadow.path, org.rules.extendsFrom) }] : []),
    ]),
    load: async (kept, files) => {
      const name = orgOf(kept);
      const org = orgs.get(name);
      const [powers, secrets] = [org?.powers ?? [], Object.keys(org?.secrets ?? {})];
      // What is hostile or too large ends in the thread; what passed there is compiled here, a slice at a time.
      const problems = thread ? await tryLoading(thread, { org: name, files, powers, secrets }) : [];
      await thread?.stop();
      if (problems.length > 0) return { ok: false, problems };
      return inSlices(loadSteps(files, { ...environment, org: name, powers: new Set(powers), secrets: new Set(secrets) }));
    },
    store: stores.revisions,
    clock,
    logger,
    alerts,
  });
  forges.onConnected(() => config.orgs.forEach(({ name }) => keeper.nudge(name, null)));
  return keeper;
}

/** Reads that decisions ask for: of the forge, and of what the bot knows of itself. */
export function makeLookupReader(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  revisions: ActiveRevisions,
): LookupReader {
  const hookUrl = (name: string): string | null => {
    const hook = config.orgs.find((org) => org.name === name)?.hooks[0];
    return hook && config.server.publicUrl !== null ? `${config.server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}` : null;
  };
  const product = (forge: string): HookProduct => forges.get(forge)?.capabilities?.product ?? null;
  return new BotFactsReader({ reader: new CachedLookups(new ForgeLookupReader(forges), clock), revisions, gaps: stores.gaps, hookUrl, product });
}

/** Until a forge was reached we do not know who we are there, and could answer ourselves: its events wait. */
export function revisionsOfConnected({ config }: Ground, keeper: RevisionKeeper, forges: ConnectedForges): ActiveRevisions {
  const forgeOf = new Map(config.orgs.map((org) => [org.name, org.forge]));
  return {
    active: async (org) => {
      const forge = forges.get(forgeOf.get(org) ?? '');
      return forge?.capabilities ? keeper.active(org) : null;
    },
    commit: (org) => keeper.commit(org),
    shadow: (org) => keeper.active(shadowOrg(org)),
  };
}

export function makeFlow(
  { config, stores, queue, clock, logger, metrics, alerts, startedAt }: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  revisions: ActiveRevisions,
  rules: RuleEngine,
  inventory: RepositoryInventory,
  gate: PolicyGate,
  keeper: RevisionKeeper,
  offers: OfferCheck,
): ArrivalToIntents {
  const arrivals = {
    inbox: stores.inbox,
    queue,
    events: { normalizeDelivery, normalizeEntry, foldInto, statedObjectOf, deriveFacts },
    clock,
    logger,
    counted: (what: { org: string; kind: string; source: string }, event?: ForgeEvent) => {
      metrics.events.inc(what);
      if (event && mayChangeRules(event)) keeper.nudge(event.org, event.repo?.id ?? null);
    },
  };
  const accounts = { self: (forge: string) => forges.get(forge)?.capabilities?.self ?? null };
  const witness = new EffectWitness({ recovery: stores.recovery, journal: stores.journal, actions, accounts, clock, logger, alerts });
  const findings = new FindingKeeper({ findings: stores.findings, alerts });
  return new ArrivalToIntents({
    watch: new DeathWatch({ store: stores.deadlyWork, clock, alerts, logger }, { owner: ownerName(), startedAt }),
    witness,
    rollout: new Rollout({ store: stores.rollouts, clock, alerts }),
    heldFor: (org, id) => offers.heldFor(org, id),
    arrivals: { decide: (id) => decideArrival(arrivals, id) },
    inbox: stores.inbox,
    revisions,
    rules,
    lookups: makeLookupReader({ config, stores, clock }, forges, revisions),
    inventory,
    gate,
    found: (plan) => findings.keep(plan),
    accounts,
    journal: stores.journal,
    queue,
    tools: { actions, sealer, newId },
    alerts,
    clock,
    logger,
    counted: (what) => metrics.runs.inc(what),
  });
}

export function makeForgeHealth({ config, clock, logger, alerts }: Ground, forges: ConnectedForges): ForgeHealth {
  return new ForgeHealth({ forges: withSettings(config, forges), clock, alerts, logger });
}

export function makeOutcomeRecovery(
  { config, stores, clock, logger, alerts }: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  health: ForgeHealth,
): OutcomeRecovery {
  const deps = {
    journal: stores.journal,
    recovery: stores.recovery,
    actions,
    forges: withSettings(config, forges),
    orgs: orgDirectory(config),
    sealer,
    targets: new TargetResolver(clock),
    health,
    clock,
    random: Math.random,
    logger,
    alerts,
  };
  return new OutcomeRecovery(deps, { owner: ownerName() });
}

export function makeExecutor(
  ground: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  unknown: OutcomeRecovery,
  health: ForgeHealth,
  keeper: RevisionKeeper,
): Executor {
  const { config, stores, queue, clock, logger, metrics, alerts } = ground;
  const settler = new Settler({
    journal: stores.journal,
    unknown,
    clock,
    random: Math.random,
    logger,
    alerts,
    observer: {
      attempted: (operation, outcome) => metrics.attempts.inc({ operation, outcome }),
      ended: (intent) => metrics.effectSeconds.observe((clock.now().getTime() - intent.plannedAt.getTime()) / 1000),
    },
  });
  const effects = new IntentToEffect(
    {
      journal: stores.journal,
      actions,
      forges: withSettings(config, forges),
      orgs: orgDirectory(config),
      sealer,
      targets: new TargetResolver(clock),
      health,
      recovery: stores.recovery,
      budgets: new Budgets({
        members: new KnownMembers(withSettings(config, forges), clock),
        accounts: { self: (forge) => forges.get(forge)?.capabilities?.self ?? null },
        journal: stores.journal,
        clock,
        alerts,
      }),
      alerts,
      settler,
      standing: new RevisionStanding(keeper, stores.revisions, standingOf(ground)),
      clock,
    },
    { owner: ownerName() },
  );
  return new Executor({ journal: stores.journal, queue, effects, logger });
}

export function makeSweep({ config, stores, queue, logger }: Ground, flow: ArrivalToIntents, executor: Executor, unknown: OutcomeRecovery): Sweep {
  const deps = {
    journal: stores.journal,
    inbox: stores.inbox,
    queue,
    unknown,
    handlers: {
      arrival: (id: string) => flow.decideArrival(id),
      event: (id: string) => flow.decideEvent(id),
      intent: (id: string) => executor.handle(id),
      upkeep: (id: string) => executor.handle(id),
    },
    decideRun: (id: string) => flow.decideRun(id),
    logger,
  };
  return new Sweep(deps, { everyMs: config.queue.sweepS * 1000 });
}

export function webhookDeps({ config, stores, queue, clock, logger, metrics }: Ground): WebhookDeps {
  return {
    hooks: config.orgs.flatMap((org) => org.hooks.map((hook) => ({ ...hook, org: org.name, forge: org.forge }))),
    inbox: stores.inbox,
    queue,
    misfitOf,
    logger,
    clock,
    limits: { ...DEFAULT_WEBHOOK_LIMITS, maxBodyBytes: config.server.maxBodyBytes },
    counted: ({ org, hook, answer, seconds }) => {
      metrics.deliveries.inc({ org, hook, answer });
      metrics.ingestSeconds.observe(seconds);
    },
  };
}

/** Pollers of every organization; each is made once its forge is connected, since what can be read depends on it. */
export function makePollLoop(ground: Ground, forges: ConnectedForges, gaps: GapKeeper): PollLoop {
  const { config, clock, logger, alerts } = ground;
  const made = new Map<string, Polled[]>();
  const sources = (): Polled[] => {
    for (const org of config.orgs) {
      const key = `${org.forge}/${org.name}`;
      if (!made.has(key) && forges.get(org.forge)?.capabilities) made.set(key, pollersOf(ground, forges, gaps, org));
    }
    return [...made.values()].flat();
  };
  return new PollLoop({ sources, clock, random: Math.random, logger, alerts });
}

function pollersOf({ stores, queue, clock, logger, metrics, startedAt }: Ground, forges: ConnectedForges, gaps: GapKeeper, org: OrgConfig): Polled[] {
  const forge = forges.get(org.forge);
  if (!forge) return [];
  const polled = { forge: org.forge, org: org.name };
  const caller = { lane: 'poll', org: org.name } as const;
  const counted = (what: { org: string; source: string; stored: number }): void => metrics.entries.inc({ org: what.org, source: what.source }, what.stored);
  const common = { inbox: stores.inbox, cursors: stores.cursors, queue, clock, logger, startedAt, client: forge.client, counted };
  const offers = (name: OperationName): boolean => forges.get(org.forge)?.offers(name) ?? true;
  const everyMs = org.feed.everyS * 1000;
  const moved = new Set<string>();
  const feed = new FeedPoller({ ...common, moved: (repositoryId) => void moved.add(repositoryId), outageMs: Math.max(600_000, everyMs * 5) }, polled);
  const repositories = new KnownRepositories({ client: forge.client, offers, seen: stores.seenRepositories, clock }, polled);
  const tasks = new TaskPoller(
    { ...common, offers, repositories, moved, callsPerPoll: org.tasks.callsPerPoll, ownLogin: forge.capabilities?.self?.login ?? null },
    polled,
  );
  return [
    {
      name: `feed/${org.forge}/${org.name}`,
      everyMs,
      isPressing: () => feed.isCutOff || gaps.isMissing(org.forge, org.name),
      poll: () => callingAs(caller, () => feed.poll()),
    },
    ...(org.tasks.callsPerPoll > 0
      ? [{ name: `tasks/${org.forge}/${org.name}`, everyMs, isPressing: () => tasks.hasOpen, poll: () => callingAs(caller, () => tasks.poll()) }]
      : []),
  ];
}

export function makeGapKeeper({ config, stores, clock, logger, alerts, metrics }: Ground, forges: ConnectedForges): GapKeeper {
  return new GapKeeper({
    orgs: config.orgs.map((org) => ({ forge: org.forge, org: org.name, ...org.feed, hasHooks: org.hooks.length > 0 })),
    gaps: stores.gaps,
    cursors: stores.cursors,
    hooks: (forge, org) => callingAs({ lane: 'housekeeping', org }, () => ownHooks(config, forges, forge, org)),
    server: (forge) => ({ product: forges.get(forge)?.capabilities?.product ?? null, version: forges.get(forge)?.capabilities?.version ?? null }),
    clock,
    logger,
    alerts,
    counted: (gap) => metrics.gaps.inc(gap),
  });
}

/** The organization's webhooks at the forge that point at an endpoint of ours; null when none does (ours may sit elsewhere). */
async function ownHooks(config: AppConfig, forges: ConnectedForges, forge: string, name: string): Promise<OwnHook[] | null> {
  const client = forges.get(forge)?.client;
  const ids = config.orgs.find((org) => org.name === name)?.hooks.map(({ id }) => `/webhooks/${encodeURIComponent(id)}`) ?? [];
  if (!client) return null;
  const hooks = await client.listOrgHooks({ org: name, limit: 50 });
  const ours = hooks.filter((hook) => ids.some((path) => (hook.config?.url ?? '').split('?')[0]?.endsWith(path)));
  if (ours.length === 0) return null;
  return ours.map(({ active, events, branch_filter: branchFilter }) => ({ active: active ?? false, events: events ?? [], branchFilter: branchFilter ?? '' }));
}

export function makeServerFootings({ config, stores, clock }: Ground): ServerFootings {
  const tokens = new Map(config.forges.map(({ id, auth }) => [id, auth.type === 'token' ? auth.token : null]));
  return new ServerFootings({ known: stores.known, token: (forge) => tokens.get(forge) ?? null, clock });
}

export function makeOfferCheck(
  { config, alerts, clock, logger }: Ground,
  keeper: RevisionKeeper,
  forges: ConnectedForges,
  footings: ServerFootings,
): OfferCheck {
  const orgs = config.orgs.map(({ forge, name }) => ({ forge, org: name }));
  const check = new OfferCheck({ orgs, revisions: keeper, forges, lookups: lookupCatalogue(), footings, alerts, clock, logger });
  const look = (): void => void callingAs({ lane: 'housekeeping', org: null }, () => check.check());
  keeper.onActivated(look);
  forges.onConnected(look);
  return check;
}

/** @param refused requests refused at an endpoint since the start; null while none is here */
export function makeDoctor(
  { config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>,
  forges: ConnectedForges,
  keeper: RevisionKeeper,
  offers: OfferCheck,
  footings: ServerFootings,
  refused: DoctorDeps['refused'],
): Doctor {
  return new Doctor({
    forges: config.forges.map(({ id, baseUrl, auth }) => ({ id, baseUrl, signsInBy: auth.type === 'token' ? 'token' : 'password' })),
    orgs: config.orgs.map(({ name, forge, hooks, rules }) => ({ org: name, forge, hooks, rulesInRepository: rules.repository !== null })),
    publicUrl: config.server.publicUrl,
    connected: forges,
    revisions: keeper,
    offers,
    footings,
    gaps: stores.gaps,
    refused,
    clock,
  });
}

/** What the control service needs of the parts; `running` is null when it serves one command. */
export function makeControl(
  { config, stores, metrics, clock, logger, alerts }: Ground,
  parts: ControlParts,
  running: StoreControlDeps['running'],
): StoreControl {
  const { forges, keeper, flow, scheduler, sweep, offers, footings, planner, verdicts, runner, archive } = parts;
  const forgeOf = new Map(config.orgs.map((org) => [org.name, org.forge]));
  // A running bot connects by itself; a command that opened the store does it for the orders that decide.
  const connectForCommand = async (): Promise<void> => (running ? undefined : forges.start());
  const isReceiver = running && (running.role === 'web' || running.role === 'all');
  const doctor = makeDoctor({ config, stores, clock }, forges, keeper, offers, footings, (hook) =>
    isReceiver ? metrics.refusedAt(hook) : Promise.resolve(null),
  );
  const explainer = makeExplainer({ config, stores }, keeper, forges);
  return new StoreControl({
    config,
    version: VERSION,
    inbox: stores.inbox,
    journal: stores.journal,
    gaps: stores.gaps,
    recovery: stores.recovery,
    deadlyWork: stores.deadlyWork,
    metrics,
    running,
    forges: () =>
      forges.list().map(({ id, capabilities }) => ({
        id,
        product: capabilities?.product ?? null,
        version: capabilities?.version ?? null,
        self: capabilities?.self?.login ?? null,
        reachable: running ? capabilities !== null : null,
      })),
    org: async (name) => {
      const kept = await keeper.active(name);
      const stored = kept ? null : await stores.revisions.active(name);
      const revision = kept
        ? { hash: kept.revision.hash, rules: kept.revision.rules.length, policies: kept.revision.policies.length, loadedAt: kept.loadedAt }
        : stored && { hash: stored.hash, rules: null, policies: null, loadedAt: stored.loadedAt };
      return {
        revision,
        heldBack: [...keeper.heldBack(name)],
        lacking: [...offers.lacking(name)],
        source: (await verdicts.of(forgeOf.get(name) ?? '', name)) ?? null,
      };
    },
    ruleIds: async (name) => {
      const kept = await keeper.active(name);
      return kept ? [...kept.revision.rules, ...kept.revision.policies].map(({ id }) => id) : null;
    },
    cursorAge: async (forge, org, source) => {
      const stored = await stores.cursors.read(forge, org, source);
      const oldest = source === 'tasks' ? readTaskPosition(stored?.position)?.oldestReadAt : null;
      return stored && { advancedAt: stored.advancedAt, oldestReadAt: oldest ? new Date(oldest) : null };
    },
    replayEvent: async (id) => {
      await connectForCommand();
      return ordered('interactive', null, () => flow.replayEvent(id));
    },
    runSchedule: async (org, schedule) => {
      await connectForCommand();
      return ordered('housekeeping', org, () => scheduler.runNow(org, schedule));
    },
    doctor: async (org, operations) => {
      await connectForCommand();
      return doctor.examine({ org: org ?? undefined }, operations);
    },
    installHook: async (org, orders) => {
      await connectForCommand();
      return doctor.installHook(org, orders);
    },
    jobs: () => runner.list(),
    runJob: async (job, org, isDryRun, by) => {
      await connectForCommand();
      return runner.run(job, org, isDryRun, by);
    },
    restore: (file) => archive.restore(file),
    plan: async (org, policy, by) => {
      await connectForCommand();
      return ordered('housekeeping', org, () => planner.plan(org, policy, by));
    },
    applyPlan: async (hash, by) => {
      await connectForCommand();
      return ordered('housekeeping', null, () => planner.apply(hash, by));
    },
    decidePlan: async (hash, verdict, by) => {
      await connectForCommand();
      return ordered('housekeeping', null, () => planner.decide(hash, verdict, by));
    },
    plans: stores.plans,
    findings: stores.findings,
    explain: (query) => ordered('interactive', null, () => explainer.explain(query)),
    history: stores.history,
    rollouts: stores.rollouts,
    promote: async (org, id, order, by) => {
      const kept = await keeper.active(org);
      const rule = kept?.revision.rules.find((one) => one.id === id);
      if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
      const minDecisions = config.orgs.find(({ name }) => name === org)?.promotion.minDecisions ?? 0;
      const rollout = new Rollout({ store: stores.rollouts, clock, alerts });
      return rollout.promote(org, stagedOf(rule), order.to, by, { force: order.force, minDecisions });
    },
    self: (forge) => forges.get(forge)?.capabilities?.self ?? loginOf(config.forges.find(({ id }) => id === forge)),
    record: (order, by, facts) => logger.info({ order, by, ...facts }, 'order taken'),
    nudge: () => (running?.role === 'worker' || running?.role === 'all' ? void sweep.pass() : undefined),
    alerts,
    now: () => clock.now(),
  });
}

/** A person waits for an order; what reads whole organizations for one waits behind events all the same. */
function ordered<Result>(lane: CallLane, org: string | null, work: () => Promise<Result>): Promise<Result> {
  return callingAs({ lane, org }, work);
}

/** What a rule's stage depends on. */
function stagedOf({ id, mode, canary, textHash }: CompiledRule): Parameters<Rollout['mayWrite']>[1] {
  return { id, kind: 'rule', mode, canary, ruleHash: textHash };
}

function standingOf({ stores, clock, alerts }: Ground): (org: string, rule: CompiledRule) => Promise<boolean> {
  const rollout = new Rollout({ store: stores.rollouts, clock, alerts });
  return (org, rule) => rollout.mayWrite(org, stagedOf(rule));
}

export interface ControlParts {
  readonly forges: ConnectedForges;
  readonly keeper: RevisionKeeper;
  readonly flow: ArrivalToIntents;
  readonly scheduler: Scheduler;
  readonly sweep: Sweep;
  readonly offers: OfferCheck;
  readonly footings: ServerFootings;
  readonly planner: Planner;
  readonly verdicts: RuleVerdicts;
  readonly runner: JobRunner;
  readonly archive: ArchiveInbox;
}

/** Names this process in the store. */
function ownerName(): string {
  return `${hostname()}/${process.pid}/${newId().slice(-8)}`;
}

/** The connected forges, with what the operator says about each. */
export function withSettings(config: AppConfig, forges: ConnectedForges): Forges {
  const settings = new Map(config.forges.map(({ id, settleS, marks }) => [id, { settleS, marks }]));
  return {
    get: (id) => {
      const entry = forges.get(id);
      return entry && { client: entry.client, offers: (name) => entry.offers(name), ...settings.get(id) };
    },
  };
}

export function orgDirectory(config: AppConfig): OrgDirectory {
  const orgs = new Map(config.orgs.map((org) => [org.name, { powers: org.powers, mirrorHosts: org.mirrorHosts, secrets: org.secrets, budgets: org.budgets }]));
  return { get: (name) => orgs.get(name) ?? null };
}
