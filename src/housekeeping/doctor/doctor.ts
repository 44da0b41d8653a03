import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { AppConfig, isPlainHttp } from '../../config/app-config.js';
import { credentialsOf } from '../../config/credentials.js';
import { ThisProcess } from '../../config/this-process.js';
import { TrustedProxies } from '../../platform/client-address.js';
import { Metrics } from '../../observability/metrics.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import { RuleVerdicts } from '../../rules/sources/rule-verdicts.js';
import { UserError, ForgeError } from '../../core/errors.js';
import { EVENT_KINDS } from '../../core/event-kinds.js';
import type { Secret } from '../../core/secret.js';
import { ConnectedForges, isLostSlash } from '../../forge/connected-forges.js';
import { type ForgeClient, listAll, orNull } from '../../forge/forge-client.js';
import { OrgNumbers } from '../../forge/org-numbers.js';
import { operationOf, type OperationName } from '../../forge/operations.js';
import { isScopeRefusal, NOBODY } from '../../forge/probe.js';
import type { Hook } from '../../core/objects/repositories.js';
import { neededScopes, wantedScopes } from '../../forge/scopes.js';
import { GapStore } from '../../pipeline/gap-store.port.js';
import { ownHookOf, HookHistory } from '../../polling/gaps/hook-history.js';
import { UntrustedProxyStore } from '../../webhooks/untrusted-proxies.port.js';
import { comparedEvents, hookEventsOf, type HookProduct } from '../../rules/language/hook-events.js';
import { literalNames } from '../../rules/language/literal-names.js';
import { ALWAYS, CapabilityCheck } from '../../rules/requirements/capability-check.js';
import { readsOf } from '../../rules/requirements/unknown-names.js';
import { type ServerAccess, ServerAccessReader } from '../../forge/server-access.js';
import { isFinding, note, webPages, type Check, type DoctorReport, type CheckResult } from './check.js';
import { examineDeliveries, examineProxies } from './examine-deliveries.js';
import { examineHook, ownHooks, unseenHooks, type HooksUnseen, type WantedHook } from './examine-hook.js';
import { examineServer, examineSlashes } from './examine-server.js';
import { examineNames } from './examine-names.js';
import { examineReach, examineToken } from './examine-token.js';
import { saw } from './looks.js';
import { installHook, type HookReport } from './install-hook.js';
import type { HookOrders } from './plan-hook.js';
import { examineIdentity, examineRules, wantedEvents } from './examine-org.js';

/** A forge under one of its credentials. */
interface DoctoredForge {
  readonly id: string;
  /** The organization whose own credentials these are; null = those of the forge. */
  readonly org: string | null;
  readonly credential: string;
  readonly baseUrl: string;
  readonly signsInBy: 'token' | 'password';
}

interface DoctoredOrg {
  readonly forge: string;
  readonly org: string;
  readonly hooks: ReadonlyArray<{
    readonly id: string;
    readonly secrets: readonly Secret[];
    readonly authorizations: readonly Secret[];
  }>;
  /** The rules come from a repository: the bot itself needs push events. */
  readonly rulesInRepository: boolean;
}

/** What is looked at. */
export interface DoctorScope {
  readonly org?: string | undefined;
  readonly forge?: string | undefined;
  /** Look at this part alone, and make only the calls that it needs. Absent = look at everything. */
  readonly only?: 'hook' | 'token' | undefined;
}

interface InstallOrders extends HookOrders {
  readonly dryRun: boolean;
  /** Subscribe to every event that rules can use, not only to those that the active rules use. */
  readonly allEvents: boolean;
}

interface Reached {
  /** Null = it was. */
  readonly failure: string | null;
  readonly kept: Awaited<ReturnType<ServerAccessReader['of']>>;
}

/** How long an order waits for rules that are being loaded. */
const RULES_WITHIN_MS = 15_000;
const NOT_YET = 'it was not reached yet';
const DAY_MS = 86_400_000;
const GAPS_SEEN = 500;
/** What looking needs of the token, beside what the rules need. */
const LOOKING: readonly OperationName[] = ['listOrgHooks', 'listTokens'];
/** Operations that read the rules repository and set the commit status. */
const FROM_REPOSITORY: readonly OperationName[] = ['getRepo', 'getBranch', 'getContents', 'createStatus'];

/** Diagnoses problems between forge and bot, with the fix for each. Makes no change. */
@Injectable()
export class Doctor {
  private readonly forges: readonly DoctoredForge[];
  private readonly orgs: readonly DoctoredOrg[];
  private readonly trusted: TrustedProxies;

  constructor(
    private readonly config: AppConfig,
    private readonly self: ThisProcess,
    private readonly connected: ConnectedForges,
    private readonly numbers: OrgNumbers,
    private readonly revisions: RevisionKeeper,
    private readonly verdicts: RuleVerdicts,
    private readonly offers: CapabilityCheck,
    private readonly access: ServerAccessReader,
    private readonly gaps: GapStore,
    private readonly history: HookHistory,
    private readonly untrusted: UntrustedProxyStore,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.trusted = new TrustedProxies(config.server.trustedProxies);
    this.forges = credentialsOf(config).map(({ forge, org, credential, auth }) => ({
      id: forge.id,
      org,
      credential,
      baseUrl: forge.baseUrl,
      signsInBy: auth.type === 'token' ? 'token' : 'password',
    }));
    this.orgs = config.orgs.map(({ name, forge, hooks, rules }) => ({
      org: name,
      forge,
      hooks,
      rulesInRepository: rules.repository !== null,
    }));
  }

  /**
   * @param scope one organization and its forge, or one forge and its organizations; all when it names neither
   * @param operations ask about every operation of the table too
   */
  async examine({ only, ...scope }: DoctorScope, operations: boolean): Promise<DoctorReport> {
    if (only === undefined) await this.offers.check();
    const orgs = this.orgs.filter(({ org, forge }) => org === (scope.org ?? org) && forge === (scope.forge ?? forge));
    const usedBy = ({ id, credential }: DoctoredForge, among: readonly DoctoredOrg[]): DoctoredOrg[] =>
      among.filter(({ forge, org }) => forge === id && this.connected.get(forge, org)?.credential === credential);
    const forges = this.forges.filter((forge) => usedBy(forge, orgs).length > 0);
    const checks: Check[] = [];
    const learned: Array<DoctorReport['forges'][number]> = [];
    for (const forge of forges) {
      const { failure, kept } = only === 'hook' ? this.reachedBefore(forge) : await this.reach(forge, operations);
      const isReached = failure === null;
      const own = usedBy(forge, orgs);
      const add = (org: string | null, looked: readonly CheckResult[]): void =>
        void checks.push(...looked.map((one) => ({ ...one, forge: forge.id, org })));
      if (only !== 'hook') add(forge.org, examineServer(kept?.footing ?? null, failure, forge.baseUrl));
      if (isReached && only === undefined) add(forge.org, examineSlashes(await this.losesSlashes(forge)));
      if (isReached && only !== 'hook') add(forge.org, await this.token(forge, own, kept?.footing ?? null));
      if (only !== 'hook') add(forge.org, examineReach(await this.reachOf(forge, usedBy(forge, this.orgs)), forge.org));
      for (const org of own) {
        if (only === undefined && isReached) add(org.org, await this.identity(org));
        if (only === undefined) add(org.org, await this.rules(org, forge));
        if (only === undefined && isReached) add(org.org, await this.names(org));
        if (only !== 'token') add(org.org, await this.hook(org, forge, isReached));
      }
      if (kept) learned.push({ id: forge.credential, learnedAt: kept.learnedAt, ...kept.footing });
    }
    const [first] = forges;
    if (only === undefined && first)
      checks.push(
        ...[...(await this.proxies()), ...this.console()].map((one) => ({ ...one, forge: first.id, org: null })),
      );
    return { findings: checks.filter(isFinding).length, checks, forges: learned };
  }

  /**
   * Make or repair the webhook of an organization. Waits for its rules: they say which events the webhook asks for.
   * @throws UserError when the config does not say enough, or the forge is not reached
   */
  async installHook(name: string, { allEvents, ...orders }: InstallOrders): Promise<HookReport> {
    const org = this.orgs.find((one) => one.org === name);
    const loaded = org && !allEvents ? await this.revisions.loaded(name, RULES_WITHIN_MS) : null;
    const access = org && this.connected.get(org.forge, org.org);
    if (!org || !access) throw new UserError('NO_SUCH_ORG', `the config has no organization ${name}`);
    if (!access.capabilities)
      throw new UserError('FORGE_AWAY', `forge ${org.forge} cannot be reached: run forgehand doctor to see why`);
    const { capabilities, client } = access;
    const [hook] = org.hooks;
    const wanted = await this.wanted(org, capabilities.product);
    if (!hook || !wanted)
      throw new UserError(
        'NO_HOOK',
        `the config has no webhook for ${name}: add orgs[].hooks: [{ id: ${name}, secret: { env: … } }]`,
      );
    if (wanted.url === null)
      throw new UserError(
        'NO_ADDRESS',
        'the bot does not know its public address: set server.public_url in the config',
      );
    if (!allEvents && loaded === null)
      throw new UserError(
        'NO_RULES',
        `no rules of ${name} are active, so the bot does not know which events the webhook needs: run forgehand check to see why, or give --all-events`,
      );
    const all = [...new Set(EVENT_KINDS.flatMap((kind) => hookEventsOf(kind, capabilities.product)))].sort();
    const events = allEvents ? all : [...new Set([...wanted.events, ...comparedEvents(capabilities.product)])].sort();
    const wish = {
      ...wanted,
      url: wanted.url,
      events,
      secret: hook.secrets[0] ?? null,
      authorization: hook.authorizations[0] ?? null,
    };
    if (!orders.dryRun) await this.noteHooks(org, client, wish);
    const report = await installHook(client, name, wish, capabilities, { ...orders, all });
    if (report.written) {
      await this.noteHooks(org, client, wish);
      // Rules that no webhook served are served from now on.
      await this.offers.check();
    }
    return report;
  }

  /** What did not arrive is judged by the webhook as it was. Where it cannot be read, the installation says so. */
  private async noteHooks({ forge, org }: DoctoredOrg, client: ForgeClient, wanted: WantedHook): Promise<void> {
    const hooks = await listAll(client, 'listOrgHooks', { org }).catch(() => []);
    await this.history.note(forge, org, ownHooks(hooks, wanted).map(ownHookOf));
  }

  private console(): CheckResult[] {
    const { console } = this.config;
    return console.enabled && isPlainHttp(console) ? [note(saw('console.sessions.short'))] : [];
  }

  /** Requests refused at an endpoint since the start, by the word of the answer; null in a process without one. */
  private async refused(hook: string): Promise<Readonly<Record<string, number>> | null> {
    const { role } = this.self;
    return role === 'web' || role === 'all' ? this.metrics.refusedAt(hook) : null;
  }

  private async proxies(): Promise<CheckResult[]> {
    const since = new Date(this.clock.now().getTime() - DAY_MS);
    return examineProxies(await this.untrusted.seenSince(since), (address) => this.trusted.trusts(address));
  }

  /** As far as it is known: the call that follows finds out whether it is so now. */
  private reachedBefore({ id, org }: DoctoredForge): Reached {
    const access = this.connected.get(id, org);
    return { failure: access?.capabilities ? access.failure : (access?.failure ?? NOT_YET), kept: null };
  }

  private async reach({ id, org, credential }: DoctoredForge, operations: boolean): Promise<Reached> {
    const access = this.connected.get(id, org);
    let failure = access?.failure ?? null;
    if (access?.capabilities) {
      try {
        await this.access.learn(credential, access.client, access.capabilities, true);
        await this.access.keep(credential, {});
        if (operations) await this.offers.askAll(id, org);
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        failure = error.message;
      }
    } else failure ??= NOT_YET;
    return { failure, kept: await this.access.of(credential) };
  }

  /** Asks about a branch with a slash of somebody who cannot be there: a forge says so as JSON. */
  private async losesSlashes({ id, org }: DoctoredForge): Promise<boolean | null> {
    const client = this.connected.get(id, org)?.client;
    if (!client) return null;
    try {
      await client.getBranch({ owner: NOBODY, repo: NOBODY, branch: 'a/b' });
      return false;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return isLostSlash(error) || (error.kind === 'refused' ? false : null);
    }
  }

  /** Organizations of the config that these credentials reach: those that use them, and those that their account is a member of. */
  private async reachOf({ id, org }: DoctoredForge, users: readonly DoctoredOrg[]): Promise<string[]> {
    const here = this.orgs.filter(({ forge }) => forge === id);
    // With one organization there is nothing to compare.
    if (here.length < 2) return here.map((one) => one.org);
    const access = this.connected.get(id, org);
    const listed = access?.capabilities?.offers('listMyOrgs')
      ? await orNull(listAll(access.client, 'listMyOrgs', {})).catch(() => null)
      : null;
    const names = new Set((listed ?? []).map(({ name, username }) => (name ?? username ?? '').toLowerCase()));
    return here.filter((one) => users.includes(one) || names.has(one.org.toLowerCase())).map((one) => one.org);
  }

  private async token(
    { id, org, credential, baseUrl, signsInBy }: DoctoredForge,
    orgs: readonly DoctoredOrg[],
    footing: ServerAccess | null,
  ): Promise<CheckResult[]> {
    const access = this.connected.get(id, org);
    if (!access?.capabilities) return [];
    const needed: OperationName[] = [...ALWAYS, ...LOOKING];
    for (const user of orgs) {
      const active = await this.revisions.active(user.org);
      needed.push(
        ...(active ? this.offers.needed(active.revision) : []),
        ...(active ? readsOf(literalNames(active.revision.rules, active.revision.policies, user.org)) : []),
        ...(user.rulesInRepository ? FROM_REPOSITORY : []),
      );
    }
    const tokens = await this.access.tokens(credential, access.client, access.capabilities).catch(() => null);
    const facts = {
      signsInBy,
      scopes: footing?.scopes ?? null,
      needed: neededScopes(needed),
      useful: wantedScopes(needed),
      tokens,
      login: footing?.self?.login ?? null,
      isSiteAdmin: footing?.isSiteAdmin ?? null,
      needsSiteAdmin: needed.some((name) => operationOf(name).scope === 'admin'),
    };
    return examineToken(facts, this.clock.now(), webPages(baseUrl).tokens);
  }

  private async identity({ forge, org }: DoctoredOrg): Promise<CheckResult[]> {
    const server = this.connected.unguarded(forge, org);
    const look = server?.capabilities ? await this.numbers.look(forge, org, server).catch(() => null) : null;
    return look ? [examineIdentity(org, look)] : [];
  }

  private async rules({ org }: DoctoredOrg, { id: forge, baseUrl }: DoctoredForge): Promise<CheckResult[]> {
    const { revisions, verdicts, offers } = this;
    const facts = {
      active: await revisions.active(org),
      verdict: await verdicts.of(forge, org),
      heldBack: revisions.heldBack(org),
      held: offers.held(org),
      lacking: offers.lacking(org),
    };
    return examineRules(org, facts, webPages(baseUrl).teams(org));
  }

  /** Whether the forge has what the rules name literally. */
  private async names({ forge, org }: DoctoredOrg): Promise<CheckResult[]> {
    const active = await this.revisions.active(org);
    const client = this.connected.get(forge, org)?.client;
    if (!active || !client) return [];
    return examineNames(client, org, literalNames(active.revision.rules, active.revision.policies, org));
  }

  private async hook(
    org: DoctoredOrg,
    { id: forge, baseUrl }: DoctoredForge,
    isReached: boolean,
  ): Promise<CheckResult[]> {
    const page = webPages(baseUrl).hooks(org.org);
    const product = (isReached ? this.connected.get(forge, org.org)?.capabilities?.product : null) ?? 'unknown';
    const version = this.connected.get(forge, org.org)?.capabilities?.version ?? null;
    const wanted = await this.wanted(org, product);
    if (!wanted)
      return [note(saw('hook.there.unconfigured', { org: org.org }), 'say orgs[].hooks in the config of the bot')];
    const read = isReached ? await this.readHooks(forge, org.org) : { why: 'unreadable' as const };
    const install = `forgehand hook install --org ${org.org}`;
    const looked =
      'why' in read
        ? [unseenHooks(read.why, org.org, page, webPages(baseUrl).teams(org.org))]
        : examineHook(read.hooks, wanted, { product, version }, page, install);
    const lastDelivery = await this.gaps.lastDelivery(forge, org.org);
    const facts = {
      url: wanted.url,
      isSent: 'why' in read ? null : ownHooks(read.hooks, wanted).some(({ active }) => active === true),
      lastDelivery,
      lostLately: await this.lostSince(org.org, lastDelivery),
      refused: await this.refused(wanted.id),
    };
    return [...looked, ...examineDeliveries(facts, { product, version }, page, `${install} --recreate`)];
  }

  /** Facts of the last day that a webhook of ours should have told, found after the last delivery that came. */
  private async lostSince(org: string, lastDelivery: Date | null): Promise<number> {
    const since = Math.max(this.clock.now().getTime() - DAY_MS, lastDelivery?.getTime() ?? 0);
    const gaps = await this.gaps.gaps({ org, limit: GAPS_SEEN });
    return gaps.filter((gap) => gap.class === 'unknown' && gap.outcome !== 'late' && gap.foundAt.getTime() > since)
      .length;
  }

  private async wanted(
    { org, hooks, rulesInRepository }: DoctoredOrg,
    product: HookProduct,
  ): Promise<WantedHook | null> {
    const [hook] = hooks;
    if (!hook) return null;
    const active = await this.revisions.active(org);
    return {
      id: hook.id,
      url:
        this.config.server.publicUrl === null
          ? null
          : `${this.config.server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}`,
      events: active ? wantedEvents(active.revision, rulesInRepository, product) : [],
      authorizations: hook.authorizations.map((secret) => secret.reveal()),
    };
  }

  private async readHooks(forge: string, org: string): Promise<{ hooks: readonly Hook[] } | { why: HooksUnseen }> {
    const access = this.connected.get(forge, org);
    if (!access?.capabilities?.offers('listOrgHooks')) return { why: 'not-offered' };
    try {
      return { hooks: await listAll(access.client, 'listOrgHooks', { org }) };
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.kind === 'not-offered') return { why: 'not-offered' };
      if (error.facts.status !== 403) return { why: 'unreadable' };
      if (/disabled/i.test(error.facts.forgeMessage ?? '')) return { why: 'switched-off' };
      return { why: isScopeRefusal(error) ? 'scope' : 'not-owner' };
    }
  }
}
