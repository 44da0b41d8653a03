import { hostname } from 'node:os';
import { Module } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { CachedLookups } from '../actions/lookups/cached-lookups.js';
import { CoalescedLookups } from '../actions/lookups/coalesced-lookups.js';
import { ForgeLookupReader } from '../actions/lookups/forge-lookup-reader.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { LOOKUP_READER } from '../actions/lookups/lookup-reader.port.js';
import { OwnRepositoriesOnly } from '../actions/lookups/own-repositories-only.js';
import type { AppConfig } from '../config/app-config.js';
import { APP_CONFIG, THIS_PROCESS } from '../config/config.module.js';
import { ALERTS } from '../core/alerts.js';
import { CLOCK } from '../core/clock.js';
import type { ForgeEvent } from '../core/event.js';
import { newId } from '../core/ids.js';
import { stringifyJson, type Json } from '../core/json.js';
import { LOGGER } from '../core/logger.js';
import { part, portToken, stopping } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { SECURITY_LOG } from '../core/security-log.js';
import { deriveFacts, isNews, statedObjectOf } from '../events/derive/derive-facts.js';
import { Misfit, type EventFact } from '../events/event-fact.js';
import { deduplicateInto } from '../events/deduplicate.js';
import { readDelivery } from '../events/normalize-delivery.js';
import { isDelivered } from '../events/pairing-table.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeHomes } from '../forge/forge-homes.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { ForgeModule } from '../forge/forge.module.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { Metrics } from '../observability/metrics.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { ACTIVE_REVISIONS } from '../rules/revisions/active-revisions.port.js';
import { Proposals } from '../rules/revisions/proposals.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { REVISION_STORE } from '../rules/revisions/revision-store.port.js';
import { RevisionStatus } from '../rules/revisions/rule-status.js';
import { RulesModule } from '../rules/rules.module.js';
import { Answers, type AnswerDeps } from './answer/answers.js';
import { RuleChecks } from './answer/rule-checks.js';
import { ArrivalToIntents } from './decide.js';
import { ActProofs } from './decide/act-proofs.js';
import { ForgeFieldReader } from './decide/field-reader.js';
import { BotFactsReader } from './decide/answer-lookups.js';
import { CrashLoopGuard } from './decide/crash-loop-guard.js';
import { AtOnceDecider } from './decide/decide-at-once.js';
import { arrivalDecider } from './decide/decide-arrival.js';
import { DecideTurns } from './decide/decide-turns.js';
import { LaterArrivals } from './decide/later-arrivals.js';
import { FINDING_SINK, POLICY_GATE } from './policy-gate.port.js';
import { Rollout, stagedOf } from './decide/rollout.js';
import type { Plan } from './decide/plan-intents.js';
import { EffectEchoDetector } from './decide/detect-echoes.js';
import { WAITING_STORE } from './waiting-store.port.js';
import { POISON_MESSAGE_STORE } from './poison-message-store.port.js';
import { IntentToEffect } from './execute.js';
import { Budgets, KnownMembers } from './execute/budget-keeper.js';
import { Executor } from './execute/executor.js';
import {
  botAccounts,
  orgDirectory,
  withSettings,
  FORGES,
  OF_THE_BOT,
  ORG_DIRECTORY,
  ForgeHealth,
  type Forges,
} from './execute/forge-access.js';
import { Rehearser, type RehearserDeps } from './execute/rehearse.js';
import { TargetResolver } from './execute/prepare-effect.js';
import { Settler } from './execute/settle.js';
import { GAP_STORE } from './gap-store.port.js';
import { INBOX_STORE } from './inbox-store.port.js';
import { JOURNAL_STORE, type JournalStore } from './journal-store.port.js';
import { OutcomeRecovery } from './recover.js';
import { RECOVERY_STORE, type RecoveryStore } from './recovery-store.port.js';
import { ROLLOUT_STORE } from './rollout-store.port.js';
import { ACCOUNTS, RULE_ENGINE } from './rule-engine.port.js';
import { StorePoll } from './store-poll.js';
import { WORK_QUEUE } from './work-queue.port.js';

/** What it takes to do an intent, to rehearse it, or to find out what became of it. */
type EffectTools = RehearserDeps & { readonly journal: JournalStore; readonly recovery: RecoveryStore };
const EFFECT_TOOLS = portToken<EffectTools>('EffectTools');

const READING = [
  part(ACCOUNTS, { forges: ConnectedForges }, ({ forges }) => botAccounts(forges)),
  part(FORGES, { config: APP_CONFIG, forges: ConnectedForges }, ({ config, forges }) => withSettings(config, forges)),
  part(ORG_DIRECTORY, { config: APP_CONFIG }, ({ config }) => orgDirectory(config)),
  // Reads that decisions ask for: of the forge, and of what the bot knows of itself.
  part(
    LOOKUP_READER,
    {
      config: APP_CONFIG,
      forges: ConnectedForges,
      revisions: ACTIVE_REVISIONS,
      homes: ForgeHomes,
      gaps: GAP_STORE,
      clock: CLOCK,
    },
    ({ config: { orgs, server }, forges, revisions, homes, gaps, clock }) => {
      const catalogue = lookupCatalogue();
      const cached = new CoalescedLookups(new CachedLookups(new ForgeLookupReader(forges), clock), catalogue, clock);
      return new BotFactsReader({
        // The outermost of the readers: an answer that was kept is asked about as well.
        reader: new OwnRepositoriesOnly(cached, catalogue, homes),
        revisions,
        gaps,
        hookUrl: (name) => {
          const hook = orgs.find((org) => org.name === name)?.hooks[0];
          return hook && server.publicUrl !== null
            ? `${server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}`
            : null;
        },
        product: (forge, org) => forges.get(forge, org)?.capabilities?.product ?? null,
      });
    },
  ),
  // What deliveries say, held against the forge.
  part(
    ActProofs,
    {
      forges: FORGES,
      homes: ForgeHomes,
      recovery: RECOVERY_STORE,
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      clock: CLOCK,
    },
    (deps) => {
      const readRow = (row: object, org: string): readonly EventFact[] => {
        const facts = normalizeEntry({ org, source: 'feed', text: stringifyJson(row as Json), textHash: '' });
        return facts instanceof Misfit ? [] : facts;
      };
      return new ActProofs({ ...deps, readRow });
    },
  ),
];

const DECIDING = [
  part(Rollout, { store: ROLLOUT_STORE, clock: CLOCK, alerts: ALERTS }, (deps) => new Rollout(deps)),
  part(
    EffectEchoDetector,
    {
      recovery: RECOVERY_STORE,
      journal: JOURNAL_STORE,
      accounts: ACCOUNTS,
      clock: CLOCK,
      logger: LOGGER,
      alerts: ALERTS,
    },
    (deps) => new EffectEchoDetector({ actions, ...deps }),
  ),
  part(
    CrashLoopGuard,
    { store: POISON_MESSAGE_STORE, self: THIS_PROCESS, clock: CLOCK, alerts: ALERTS, logger: LOGGER },
    ({ self: { startedAt }, ...deps }) => new CrashLoopGuard(deps, { owner: ownerName(), startedAt }),
  ),
  part(
    RuleChecks,
    {
      proposals: Proposals,
      journal: JOURNAL_STORE,
      watch: CrashLoopGuard,
      encryptor: Encryptor,
      clock: CLOCK,
      logger: LOGGER,
    },
    ({ encryptor, ...deps }) => new RuleChecks({ ...deps, tools: { actions, encryptor, newId } }),
  ),
  stopping({ checks: RuleChecks }, ({ checks }) => checks.stop()),
  part(LaterArrivals, { queue: WORK_QUEUE, clock: CLOCK }, ({ queue, clock }) => new LaterArrivals(queue, clock)),
  stopping({ later: LaterArrivals }, ({ later }) => later.stop()),
  part(
    ArrivalToIntents,
    {
      later: LaterArrivals,
      config: APP_CONFIG,
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      queue: WORK_QUEUE,
      rules: RULE_ENGINE,
      revisions: ACTIVE_REVISIONS,
      keeper: RevisionKeeper,
      checks: RuleChecks,
      proposals: Proposals,
      offers: CapabilityCheck,
      lookups: LOOKUP_READER,
      homes: ForgeHomes,
      inventory: ForgeInventory,
      acts: ActProofs,
      accounts: ACCOUNTS,
      gate: POLICY_GATE,
      findings: FINDING_SINK,
      waiting: WAITING_STORE,
      echoes: EffectEchoDetector,
      watch: CrashLoopGuard,
      rollout: Rollout,
      encryptor: Encryptor,
      security: SECURITY_LOG,
      metrics: Metrics,
      alerts: ALERTS,
      clock: CLOCK,
      logger: LOGGER,
      forges: FORGES,
      connected: ConnectedForges,
      numbers: OrgNumbers,
    },
    ({ later, config, keeper, offers, findings, encryptor, metrics, forges, numbers, ...deps }) => {
      const { inbox, queue, clock, logger, security, alerts, accounts, acts, journal, lookups } = deps;
      const tools = { actions, encryptor, newId };
      const decides = {
        ...deps,
        tools,
        fields: new ForgeFieldReader({ forges, homes: deps.homes, inbox, clock }),
        awaitMs: awaitsDelivery(config, deps.connected),
        heldFor: (org: string, id: string) => offers.heldFor(org, id),
        found: (plan: Plan) => findings.keep(plan),
        answers: new Answers({
          accounts,
          acts,
          journal,
          lookups,
          tools,
          clock,
          settings: answerSettings(config, forges),
        }),
        counted: (what: { org: string; rule: string; verdict: string }) => metrics.runs.inc(what),
      };
      const arrivals = {
        atOnce: new AtOnceDecider(decides),
        ...{ inbox, journal, queue, clock, logger, security, alerts },
        awaitMs: decides.awaitMs,
        later,
        orgs: {
          numberOf: (forge: string, org: string) => numbers.pinned(forge, org),
          numberAtHand: (forge: string, org: string) => numbers.pinnedAtHand(forge, org),
          isRenamed: (forge: string, org: string) => {
            const server = deps.connected.unguarded(forge, org);
            return server ? numbers.isRenamed(forge, org, server) : Promise.resolve(false);
          },
        },
        events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
        maxActAgeMs: config.retention.maxAgeMs,
        counted: (what: { org: string; kind: string; source: string }, event?: ForgeEvent) => {
          metrics.events.inc(what);
          if (event && mayChangeRules(event)) keeper.nudge(event.org, event.repo?.id ?? null);
        },
        setAside: (what: { org: string; hook: string; code: string }) => metrics.setAside.inc(what),
      };
      return new ArrivalToIntents({ ...decides, arrivals: arrivalDecider(arrivals) });
    },
  ),
];

const DOING = [
  part(TargetResolver, { homes: ForgeHomes }, ({ homes }) => new TargetResolver(homes)),
  part(
    EFFECT_TOOLS,
    {
      journal: JOURNAL_STORE,
      recovery: RECOVERY_STORE,
      forges: FORGES,
      orgs: ORG_DIRECTORY,
      encryptor: Encryptor,
      targets: TargetResolver,
      clock: CLOCK,
    },
    (tools) => ({ actions, ...tools }),
  ),
  part(
    ForgeHealth,
    { forges: FORGES, clock: CLOCK, alerts: ALERTS, logger: LOGGER, journal: JOURNAL_STORE, config: APP_CONFIG },
    ({ config, ...deps }) => new ForgeHealth({ ...deps, orgs: [OF_THE_BOT, ...config.orgs.map(({ name }) => name)] }),
  ),
  part(
    OutcomeRecovery,
    { tools: EFFECT_TOOLS, health: ForgeHealth, logger: LOGGER, alerts: ALERTS },
    ({ tools, ...deps }) => new OutcomeRecovery({ ...tools, ...deps, random: Math.random }, { owner: ownerName() }),
  ),
  part(
    Settler,
    {
      journal: JOURNAL_STORE,
      unknown: OutcomeRecovery,
      metrics: Metrics,
      clock: CLOCK,
      logger: LOGGER,
      alerts: ALERTS,
    },
    ({ metrics, ...deps }) =>
      new Settler({
        ...deps,
        random: Math.random,
        observer: {
          attempted: (operation, outcome) => metrics.attempts.inc({ operation, outcome }),
          ended: ({ plannedAt }) =>
            metrics.effectSeconds.observe((deps.clock.now().getTime() - plannedAt.getTime()) / 1000),
        },
      }),
  ),
  part(
    Budgets,
    {
      forges: FORGES,
      accounts: ACCOUNTS,
      acts: ActProofs,
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      clock: CLOCK,
      alerts: ALERTS,
    },
    ({ forges, ...deps }) => new Budgets({ members: new KnownMembers(forges, deps.clock), ...deps }),
  ),
  part(
    RevisionStatus,
    { keeper: RevisionKeeper, revisions: REVISION_STORE, rollout: Rollout },
    ({ keeper, revisions, rollout }) =>
      new RevisionStatus(keeper, revisions, (org, rule) => rollout.mayWrite(org, stagedOf(rule))),
  ),
  part(
    IntentToEffect,
    {
      tools: EFFECT_TOOLS,
      health: ForgeHealth,
      budgets: Budgets,
      settler: Settler,
      status: RevisionStatus,
      alerts: ALERTS,
      security: SECURITY_LOG,
    },
    ({ tools, ...deps }) => new IntentToEffect({ ...tools, ...deps }, { owner: ownerName() }),
  ),
  part(
    Executor,
    { queue: WORK_QUEUE, journal: JOURNAL_STORE, effects: IntentToEffect, clock: CLOCK, logger: LOGGER },
    (deps) => new Executor(deps),
  ),
  part(Rehearser, { tools: EFFECT_TOOLS }, ({ tools }) => new Rehearser(tools)),
  part(
    DecideTurns,
    {
      queue: WORK_QUEUE,
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      revisions: ACTIVE_REVISIONS,
      flow: ArrivalToIntents,
      later: LaterArrivals,
      clock: CLOCK,
      logger: LOGGER,
    },
    (deps) => new DecideTurns(deps),
  ),
  part(
    StorePoll,
    {
      config: APP_CONFIG,
      journal: JOURNAL_STORE,
      recovery: RECOVERY_STORE,
      queue: WORK_QUEUE,
      unknown: OutcomeRecovery,
      logger: LOGGER,
    },
    ({ config, ...deps }) => new StorePoll(deps, { everyMs: config.queue.sweepS * 1000 }),
  ),
];

/** From an arrival to the call it leads to: decide, execute, recover. */
@Module({
  imports: [ForgeModule, RulesModule],
  providers: [...READING, ...DECIDING, ...DOING],
  exports: [ACCOUNTS, LOOKUP_READER, ActProofs, Rollout, ArrivalToIntents, Executor, Rehearser, DecideTurns, StorePoll],
})
export class PipelineModule {}

/** Names this process in the store. */
function ownerName(): string {
  return `${hostname()}/${process.pid}/${newId().slice(-8)}`;
}

/** A push, and whatever happens to a repository as a whole. */
function mayChangeRules({ kind }: Pick<ForgeEvent, 'kind'>): boolean {
  return kind === 'push' || kind.startsWith('repository.');
}

/** Where an organization wants its people answered, and its forge takes comments. */
function answerSettings({ orgs }: AppConfig, forges: Forges): AnswerDeps['settings'] {
  return (forge, name) => {
    const answers = orgs.find((org) => org.name === name && org.forge === forge)?.answers;
    const access = answers?.enabled ? forges.get(forge, name) : null;
    if (!answers || !access?.offers('createComment') || !access.offers('listComments')) return null;
    return { bots: answers.bots, reacts: access.offers('addCommentReaction') && access.offers('addIssueReaction') };
  };
}

/** Two polls: a delivery of what polling sees first comes in that time or not at all. Nothing comes where the forge sends none, or has no webhook of ours. */
function awaitsDelivery(
  config: AppConfig,
  forges: ConnectedForges,
): (event: Pick<ForgeEvent, 'org' | 'forge' | 'kind' | 'source'>) => number {
  const orgs = new Map(config.orgs.map((org) => [org.name, org]));
  return ({ org, forge, kind, source }) => {
    const { hooks = [], feed } = orgs.get(org) ?? {};
    const { product = null, version = null } = forges.get(forge, org)?.capabilities ?? {};
    const comes = source !== 'webhook' && hooks.length > 0 && isDelivered(kind, { product, version });
    return comes && feed ? 2_000 * feed.everyS : 0;
  };
}
