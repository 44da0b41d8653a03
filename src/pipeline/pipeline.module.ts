import { hostname } from 'node:os';
import { Module } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { LookupReader } from '../actions/lookups/lookup-reader.port.js';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import type { ForgeEvent } from '../core/event.js';
import { newId } from '../core/ids.js';
import { stringifyJson, type Json } from '../core/json.js';
import { Logger } from '../core/logger.js';
import { Draining } from '../platform/draining.js';
import { part } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { SecurityLog } from '../core/security-log.js';
import { deriveFacts, isNews, statedObjectOf } from '../events/derive/derive-facts.js';
import { Misfit, type EventFact } from '../events/event-fact.js';
import { deduplicateInto } from '../events/deduplicate.js';
import { readDelivery } from '../events/normalize-delivery.js';
import { isDelivered } from '../events/pairing-table.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeOwners } from '../forge/forge-owners.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { ForgeModule } from '../forge/forge.module.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { Metrics } from '../observability/metrics.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { Proposals } from '../rules/revisions/proposals.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import { RevisionStatus } from '../rules/revisions/rule-status.js';
import { RulesModule } from '../rules/rules.module.js';
import { Answers, type AnswerDeps } from './answer/answers.js';
import { RuleChecks } from './answer/rule-checks.js';
import { ArrivalToIntents } from './decide.js';
import { ActProofs } from './decide/act-proofs.js';
import { ForgeFieldReader } from './decide/field-reader.js';
import { BotLookups } from './decide/bot-lookups.js';
import { CrashLoopGuard } from './decide/crash-loop-guard.js';
import { DecideTurns } from './decide/decide-turns.js';
import { FindingSink, PolicyGate } from './policy-gate.port.js';
import { Rollout, stagedOf } from './decide/rollout.js';
import type { Plan } from './decide/plan-intents.js';
import { EffectEchoDetector } from './decide/detect-echoes.js';
import { WaitingStore } from './waiting-store.port.js';
import { PoisonMessageStore } from './poison-message-store.port.js';
import { IntentToEffect } from './execute.js';
import { Budgets, KnownMembers } from './execute/budget-keeper.js';
import { Executor } from './execute/executor.js';
import { botAccounts, orgDirectory, withSettings, Forges, OrgDirectory, ForgeHealth } from './execute/forge-access.js';
import { Rehearser } from './execute/rehearse.js';
import { EffectTools } from './execute/effect-tools.js';
import { TargetResolver } from './execute/prepare-effect.js';
import { Settler } from './execute/settle.js';
import { InboxStore } from './inbox-store.port.js';
import { JournalStore } from './journal-store.port.js';
import { OutcomeRecovery } from './recover.js';
import { RecoveryStore } from './recovery-store.port.js';
import { Accounts, RuleEngine } from './rule-engine.port.js';
import { StorePoll } from './store-poll.js';
import { WorkQueue } from './work-queue.port.js';

const READING = [
  part(Accounts, { forges: ConnectedForges }, ({ forges }) => botAccounts(forges)),
  part(Forges, { config: AppConfig, forges: ConnectedForges }, ({ config, forges }) => withSettings(config, forges)),
  part(OrgDirectory, { config: AppConfig }, ({ config }) => orgDirectory(config)),
  { provide: LookupReader, useClass: BotLookups },
  // What deliveries say, held against the forge.
  part(
    ActProofs,
    {
      forges: Forges,
      owners: ForgeOwners,
      recovery: RecoveryStore,
      inbox: InboxStore,
      journal: JournalStore,
      clock: Clock,
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
  Rollout,
  part(
    EffectEchoDetector,
    {
      recovery: RecoveryStore,
      journal: JournalStore,
      accounts: Accounts,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
    },
    (deps) => new EffectEchoDetector({ actions, ...deps }),
  ),
  part(
    CrashLoopGuard,
    { store: PoisonMessageStore, self: ThisProcess, clock: Clock, alerts: Alerts, logger: Logger },
    ({ self: { startedAt }, ...deps }) => new CrashLoopGuard(deps, { owner: ownerName(), startedAt }),
  ),
  part(
    RuleChecks,
    {
      proposals: Proposals,
      journal: JournalStore,
      watch: CrashLoopGuard,
      encryptor: Encryptor,
      clock: Clock,
      logger: Logger,
    },
    ({ encryptor, ...deps }) => new RuleChecks({ ...deps, tools: { actions, encryptor, newId } }),
  ),
  part(
    ArrivalToIntents,
    {
      config: AppConfig,
      inbox: InboxStore,
      journal: JournalStore,
      queue: WorkQueue,
      rules: RuleEngine,
      revisions: ActiveRevisions,
      checks: RuleChecks,
      proposals: Proposals,
      offers: CapabilityCheck,
      lookups: LookupReader,
      owners: ForgeOwners,
      inventory: ForgeInventory,
      acts: ActProofs,
      accounts: Accounts,
      gate: PolicyGate,
      findings: FindingSink,
      waiting: WaitingStore,
      echoes: EffectEchoDetector,
      rollout: Rollout,
      encryptor: Encryptor,
      security: SecurityLog,
      metrics: Metrics,
      alerts: Alerts,
      clock: Clock,
      logger: Logger,
      forges: Forges,
      connected: ConnectedForges,
    },
    ({ config, offers, findings, encryptor, metrics, forges, ...deps }) => {
      const { inbox, clock, accounts, acts, journal, lookups } = deps;
      const tools = { actions, encryptor, newId };
      return new ArrivalToIntents({
        ...deps,
        tools,
        fields: new ForgeFieldReader({ forges, owners: deps.owners, inbox, clock }),
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
      });
    },
  ),
];

const DOING = [
  TargetResolver,
  EffectTools,
  ForgeHealth,
  part(
    OutcomeRecovery,
    { tools: EffectTools, health: ForgeHealth, logger: Logger, alerts: Alerts },
    ({ tools, ...deps }) => new OutcomeRecovery({ ...tools, ...deps, random: Math.random }, { owner: ownerName() }),
  ),
  part(
    Settler,
    {
      journal: JournalStore,
      unknown: OutcomeRecovery,
      metrics: Metrics,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
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
  KnownMembers,
  Budgets,
  part(
    RevisionStatus,
    { keeper: RevisionKeeper, revisions: RevisionStore, rollout: Rollout },
    ({ keeper, revisions, rollout }) =>
      new RevisionStatus(keeper, revisions, (org, rule) => rollout.mayWrite(org, stagedOf(rule))),
  ),
  part(
    IntentToEffect,
    {
      tools: EffectTools,
      health: ForgeHealth,
      budgets: Budgets,
      settler: Settler,
      status: RevisionStatus,
      alerts: Alerts,
      security: SecurityLog,
    },
    ({ tools, ...deps }) => new IntentToEffect({ ...tools, ...deps }, { owner: ownerName() }),
  ),
  part(
    Executor,
    { queue: WorkQueue, journal: JournalStore, effects: IntentToEffect, clock: Clock, logger: Logger },
    (deps) => new Executor(deps),
  ),
  Rehearser,
  part(
    DecideTurns,
    {
      config: AppConfig,
      queue: WorkQueue,
      inbox: InboxStore,
      journal: JournalStore,
      revisions: ActiveRevisions,
      flow: ArrivalToIntents,
      watch: CrashLoopGuard,
      clock: Clock,
      logger: Logger,
      keeper: RevisionKeeper,
      security: SecurityLog,
      metrics: Metrics,
      alerts: Alerts,
      connected: ConnectedForges,
      numbers: OrgNumbers,
    },
    ({ config, keeper, metrics, connected, numbers, ...deps }) =>
      new DecideTurns({
        ...deps,
        arrivals: {
          ...deps,
          atOnce: deps.flow,
          awaitMs: awaitsDelivery(config, connected),
          orgs: {
            numberOf: (forge, org) => numbers.pinned(forge, org),
            numberAtHand: (forge, org) => numbers.pinnedAtHand(forge, org),
            isRenamed: (forge, org) => {
              const server = connected.unguarded(forge, org);
              return server ? numbers.isRenamed(forge, org, server) : Promise.resolve(false);
            },
          },
          events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
          maxActAgeMs: config.retention.maxAgeMs,
          counted: (what, event) => {
            metrics.events.inc(what);
            if (event && mayChangeRules(event)) keeper.nudge(event.org, event.repo?.id ?? null);
          },
          setAside: (what) => metrics.setAside.inc(what),
        },
      }),
  ),
  StorePoll,
];

/** From an arrival to the call it leads to: decide, execute, recover. */
@Module({
  imports: [ForgeModule, RulesModule],
  providers: [...READING, ...DECIDING, ...DOING],
  exports: [Accounts, LookupReader, ActProofs, Rollout, ArrivalToIntents, Executor, Rehearser, DecideTurns, StorePoll],
})
export class PipelineModule extends Draining {
  constructor(private readonly checks: RuleChecks) {
    super();
  }

  protected drain(): Promise<void> {
    return this.checks.stop();
  }
}

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
