import { aConfig } from './a-config.js';
import { actions } from '../../src/actions/index.js';
import type { Alerts } from '../../src/core/alerts.js';
import type { EventActor, EventRepository, ForgeEvent } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import type { Ownership } from '../../src/core/repository-owner.js';
import { silentLogger } from '../../src/core/logger.js';
import type { SecurityEvent } from '../../src/core/security-log.js';
import { Secret } from '../../src/core/secret.js';
import { IntentToEffect } from '../../src/pipeline/execute.js';
import type { EffectTools } from '../../src/pipeline/execute/effect-tools.js';
import { Budgets } from '../../src/pipeline/execute/budget-keeper.js';
import {
  type ForgeAccess,
  type OrgBudgets,
  type OrgSettings,
  ForgeHealth,
} from '../../src/pipeline/execute/forge-access.js';
import { ForgeOwners } from '../../src/forge/forge-owners.js';
import { TargetResolver } from '../../src/pipeline/execute/prepare-effect.js';
import { Settler, type Aftermath } from '../../src/pipeline/execute/settle.js';
import { OutcomeRecovery } from '../../src/pipeline/recover.js';
import { planIntents } from '../../src/pipeline/decide/plan-intents.js';
import type { ActProver } from '../../src/pipeline/decide/act-proof.js';
import type { IntentStatus } from '../../src/rules/revisions/active-revisions.port.js';
import type { Intent } from '../../src/core/run.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { FakeForge } from '../fakes/fake-forge.js';
import { FakeMessenger } from '../fakes/fake-messenger.js';
import { InMemoryJournalStore } from '../fakes/in-memory-journal-store.js';
import { InMemorySeenRepositories } from '../fakes/in-memory-seen-repositories.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { honestActs } from '../fakes/honest-acts.js';
import { because } from './reasons.js';
import { textOf } from '../../src/core/reason.js';

export const MIRROR_PASSWORD = 'canary-mirror-password-71c9';

const RIG = { name: 'rig' };
/** Waits are as long as they may be. */
const FULL_WAITS = { next: () => 1 };
const APP: EventRepository = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false };

export interface WishOptions {
  /** A schedule wants it. */
  tickId?: string;
  mode?: 'live' | 'dry-run';
  /** Default: a rule wants it. */
  kind?: 'rule' | 'policy';
  /** Of a policy: what a person undid stays so. */
  respectUndo?: boolean;
  repo?: EventRepository | null;
  /** Default: a rule of its own. */
  rule?: string;
  /** The event that caused it; default: one of its own. */
  eventId?: string;
  /** Whose the repository was when it was decided; left out = nobody asked. */
  ownership?: Ownership;
  /** Who caused it, by an event that anybody may cause. */
  actor?: EventActor;
  /** A comment asks for it. */
  asked?: boolean;
  /** A delivery alone says so. */
  isClaim?: boolean;
}

/** The doing side with everything in memory: a wish goes in, the intent's end comes out. */
export class EffectRig {
  readonly clock = new ManualClock();
  readonly journal = new InMemoryJournalStore(this.clock);
  readonly encryptor = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));
  readonly alerts: string[] = [];
  /** What the forge says about the acts that deliveries tell of. */
  acts: ActProver = honestActs;
  /** By their ids, where a test stores what caused an intent. */
  readonly events = new Map<string, ForgeEvent>();
  readonly forge: FakeForge;
  readonly messenger = new FakeMessenger();
  /** Actions of what ended without a confirmation. */
  readonly unconfirmed: string[] = [];
  readonly settings: OrgSettings & {
    powers: string[];
    mirrorHosts: string[];
    notifyHosts: string[];
    secrets: Record<string, Secret>;
    budgets: OrgBudgets;
  } = {
    powers: [
      'protection.ensure',
      'repo.create_for_user',
      'repository_settings.ensure',
      'backport',
      'branch.delete',
      'review.approve',
      'topics.ensure',
      'user_settings.update',
    ],
    mirrorHosts: ['mirror.example.org'],
    notifyHosts: ['chat.example.org'],
    addressesOf: async () => [],
    secrets: { mirror_token: new Secret(MIRROR_PASSWORD) },
    budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: null },
  };
  readonly tools: EffectTools;
  private readonly heard: Alerts;
  readonly effects: IntentToEffect;
  readonly unknown: OutcomeRecovery;
  readonly health: ForgeHealth;
  readonly owners: ForgeOwners;
  /** Numbers that the operator names as repositories of acme. */
  readonly named = ['7'];
  readonly targets: TargetResolver;
  /** What the rules of now say about every intent; may change while one is worked on. */
  status: IntentStatus = { is: 'wanted' };
  /** Who is known to be in the organization, and who is known not to be. */
  readonly members = new Map<string, boolean>();
  /** What the security log was told. */
  readonly security: SecurityEvent[] = [];
  private wishes = 0;

  /** @param access another forge than the one in memory */
  constructor({ profile = 'gitea', access }: { profile?: 'gitea' | 'core'; access?: ForgeAccess } = {}) {
    this.forge = new FakeForge(profile);
    this.forge.addRepository('app');
    const { journal, clock, encryptor } = this;
    const alerts: Alerts = { raise: (key) => void this.alerts.push(key), resolve: () => undefined };
    const forges = { get: (forge: string) => (forge === 'main' ? (access ?? this.forge) : null) };
    this.owners = new ForgeOwners(
      forges,
      new InMemorySeenRepositories(),
      aConfig({ orgs: [{ forge: 'main', name: 'acme', repositories: this.named }] }),
      clock,
    );
    this.targets = new TargetResolver(this.owners);
    const orgs = { get: (org: string) => (org === 'acme' ? this.settings : null) };
    this.health = new ForgeHealth(forges, clock, alerts, silentLogger, journal, aConfig({ orgs: [{ name: 'acme' }] }));
    this.tools = {
      actions,
      journal,
      recovery: journal,
      forges,
      orgs,
      encryptor,
      targets: this.targets,
      clock,
      messenger: this.messenger,
    };
    this.unknown = new OutcomeRecovery(this.tools, this.health, RIG, FULL_WAITS, alerts, silentLogger, {
      unconfirmed: { inc: (labels) => void this.unconfirmed.push(String((labels as { action: string }).action)) },
    });
    this.heard = alerts;
    this.effects = this.processOf();
  }

  /** One that works on intents. @param over what it sees otherwise */
  processOf({ name = RIG.name, ...over }: Partial<EffectTools> & { name?: string } = {}): IntentToEffect {
    const tools = { ...this.tools, ...over };
    const { journal, clock, heard: alerts } = this;
    const settler = new Settler(
      tools.journal,
      this.unknown,
      { attempts: { inc: () => undefined }, effectSeconds: { observe: () => undefined } },
      clock,
      FULL_WAITS,
      silentLogger,
      alerts,
    );
    const budgets = new Budgets(
      { isMember: async (_forge, _org, login) => this.members.get(login) ?? null },
      { self: () => null },
      journal,
      { prove: (...asked) => this.acts.prove(...asked) },
      { event: async (id) => this.events.get(id) ?? null },
      clock,
      alerts,
    );
    const security = { record: (event: SecurityEvent) => void this.security.push(event) };
    return new IntentToEffect(tools, settler, { of: async () => this.status }, this.health, budgets, alerts, security, {
      name,
    });
  }

  /** Plan a wish of a rule of its own; not worked on yet. */
  async plan(action: string, params: JsonObject, options: WishOptions = {}): Promise<string> {
    const [id = ''] = await this.planItems(action, [{ itemKey: 'item', params }], options);
    return id;
  }

  /** Plan several items of one run. */
  async planItems(
    action: string,
    items: Array<{ itemKey: string; params: JsonObject }>,
    {
      mode = 'live',
      kind = 'rule',
      respectUndo = false,
      repo = APP,
      rule = `wish-${this.wishes + 1}`,
      eventId = `event-${this.wishes + 1}`,
      actor,
      isClaim,
      asked = false,
      tickId,
      ownership,
    }: WishOptions = {},
  ): Promise<string[]> {
    this.wishes += 1;
    const { run, intents } = planIntents(
      {
        forge: 'main',
        org: 'acme',
        rule,
        kind,
        mode,
        revisionId: 'rev-1',
        cause: tickId === undefined ? { kind: 'event', eventId } : { kind: 'tick', tickId, subject: repo?.id ?? '' },
        repo,
        ...(actor ? { actor } : {}),
        ...(ownership ? { ownership } : {}),
        claim: isClaim ? eventId : null,
        isAskedFor: asked,
        report: { rule, verdict: 'fired', reason: because('wanted'), trace: null },
        steps: [{ stepId: 'only', stepNo: 0, action, items, ...(respectUndo ? { respectsUndo: true as const } : {}) }],
        lookups: {},
        decidedAt: this.clock.now(),
      },
      { actions, encryptor: this.encryptor, newId: () => `id-${this.wishes}-${Math.random()}`, account: 'forgehand' },
    );
    await this.journal.recordDecision({}, [{ run, intents }]);
    if (intents.length === 0) throw new Error(textOf(run.reason));
    return intents.map(({ id }) => id);
  }

  /** Work on an intent once; null where it cannot be claimed. */
  async attempt(intentId: string, by: IntentToEffect = this.effects): Promise<Aftermath | null> {
    const [claim] = await by.claim([intentId]);
    return claim ? by.execute(claim) : null;
  }

  /** Work on an intent once and tell what it is now. */
  async work(intentId: string): Promise<Intent> {
    await this.attempt(intentId);
    const intent = await this.journal.intent(intentId);
    if (!intent) throw new Error('no such intent');
    return intent;
  }

  /** Let time pass, read about what is unknown, and tell what the intent is now. */
  async recover(intentId: string, afterMs = 60_000): Promise<Intent> {
    this.clock.advance(afterMs);
    await this.unknown.pass(100);
    const intent = await this.journal.intent(intentId);
    if (!intent) throw new Error('no such intent');
    return intent;
  }

  async want(action: string, params: JsonObject, options: WishOptions = {}): Promise<Intent> {
    return this.work(await this.plan(action, params, options));
  }

  /** Names of the operations that changed something at the forge. */
  get written(): string[] {
    return this.forge.writes.map(({ operation }) => operation);
  }
}
