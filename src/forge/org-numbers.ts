import { Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../config/app-config.js';
import { orgLabels, orgNames } from '../config/live-config.js';
import { freshKey } from '../config/org-keys.js';
import { alert, Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { ForgeError, messageOf } from '../core/errors.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { KnownOrgs, ORG_FACTS, type KnownOrg } from '../core/known-orgs.port.js';
import { Logger } from '../core/logger.js';
import { WRITE_TRUST_MS } from '../core/repository-owner.js';
import { type ForgeClient, isRefused, listAll, orNull, wrapForgeClient } from './forge-client.js';
import { isWrite, operationOf, type OperationName } from './operations.js';
import { failedCall } from './failed-call.js';

/** What the forge says of the organization that has a name of the config now. */
export interface OrgLook {
  /** The number of the organization that the bot works for; null = the forge never told one. */
  readonly pinned: string | null;
  /**
   * `ours` it has that number; `renamed` ours has another name; `other` another organization has the name; `known` the bot works, or worked, for it under
   * another name; `untold` the forge does not say.
   */
  readonly is: 'ours' | 'renamed' | 'other' | 'known' | 'untold';
  /** The number of the organization that has the name; null where the forge does not say. */
  readonly number: string | null;
  /** The name that ours has now, where the forge says so and it is another one. */
  readonly calledNow: string | null;
}

/** What became of the wish to work for the organization that has the name now. */
export interface OrgAcceptance {
  readonly look: OrgLook;
  /** The number that was to be accepted: the one asked for, else the one that the alert named. Null = the organization was not stopped for another one. */
  readonly wanted: string | null;
  readonly isAccepted: boolean;
}

/** A forge under the credentials of an organization, without the guard. */
interface Server {
  readonly client: ForgeClient;
  offers(name: OperationName): boolean;
}

/** A number is kept under the key of the organization. */
const NUMBER = ORG_FACTS.number;
/** The number of the other organization for which it was stopped, which the alert names; null = it is not stopped for another one. */
const OTHER_NUMBER = 'org.other-number';
/** A read names the organization in its path, so an old answer reaches no other owner for long. */
const READ_TRUST_MS = 5 * 60_000;
/** Between two looks at an organization that is stopped. */
const STOPPED_LOOK_MS = 10_000;
/** The same, where an answer makes it likely that the name is another one now. */
const SUSPECT_LOOK_MS = 1_000;
/** Another process may have pinned or accepted a number. */
const PIN_FRESH_MS = 5_000;
/** Enough that one of them is about a repository that the organization still has. */
const FEED_ROWS = 50;
/** Fields of a call that may name the organization. */
const NAMES_ORG: ReadonlySet<string> = new Set(['org', 'owner']);
/** Of `ForgeError.facts.detail`: the call was not made because the organization is stopped. */
const STOPPED = 'organization';

interface State {
  readonly forge: string;
  /** Its key. */
  readonly org: string;
  /** As it is kept; undefined = it was not read yet. */
  calledNow?: string | null;
  pin: { readonly number: string | null; readonly atMs: number } | null;
  /** When the forge last named the pinned number, or named none. */
  confirmedAtMs: number;
  lookedAtMs: number;
  /** Null = the bot may work for it. */
  stopped: OrgLook | null;
  /** The forge named no number: neither the organization's, nor that of an owner in its feed. */
  isUntold: boolean;
  looking: Promise<OrgLook> | null;
}

/**
 * Organizations are known by their number: a name changes hands (a rename or a deletion frees it, and anybody may register it). The number is pinned
 * when the forge first tells it. Where the forge names another one, the bot makes no further call on behalf of the organization until the owner of
 * the host accepts it. Only answers of the forge count, never a delivery.
 */
@Injectable()
export class OrgNumbers {
  private readonly states = new Map<string, State>();
  private readonly listeners: Array<() => Promise<unknown>> = [];
  private readonly labelOf: (org: string) => string;
  /** What the forge calls an organization now, by its key. */
  readonly nameOf: (org: string) => string;

  constructor(
    private readonly config: AppConfig,
    private readonly store: KnownOrgs,
    private readonly facts: KnownFacts,
    private readonly clock: Clock,
    private readonly alerts: Alerts,
    private readonly logger: Logger,
  ) {
    this.nameOf = orgNames(config);
    this.labelOf = orgLabels(config);
  }

  /** Call back when an organization of the config belongs under another key: the config must be followed anew. */
  onRekeyed(listener: () => Promise<unknown>): void {
    this.listeners.push(listener);
  }

  /**
   * Ask the forges about names that are new, where an organization of the same forge left the config: it may be the same one under a new name.
   * @returns whether one is, and the organizations belong under other keys
   */
  async recognize(
    orgs: ReadonlyArray<Pick<OrgConfig, 'forge' | 'key' | 'name'>>,
    serverOf: (org: { readonly forge: string; readonly key: string }) => Server | null,
  ): Promise<boolean> {
    const inStore = await this.store.all();
    const keys = new Set(orgs.map(({ key }) => key));
    const absentOrgs = inStore.filter(({ key, number }) => number !== null && !keys.has(key));
    let isAnyOther = false;
    for (const { forge, key, name } of absentOrgs.length === 0 ? [] : orgs) {
      const isNew = inStore.every((one) => one.key !== key || one.number === null);
      const server = isNew && absentOrgs.some((one) => one.forge === forge) ? serverOf({ forge, key }) : null;
      // A forge that cannot be asked is asked at the first contact.
      const answer = server && (await tell(server, name).catch(() => null));
      const before =
        answer?.is === 'there'
          ? absentOrgs.find((one) => one.forge === forge && one.number === answer.number)
          : undefined;
      if (!before) continue;
      await this.rename(before, key, name);
      isAnyOther = true;
    }
    if (isAnyOther) void this.rekeyed();
    return isAnyOther;
  }

  /** The pinned number; null = the forge never told one. */
  async pinned(forge: string, org: string): Promise<string | null> {
    return this.pinOf(this.stateOf(forge, org));
  }

  /** The same without a question to the store; undefined = it must be asked. */
  pinnedAtHand(forge: string, org: string): string | null | undefined {
    const { pin } = this.stateOf(forge, org);
    return pin && this.clock.monotonicMs() - pin.atMs < PIN_FRESH_MS ? pin.number : undefined;
  }

  /** The client of an organization: its calls pass while the name belongs to the pinned number, and its answers are checked for it. */
  guard(forge: string, org: string, server: Server): ForgeClient {
    const state = this.stateOf(forge, org);
    return wrapForgeClient(server.client, async (name, next, byKey, options) => {
      const args = this.named(org, byKey);
      if (!concernsOrg(name)) return next(args, options);
      await this.admit(state, server, name);
      const answer = await next(args, options).catch(async (error: unknown) => {
        throw (await this.stopBehind(state, server, name, error)) ?? error;
      });
      await this.check(state, server, name, answer);
      return answer;
    });
  }

  /**
   * Ask the forge now.
   * @throws ForgeError while it cannot be asked
   */
  async look(forge: string, org: string, server: Server): Promise<OrgLook> {
    const state = this.stateOf(forge, org);
    const look = await this.ask(state, server);
    await this.conclude(state, look);
    return look;
  }

  /** Whether the forge says that the organization has another name now; false while it cannot be asked. */
  async isRenamed(forge: string, org: string, server: Server): Promise<boolean> {
    const lastLook = this.stateOf(forge, org).stopped;
    const look = lastLook ?? (await this.look(forge, org, server).catch(() => null));
    return look?.is === 'renamed';
  }

  /**
   * Work for the organization that has the name now, if it has the number that was meant: the name may have changed hands once more.
   * @param number Default: the one for which the organization was stopped, which the alert named
   * @throws ForgeError while the forge cannot be asked
   */
  async accept(forge: string, org: string, server: Server, number?: string): Promise<OrgAcceptance> {
    const state = this.stateOf(forge, org);
    // Before the look, which records what it finds: nobody was told of that yet.
    const wanted = number ?? (await this.otherNumberOf(state));
    const look = await this.look(forge, org, server);
    if (look.is !== 'other' || look.number === null || look.number !== wanted)
      return { look, wanted, isAccepted: false };
    await this.facts.write(forge, org, OTHER_NUMBER, null);
    const inStore = await this.store.all();
    const name = this.nameOf(org);
    // What is kept of the organization before is not for this one: it gets a key of its own, or the one that it had before.
    const key =
      inStore.find((one) => one.forge === forge && one.number === wanted)?.key ??
      freshKey({ forge, name }, new Set(inStore.map((one) => one.key.toLowerCase())), false);
    await this.store.keep({ forge, key: org, name: null });
    await this.store.keep({ forge, key, name, calledNow: null, number: wanted });
    this.logger.info({ forge, org: key, number: wanted }, 'org.pinned');
    await this.rekeyed();
    return { look, wanted, isAccepted: true };
  }

  /** @throws ForgeError where the organization is stopped */
  private async admit(state: State, server: Server, name: OperationName): Promise<void> {
    const now = this.clock.monotonicMs();
    if (state.stopped && now - state.lookedAtMs < STOPPED_LOOK_MS)
      throw stoppedError(this.labelOf(state.org), state.stopped, name);
    const pinned = await this.pinOf(state);
    const isFresh = now - state.confirmedAtMs < (isWrite(name) ? WRITE_TRUST_MS : READ_TRUST_MS);
    if (!state.stopped && (pinned === null ? state.isUntold && isFresh : isFresh || TELLS_OWNER.has(name))) return;
    try {
      state.looking ??= this.look(state.forge, state.org, server).finally(() => (state.looking = null));
      const look = await state.looking;
      if (isStop(look)) throw stoppedError(this.labelOf(state.org), look, name);
    } catch (error) {
      // A forge that cannot be asked tells the caller so by the read itself; nothing is written before it can.
      if (!(error instanceof ForgeError) || isOrgStopped(error) || isWrite(name)) throw error;
    }
  }

  /** A redirect, or a feed that is gone, may mean that the organization has another name now. */
  private async stopBehind(
    state: State,
    server: Server,
    name: OperationName,
    error: unknown,
  ): Promise<ForgeError | null> {
    const isSuspect =
      error instanceof ForgeError && (error.kind === 'moved' || (name === 'listOrgFeed' && isRefused(error, 404)));
    if (!isSuspect || this.clock.monotonicMs() - state.lookedAtMs < SUSPECT_LOOK_MS) return null;
    const look = await this.look(state.forge, state.org, server).catch(() => null);
    return look && isStop(look) ? stoppedError(this.labelOf(state.org), look, name) : null;
  }

  /** What the bot reads names the owner too. @throws ForgeError where that is another organization */
  private async check(state: State, server: Server, name: OperationName, answer: unknown): Promise<void> {
    const numbers = numbersOf(answer, this.nameOf(state.org));
    const [first] = numbers;
    if (first === undefined) return;
    let pinned = await this.pinOf(state);
    if (pinned === null && (name !== 'listOrgFeed' || !state.isUntold)) return;
    if (pinned === null) {
      const other = await this.otherKeyOf(state, first);
      if (other) await this.conclude(state, other);
      if (other) throw stoppedError(this.labelOf(state.org), other, name);
      pinned = await this.keep(state, first);
    }
    // Another process may have accepted the number meanwhile.
    if (numbers.some((number) => number !== pinned)) pinned = await this.pinOf(state, 0);
    const other = numbers.find((number) => number !== pinned);
    if (other === undefined) {
      state.confirmedAtMs = this.clock.monotonicMs();
      return;
    }
    const look = await otherOf(server, pinned, other);
    await this.conclude(state, look);
    throw stoppedError(this.labelOf(state.org), look, name);
  }

  private async ask(state: State, server: Server): Promise<OrgLook> {
    const answer = await tell(server, this.nameOf(state.org));
    const pinned = await this.pinOf(state, 0);
    if (answer.is === 'there') {
      if (pinned !== null && pinned !== answer.number) return otherOf(server, pinned, answer.number);
      const other = pinned === null ? await this.otherKeyOf(state, answer.number) : null;
      if (other) return other;
      if (pinned === null) await this.keep(state, answer.number);
      return { pinned: answer.number, is: 'ours', number: answer.number, calledNow: null };
    }
    const name = answer.is === 'moved' ? answer.name : answer.is === 'gone' ? await nameOf(server, pinned) : null;
    if (name === null) return { pinned, is: 'untold', number: null, calledNow: null };
    const there = await tell(server, name);
    const number = there.is === 'there' ? there.number : null;
    if (number !== null && pinned !== null && number !== pinned) return otherOf(server, pinned, number);
    return { pinned, is: 'renamed', number, calledNow: name };
  }

  private async conclude(state: State, look: OrgLook): Promise<void> {
    const { forge, org } = state;
    const { pinned, number, calledNow } = look;
    await this.recordOther(state, look);
    await this.recordName(state, look);
    state.lookedAtMs = this.clock.monotonicMs();
    state.isUntold = look.is === 'untold';
    state.stopped = isStop(look) ? look : null;
    if (!state.stopped) state.confirmedAtMs = state.lookedAtMs;
    // It left the config while it was looked at: nobody would resolve what is raised now.
    if (!this.config.orgs.some(({ key }) => key === org)) return;
    const [other, renamed, twice] = [
      `org.other-number/${forge}/${org}`,
      `org.renamed/${forge}/${org}`,
      `org.twice/${forge}/${org}`,
    ] as const;
    if (look.is === 'other')
      this.alerts.raise(other, alert('org.other-number', { org, number, pinned, calledNow }), {
        forge,
        org,
        number,
      });
    else this.alerts.resolve(other);
    if (look.is === 'renamed' && calledNow !== null)
      this.alerts.raise(renamed, alert('org.renamed', { org, calledNow }), { forge, org, number });
    else this.alerts.resolve(renamed);
    if (look.is === 'known' && calledNow !== null)
      this.alerts.raise(twice, alert('org.twice', { org, calledNow, number }), { forge, org, number });
    else this.alerts.resolve(twice);
  }

  /** The name that ours has now, as the forge says by its number: the config will call it so. */
  private async recordName(state: State, { is, pinned, number, calledNow }: OrgLook): Promise<void> {
    if (is === 'untold' || is === 'known' || pinned === null || (is === 'renamed' && number !== pinned)) return;
    if (state.calledNow === undefined) {
      const row = await this.facts.read(state.forge, state.org, ORG_FACTS.calledNow);
      state.calledNow = typeof row?.fact === 'string' ? row.fact : null;
    }
    if (calledNow === state.calledNow) return;
    await this.store.keep({ forge: state.forge, key: state.org, calledNow });
    state.calledNow = calledNow;
  }

  /**
   * Before a number is pinned: where the store knows the organization of this number under another key, that is its own. It gets the name of the config,
   * unless the config has it under its old name as well.
   */
  private async otherKeyOf({ forge, org }: State, number: string): Promise<OrgLook | null> {
    const all = await this.store.all();
    const before = all.find((one) => one.forge === forge && one.number === number && one.key !== org);
    if (!before) return null;
    const twin = this.config.orgs.find(({ key }) => key === before.key);
    if (!twin) {
      await this.rename(before, org, this.nameOf(org));
      void this.rekeyed();
    }
    return { pinned: null, is: 'known', number, calledNow: twin?.label ?? null };
  }

  /** @param key under which it would be another organization */
  private async rename(
    { forge, key: ownKey }: Pick<KnownOrg, 'forge' | 'key'>,
    key: string,
    name: string,
  ): Promise<void> {
    await this.store.keep({ forge, key, name: null });
    await this.store.keep({ forge, key: ownKey, name, calledNow: null });
    this.logger.info({ forge, org: ownKey, name }, 'org.recognized');
  }

  private async rekeyed(): Promise<void> {
    for (const listener of this.listeners)
      await listener().catch((error: unknown) => this.logger.warn({ error: messageOf(error) }, 'orgs.not-followed'));
  }

  /** Whoever calls on behalf of an organization names it by its key, the forge by its name. */
  private named<Args extends object>(org: string, args: Args): Args {
    const name = this.nameOf(org);
    if (name === org) return args;
    const isKey = ([field, value]: [string, unknown]): boolean => NAMES_ORG.has(field) && value === org;
    const fields = Object.entries(args).filter(isKey);
    return fields.length === 0 ? args : { ...args, ...Object.fromEntries(fields.map(([field]) => [field, name])) };
  }

  /** The first other number stays until ours is back: the owner of the host decides about the one that was told. */
  private async recordOther(state: State, { is, number }: OrgLook): Promise<void> {
    if (is === 'untold') return;
    const before = await this.otherNumberOf(state);
    const now = is === 'other' ? (before ?? number) : null;
    if (now !== before) await this.facts.write(state.forge, state.org, OTHER_NUMBER, now);
  }

  private async otherNumberOf({ forge, org }: State): Promise<string | null> {
    const row = await this.facts.read(forge, org, OTHER_NUMBER);
    return typeof row?.fact === 'string' ? row.fact : null;
  }

  private async pinOf(state: State, maxAgeMs = PIN_FRESH_MS): Promise<string | null> {
    const atMs = this.clock.monotonicMs();
    if (state.pin && atMs - state.pin.atMs < maxAgeMs) return state.pin.number;
    const row = await this.facts.read(state.forge, state.org, NUMBER);
    const number = typeof row?.fact === 'string' ? row.fact : null;
    state.pin = { number, atMs };
    return number;
  }

  private async keep(state: State, number: string): Promise<string> {
    const { forge, org } = state;
    await this.facts.write(forge, org, NUMBER, number);
    state.pin = { number, atMs: this.clock.monotonicMs() };
    this.logger.info({ forge, org, number }, 'org.pinned');
    return number;
  }

  private stateOf(forge: string, org: string): State {
    const key = JSON.stringify([forge, org]);
    const existing = this.states.get(key);
    if (existing) return existing;
    const never = Number.NEGATIVE_INFINITY;
    const state: State = {
      forge,
      org,
      pin: null,
      confirmedAtMs: never,
      lookedAtMs: never,
      stopped: null,
      isUntold: false,
      looking: null,
    };
    this.states.set(key, state);
    return state;
  }
}

/** Whether a call was not made because the organization is stopped. */
export function isOrgStopped(error: unknown): boolean {
  return error instanceof ForgeError && error.facts.detail === STOPPED;
}

function isStop({ is }: OrgLook): boolean {
  return is === 'other' || is === 'renamed' || is === 'known';
}

function stoppedError(org: string, { is, calledNow }: OrgLook, operation: OperationName): ForgeError {
  const facts = { operation, detail: STOPPED };
  return is === 'renamed'
    ? failedCall('not-sent', 'org-renamed', facts, { note: `${org} is called ${calledNow} now` })
    : failedCall('not-sent', 'org-other', facts, { note: org });
}

/** Reads whose answer names the owner: they need no look before them. */
const TELLS_OWNER: ReadonlySet<OperationName> = new Set(['listOrgFeed', 'getRepo', 'getRepoById']);

/** Reads about the bot's own account and about the server name no organization. */
function concernsOrg(name: OperationName): boolean {
  return isWrite(name) || TELLS_OWNER.has(name) || /\{(?:org|owner)\}/.test(operationOf(name).path);
}

type Told =
  | { readonly is: 'there'; readonly number: string }
  | { readonly is: 'moved'; readonly name: string }
  | { readonly is: 'gone' | 'untold' };

/** The organization says its number; where the forge does not offer that, the owner in rows of its feed. @throws ForgeError while it cannot be asked */
async function tell({ client, offers }: Server, org: string): Promise<Told> {
  try {
    if (offers('getOrg')) {
      const { id } = await client.getOrg({ org });
      return id ? { is: 'there', number: id } : { is: 'untold' };
    }
    const [number] = numbersOf(await client.listOrgFeed({ org, page: 1, limit: FEED_ROWS }), org);
    return number === undefined ? { is: 'untold' } : { is: 'there', number };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const name = error.kind === 'moved' ? orgIn(error.facts.location) : null;
    if (name !== null) return { is: 'moved', name };
    if (error.kind === 'moved' || error.kind === 'not-offered') return { is: 'untold' };
    if (isRefused(error, 404)) return { is: 'gone' };
    if (isRefused(error, 403)) return { is: 'untold' };
    throw error;
  }
}

/** The name in the path that a redirect names. */
function orgIn(location: string | undefined): string | null {
  const name = /\/orgs\/([^/?#]+)/.exec(location ?? '')?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

async function otherOf(server: Server, pinned: string | null, number: string): Promise<OrgLook> {
  return { pinned, is: 'other', number, calledNow: await nameOf(server, pinned).catch(() => null) };
}

/** What the organization of this number is called, as far as the bot is a member of it. */
async function nameOf({ client, offers }: Server, number: string | null): Promise<string | null> {
  if (number === null || !offers('listMyOrgs')) return null;
  const mine = await orNull(listAll(client, 'listMyOrgs', {}));
  const org = mine?.find(({ id }) => id === number);
  return org?.name ?? org?.username ?? null;
}

/** Numbers that an answer gives to the owner of this name: of an organization, of repositories, or of what happened in them. */
function numbersOf(answer: unknown, org: string): string[] {
  const rows: unknown[] = Array.isArray(answer) ? answer : [answer];
  return rows.flatMap((row) => {
    const { owner, repo } = fieldsOf(row);
    return [row, owner, fieldsOf(repo)['owner']].flatMap((one) => {
      const { id, login, username } = fieldsOf(one);
      const name = login ?? username;
      const isIt = typeof id === 'string' && typeof name === 'string' && name.toLowerCase() === org.toLowerCase();
      return isIt ? [id] : [];
    });
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
