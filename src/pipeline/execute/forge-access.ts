import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { ofOrgs, orgsByKey } from '../../config/live-config.js';
import { Alerts, alert } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import type { EventActor } from '../../core/event.js';
import { Logger } from '../../core/logger.js';
import type { Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { MailSettings } from '../../core/message.js';
import type { Secret } from '../../core/secret.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import { JournalStore } from '../journal-store.port.js';
import { Accounts, type BotAccount, type BotSelf } from '../rule-engine.port.js';

/** One forge as the executing side sees it. */
export interface ForgeAccess {
  readonly client: ForgeClient;
  /** Names the credentials that the client signs in with; default: those of the forge. */
  readonly credential?: string;
  /** What the forge calls the organization; null or absent = it is not known. */
  readonly orgName?: string | null;
  /** Longest life of a request at the forge and what stands before it, in seconds; default 60. */
  readonly settleS?: number;
  /** False = a call that is made again bears no mark of ours; default true. */
  readonly marks?: boolean;
  /** Whether one of the bot's accounts is this user; null = not known. Optional. Default: not known. */
  readonly isOurs?: (user: EventActor) => boolean | null;
  /** False once the forge is known not to have the route. */
  offers(name: OperationName): boolean;
}

/** The forges of the config by their id. */
export abstract class Forges {
  /** @param org on whose behalf: an organization may have credentials of its own; null = the credentials of the forge */
  abstract get(forge: string, org: string | null): ForgeAccess | null;
}

/** What the operator says about an organization. */
export interface OrgSettings {
  readonly powers: readonly string[];
  readonly mirrorHosts: readonly string[];
  readonly notifyHosts: readonly string[];
  /** Optional. Default: no mail is sent. */
  readonly mail?: MailSettings | null;
  /** What a name resolves to. Default: as this machine resolves it. */
  readonly addressesOf?: (host: string) => Promise<readonly string[]>;
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly budgets: OrgBudgets;
  /** Optional. Default: nothing is limited. */
  readonly limits?: OrgLimits;
}

/** What rules may do beyond their own repositories; false = the operator did not allow it. */
export interface OrgLimits {
  readonly merges: boolean;
  /** Merging what the bot itself approved. */
  readonly approveAndMerge: boolean;
  /** Push mirrors of private repositories. */
  readonly privateMirrors: boolean;
  /** Writing what was read of a private repository where others may read it. */
  readonly privateReads: boolean;
}

/** Writes in any hour; null = no limit. */
export interface OrgBudgets {
  readonly effectsPerHour: number | null;
  readonly perRepository: number | null;
  /** Of a rule, not of a policy: where it is spent, the rule is paused until a person lets it go on. */
  readonly perRule: number | null;
  /** On account of one person who is a member of the organization. */
  readonly perActor: number | null;
  /** On account of one person who is not known to be one. */
  readonly perStranger: number | null;
}

export abstract class OrgDirectory {
  abstract get(org: string): OrgSettings | null;
}

/** In the place of an organization: what is wanted of the bot's own account is the operator's wish, and no organization's. */
export const OF_THE_BOT = '';

/** The connected forges, with what the operator says about each. */
@Injectable()
export class ForgesOfConfig implements Forges {
  private readonly settings: ReadonlyMap<string, Pick<ForgeAccess, 'settleS' | 'marks'>>;

  constructor(
    config: AppConfig,
    private readonly forges: ConnectedForges,
    private readonly accounts: Accounts,
  ) {
    this.settings = new Map(config.forges.map(({ id, settleS, marks }) => [id, { settleS, marks }]));
  }

  get(id: string, org: string | null): ForgeAccess | null {
    const entry = this.forges.get(id, org);
    return (
      entry && {
        client: entry.client,
        credential: entry.credential,
        orgName: entry.orgName,
        offers: (name) => entry.offers(name),
        isOurs: (user) => {
          const self = this.accounts.self(id, org ?? OF_THE_BOT);
          return self && isSelf(user, self);
        },
        ...this.settings.get(id),
      }
    );
  }
}

/** Who the bot is for an organization, with the accounts that work for others: what any of them does is the bot's own doing. */
@Injectable()
export class BotAccounts implements Accounts {
  constructor(private readonly forges: ConnectedForges) {}

  self(forge: string, org: string | null): BotSelf | null {
    const self = this.forges.get(forge, org)?.capabilities?.self ?? null;
    if (!self) return null;
    const others = this.forges
      .list()
      .flatMap(({ id, capabilities }): BotAccount[] =>
        id === forge && capabilities?.self ? [{ id: capabilities.self.id, login: capabilities.self.login }] : [],
      )
      .filter(({ login }) => login.toLowerCase() !== self.login.toLowerCase());
    return { id: self.id, login: self.login, ...(others.length > 0 ? { others } : {}) };
  }
}

/** What the config says about the bot's own account (forges[].account) is its grant. */
const OWN_ACCOUNT: OrgSettings = {
  powers: ['user_settings.update'],
  mirrorHosts: [],
  notifyHosts: [],
  secrets: {},
  budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: null },
};

/** What the operator says about each organization. */
@Injectable()
export class OrgsOfConfig implements OrgDirectory {
  private readonly orgs: () => ReadonlyMap<string, OrgSettings>;

  constructor(config: AppConfig) {
    this.orgs = orgsByKey(config);
  }

  get(name: string): OrgSettings | null {
    return name === OF_THE_BOT ? OWN_ACCOUNT : (this.orgs().get(name) ?? null);
  }
}

/** Whether one of the bot's accounts on the forge did it: that of this organization, or that of another one of the config. */
export function isSelf(actor: EventActor, self: BotSelf): boolean {
  return [self, ...(self.others ?? [])].some(
    ({ id, login }) => (id !== null && id === actor.id) || login.toLowerCase() === actor.login.toLowerCase(),
  );
}

/** So many calls in a row without an answer open the breaker. */
const SILENCES = 8;
const FIRST_PAUSE_MS = 10_000;
const LAST_PAUSE_MS = 120_000;
/** Between two looks whether the credentials are accepted again: 5 s, 10 s, … */
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;

/** So long the store holds what this process finds out again and again: one that starts anew need not wait longer. */
const HOLD_MS = 10_000;
/** The longest time that a forge may ask for. */
const LONGEST_LIMIT_MS = 900_000;

interface State {
  readonly credential: string;
  readonly forge: string;
  readonly org: string | null;
  /** Milliseconds, monotonic: until then the store holds the credentials; 0 = it does not. */
  heldUntilMs: number;
  /** What the store is told, one after the other. */
  telling: Promise<void>;
  silences: number;
  /** Milliseconds, monotonic; 0 = closed. */
  openUntilMs: number;
  pauseMs: number;
  /** Credentials were refused by a read that needs nothing but them. */
  isLockedOut: boolean;
  nextProbeMs: number;
  probeMs: number;
  probing: Promise<Credentials> | null;
}

type Credentials = 'accepted' | 'refused' | 'unclear';

/**
 * One breaker per credential and process, so that a thousand intents do not each find out that a forge is away, or that a token was revoked.
 * While it is open intents stay planned and burn no try; one alert tells.
 */
@Injectable()
export class ForgeHealth {
  /** Names of all organizations. */
  private readonly orgs: () => readonly string[];
  private readonly states = new Map<string, State>();

  constructor(
    private readonly forges: Forges,
    private readonly clock: Clock,
    private readonly alerts: Alerts,
    private readonly logger: Logger,
    /** Where every process learns that nothing is claimed of the credentials. */
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'holdForge' | 'releaseForge'>,
    config: AppConfig,
  ) {
    this.orgs = ofOrgs(config, (orgs) => [OF_THE_BOT, ...orgs.map(({ key }) => key)]);
  }

  /** Why nothing should be sent to this forge now on behalf of the organization, and for how long; null = go ahead. */
  holds(forge: string, org: string | null): { reason: Reason; againInMs: number } | null {
    const state = this.of(forge, org);
    const now = this.clock.monotonicMs();
    if (state.isLockedOut) {
      if (now >= state.nextProbeMs) void this.checkCredentials(forge, org);
      return { reason: refused(state.credential), againInMs: FIRST_PROBE_MS };
    }
    if (state.openUntilMs > now) return { reason: silent(state.credential), againInMs: state.openUntilMs - now };
    return null;
  }

  /** A call was answered, whatever the answer. */
  answered(forge: string, org: string | null): void {
    const state = this.of(forge, org);
    if (state.openUntilMs > 0) {
      this.alerts.resolve(`forge.silent/${state.credential}`);
      this.release(state);
    }
    Object.assign(state, { silences: 0, openUntilMs: 0, pauseMs: FIRST_PAUSE_MS });
  }

  /** A call failed. Only what says that the forge is away counts. */
  failed(forge: string, org: string | null, error: unknown): void {
    if (!isSilence(error)) {
      if (error instanceof ForgeError && error.kind === 'rate-limited') this.limited(forge, org, error);
      if (error instanceof ForgeError && error.facts.status !== undefined) this.answered(forge, org);
      return;
    }
    const state = this.of(forge, org);
    state.silences += 1;
    if (state.silences < SILENCES) return;
    const now = this.clock.monotonicMs();
    // Calls that were under way when it opened tell nothing new.
    if (state.openUntilMs > now) return;
    state.openUntilMs = now + state.pauseMs;
    this.hold(state, silent(state.credential), Math.min(state.pauseMs, HOLD_MS));
    state.pauseMs = Math.min(state.pauseMs * 2, LAST_PAUSE_MS);
    this.logger.warn(
      { forge: state.credential, silences: state.silences, forMs: state.openUntilMs - now },
      'breaker.forge-opened',
    );
    const { credential } = state;
    this.alerts.raise(`forge.silent/${credential}`, alert('forge.silent', { forge: credential }), {
      forge: credential,
    });
  }

  /**
   * A 401 may mean a revoked token, or only that this one thing is refused (op 7 answers a blocked target so): one read that needs nothing
   * but the credentials tells. Many askers share one read. `refused` closes the connection until the credentials are accepted again.
   */
  async checkCredentials(forge: string, org: string | null): Promise<Credentials> {
    const state = this.of(forge, org);
    const { credential } = state;
    state.probing ??= this.probe(forge, org).finally(() => (state.probing = null));
    const credentials = await state.probing;
    const now = this.clock.monotonicMs();
    if (credentials === 'refused') {
      if (!state.isLockedOut) {
        this.logger.error({ forge: credential }, 'credentials.refused');
        this.alerts.raise(`forge.locked-out/${credential}`, alert('forge.locked-out', { forge: credential }), {
          forge: credential,
        });
      }
      state.probeMs = state.isLockedOut ? Math.min(state.probeMs * 2, LAST_PROBE_MS) : FIRST_PROBE_MS;
      state.isLockedOut = true;
      state.nextProbeMs = now + state.probeMs;
      this.hold(state, refused(credential), HOLD_MS);
    } else if (credentials === 'accepted') {
      if (state.isLockedOut) this.release(state);
      if (state.isLockedOut) this.logger.info({ forge: credential }, 'credentials.accepted');
      state.isLockedOut = false;
      this.alerts.resolve(`forge.locked-out/${credential}`);
    } else state.nextProbeMs = now + state.probeMs;
    return credentials;
  }

  /**
   * Hold on to what is in the way still, and ask about credentials that were refused, where it is time: nothing is claimed of them, so nothing else
   * asks.
   */
  async look(): Promise<void> {
    const now = this.clock.monotonicMs();
    const states = [...this.states.values()];
    for (const state of states) {
      const leftMs = state.isLockedOut ? HOLD_MS : Math.min(state.openUntilMs - now, HOLD_MS);
      if (leftMs <= 0 || state.heldUntilMs - now > HOLD_MS / 2) continue;
      this.hold(state, (state.isLockedOut ? refused : silent)(state.credential), leftMs);
    }
    const due = states.filter(({ isLockedOut, nextProbeMs }) => isLockedOut && nextProbeMs <= now);
    await Promise.all(due.map(({ forge, org }) => this.checkCredentials(forge, org)));
  }

  private limited(forge: string, org: string | null, { facts }: ForgeError): void {
    const state = this.of(forge, org);
    const forMs = Math.min((facts.retryAfterS ?? 1) * 1000, LONGEST_LIMIT_MS);
    // A shorter pause never cuts a longer one, and many are told the same one.
    if (this.clock.monotonicMs() + forMs > state.heldUntilMs + 500)
      this.hold(state, intentReason('intent.forge-limits', { credential: state.credential }), forMs);
  }

  /** Nothing is claimed of these credentials meanwhile, in any process. */
  private hold(state: State, reason: Reason, forMs: number): void {
    const { credential, forge } = state;
    const orgs = this.orgs().filter((org) => this.credentialOf(forge, org) === credential);
    state.heldUntilMs = this.clock.monotonicMs() + forMs;
    this.tell(state, () => this.journal.holdForge({ credential, forge, orgs, reason }, forMs));
  }

  private release(state: State): void {
    state.heldUntilMs = 0;
    this.tell(state, () => this.journal.releaseForge(state.credential));
  }

  /** A store that is away learns of the next one. */
  private tell(state: State, word: () => Promise<void>): void {
    state.telling = state.telling
      .then(word)
      .catch((error: unknown) => this.logger.warn({ forge: state.credential, error }, 'forge-hold.not-stored'));
  }

  private credentialOf(forge: string, org: string | null): string {
    return this.forges.get(forge, org)?.credential ?? forge;
  }

  /** Whether the forge answers others while a call got no answer: then what was asked for is the reason, and not the forge. */
  async answersOthers(forge: string, org: string | null): Promise<boolean> {
    return (await this.checkCredentials(forge, org)) === 'accepted';
  }

  private async probe(forge: string, org: string | null): Promise<Credentials> {
    const access = this.forges.get(forge, org);
    if (!access) return 'unclear';
    try {
      // Op 11 needs nothing but to be somebody; a forge of the 20 operations has no shorter way to ask.
      if (access.offers('getSelf')) await access.client.getSelf({});
      else await access.client.listMyJobs({ limit: 1 });
      return 'accepted';
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.facts.status === 401) return 'refused';
      // It knows us, and says that we may not ask this.
      return error.kind === 'refused' ? 'accepted' : 'unclear';
    }
  }

  private of(forge: string, org: string | null): State {
    const credential = this.credentialOf(forge, org);
    const existing = this.states.get(credential);
    if (existing) return existing;
    const state: State = {
      credential,
      forge,
      org,
      heldUntilMs: 0,
      telling: Promise.resolve(),
      silences: 0,
      openUntilMs: 0,
      pauseMs: FIRST_PAUSE_MS,
      isLockedOut: false,
      nextProbeMs: 0,
      probeMs: FIRST_PROBE_MS,
      probing: null,
    };
    this.states.set(credential, state);
    return state;
  }
}

const silent = (credential: string): Reason => intentReason('intent.forge-silent', { credential, calls: SILENCES });
const refused = (credential: string): Reason => intentReason('intent.forge-refuses', { credential });

/** Our own doing says nothing about the forge. */
const OURS = new Set(['stopped', 'stood-still', 'argument', 'paused', 'organization']);

/** The forge did not answer at all, or what stands before it answered in its place. */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof ForgeError) || OURS.has(error.facts.detail ?? '')) return false;
  if (error.kind === 'not-sent') return true;
  return error.kind === 'unknown' && (error.facts.status === undefined || error.facts.status >= 502);
}
