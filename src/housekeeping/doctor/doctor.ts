import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { AppConfig, isPlainHttp } from '../../config/app-config.js';
import { ThisProcess } from '../../config/this-process.js';
import { TrustedProxies } from '../../platform/client-address.js';
import { Metrics } from '../../observability/metrics.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import { RuleVerdicts } from '../../rules/sources/rule-verdicts.js';
import { UserError } from '../../core/errors.js';
import { EVENT_KINDS } from '../../core/event-kinds.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { type ForgeClient, listAll } from '../../forge/forge-client.js';
import { operationOf, type OperationName } from '../../forge/operations.js';
import { neededScopes, wantedScopes } from '../../forge/scopes.js';
import { type Arriving, GapStore } from '../../pipeline/gap-store.port.js';
import { ownHookOf, HookHistory } from '../../polling/gaps/hook-history.js';
import { UntrustedProxyStore } from '../../webhooks/untrusted-proxies.port.js';
import { comparedEvents, hookEventsOf, type HookProduct } from '../../rules/language/hook-events.js';
import { type LiteralName, literalNames } from '../../rules/language/literal-names.js';
import { ALWAYS, CapabilityCheck, ifAsked } from '../../rules/requirements/capability-check.js';
import { readsOf } from '../../rules/requirements/unknown-names.js';
import { type Known, type LookedAt, Looks, youngerThan } from '../../forge/looks.js';
import { OrgAccessReader, type OrgAtForge } from '../../forge/org-access.js';
import { type FeedPeriod, PollPeriods } from '../../forge/poll-periods.js';
import { type ReachedForge, ServerAccessReader } from '../../forge/server-access.js';
import { NIGHTLY, NOW } from '../../rules/requirements/what-to-ask.js';
import { isFinding, note, webPages, type Check, type DoctorReport, type CheckResult } from './check.js';
import { examineDeliveries, examineProxies } from './examine-deliveries.js';
import { examineHook, ownHooks, unseenHooks, type WantedHook } from './examine-hook.js';
import { doctoredForges, doctoredOrgs, type DoctoredForge, type DoctoredOrg } from './doctored.js';
import { examinePolls, examineServer, examineSlashes } from './examine-server.js';
import { examineNames, lookAtNames, type SeenNames } from './examine-names.js';
import { type AgedResult, withAge } from './with-age.js';
import { examineReach, examineToken } from './examine-token.js';
import { saw } from './looks.js';
import { installHook, type HookReport } from './install-hook.js';
import type { HookOrders } from './plan-hook.js';
import { examineIdentity, examineRules, wantedEvents } from './examine-org.js';

/** What is looked at. */
export interface DoctorScope {
  readonly org?: string | undefined;
  readonly forge?: string | undefined;
  /** Look at this part now, with only the calls that it needs, and tell of it alone. Absent = tell of everything. */
  readonly only?: 'hook' | 'rules' | 'server' | 'token' | undefined;
  /** Look at everything in the scope before. Default: answer from what is known, which audits and the start of the bot look at. */
  readonly isFresh?: boolean | undefined;
}

interface InstallOrders extends HookOrders {
  readonly dryRun: boolean;
  /** Subscribe to every event that rules can use, not only to those that the active rules use. */
  readonly allEvents: boolean;
}

/** How long an order waits for rules that are being loaded. */
const RULES_WITHIN_MS = 15_000;
const NOT_YET = 'it was not reached yet';
const DAY_MS = 86_400_000;
/** What looking needs of the token, beside what the rules need. */
const LOOKING: readonly OperationName[] = ['listOrgHooks', 'listTokens'];
/** Operations that read the rules repository and set the commit status. */
const FROM_REPOSITORY: readonly OperationName[] = ['getRepo', 'getBranch', 'getContents', 'createStatus'];

/** Diagnoses problems between forge and bot, with the fix for each. Makes no change. */
@Injectable()
export class Doctor {
  private readonly forges: () => readonly DoctoredForge[];
  private readonly orgs: () => readonly DoctoredOrg[];
  private readonly trusted: TrustedProxies;

  constructor(
    private readonly config: AppConfig,
    private readonly self: ThisProcess,
    private readonly connected: ConnectedForges,
    private readonly revisions: RevisionKeeper,
    private readonly verdicts: RuleVerdicts,
    private readonly offers: CapabilityCheck,
    private readonly access: ServerAccessReader,
    private readonly orgAccess: OrgAccessReader,
    private readonly looks: Looks,
    private readonly periods: PollPeriods,
    private readonly gaps: GapStore,
    private readonly history: HookHistory,
    private readonly untrusted: UntrustedProxyStore,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.trusted = new TrustedProxies(config.server.trustedProxies);
    this.forges = doctoredForges(config);
    this.orgs = doctoredOrgs(config);
  }

  /**
   * Answers from what is known, once it has looked at what it is told to look at.
   * @param scope one organization and its forge, or one forge and its organizations; all when it names neither
   * @param operations ask about every operation of the table too
   */
  async examine({ only, isFresh = false, ...scope }: DoctorScope, operations: boolean): Promise<DoctorReport> {
    const orgs = this.orgs().filter(({ org, forge }) => org === (scope.org ?? org) && forge === (scope.forge ?? forge));
    const forges = this.forges().filter((forge) => this.usersOf(forge, orgs).length > 0);
    for (const forge of forges) {
      if (isFresh || only !== undefined) await this.look(forge, this.usersOf(forge, orgs), only);
      const reached = operations && this.reached(forge);
      if (reached) await this.offers.askAll(reached);
    }
    return this.tell(forges, orgs, only);
  }

  /**
   * Make or repair the webhook of an organization. Waits for its rules: they say which events the webhook asks for.
   * @throws UserError when the config does not say enough, or the forge is not reached
   */
  async installHook(name: string, { allEvents, ...orders }: InstallOrders): Promise<HookReport> {
    const org = this.orgs().find((one) => one.org === name);
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
        `the config has no webhook for ${org.label}: add orgs[].hooks: [{ id: ${org.name}, secret: { env: … } }]`,
      );
    if (wanted.url === null)
      throw new UserError(
        'NO_ADDRESS',
        'the bot does not know its public address: set server.public_url in the config',
      );
    if (!allEvents && loaded === null)
      throw new UserError(
        'NO_RULES',
        `no rules of ${org.label} are active, so the bot does not know which events the webhook needs: run forgehand check to see why, or give --all-events`,
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
    const report = await installHook(client, org.name, wish, capabilities, { ...orders, all });
    if (report.written) {
      await this.noteHooks(org, client, wish);
      // Rules that no webhook served are served from now on.
      await this.lookAtOrg(org, 'hook').catch(ifAsked);
    }
    return report;
  }

  /** What did not arrive is judged by the webhook as it was. Where it cannot be read, the installation says so. */
  private async noteHooks({ forge, org }: DoctoredOrg, client: ForgeClient, wanted: WantedHook): Promise<void> {
    const hooks = await listAll(client, 'listOrgHooks', { org }).catch(() => []);
    await this.history.note(forge, org, ownHooks(hooks, wanted).map(ownHookOf), this.clock.now());
  }

  private console(): CheckResult[] {
    const { console } = this.config;
    return console.enabled && isPlainHttp(console) ? [note(saw('console.sessions.short'))] : [];
  }

  /** Requests refused at an endpoint since the start, by the word of the answer; null in a process without one. */
  private refused(hook: string): Readonly<Record<string, number>> | null {
    const { role } = this.self;
    return role === 'web' || role === 'all' ? this.metrics.refusedAt(hook) : null;
  }

  private async proxies(): Promise<CheckResult[]> {
    const since = new Date(this.clock.now().getTime() - DAY_MS);
    return examineProxies(await this.untrusted.seenSince(since), (address) => this.trusted.trusts(address));
  }

  private usersOf({ id, credential }: DoctoredForge, among: readonly DoctoredOrg[]): DoctoredOrg[] {
    return among.filter(({ forge, org }) => forge === id && this.connected.get(forge, org)?.credential === credential);
  }

  /** Null while the forge was not reached. */
  private reached({ id, org }: DoctoredForge): (ReachedForge & { readonly forge: string }) | null {
    const access = this.connected.get(id, org);
    return access?.capabilities ? { ...access, forge: id, capabilities: access.capabilities } : null;
  }

  /** Asks the forge. What fails is kept, and told beside what was seen before. */
  private async look(forge: DoctoredForge, orgs: readonly DoctoredOrg[], only: DoctorScope['only']): Promise<void> {
    const reached = this.reached(forge);
    if (!reached) return;
    try {
      if (only === 'server' || only === 'token') await this.access.learn(reached, 0);
      if (only === 'server') await this.access.lookAtSlashes(reached, 0);
      if (only === 'server') await this.offers.askAgain(reached);
      if (only === 'token') await this.access.lookAtAccount(reached, this.offers.isShared(forge.id), 0);
      if (only === undefined) await this.access.learn(reached, NOW.server);
      if (only === undefined) await this.offers.lookAtCredential(reached, NOW.server);
    } catch (error) {
      // Nothing else can be asked of it now.
      return ifAsked(error);
    }
    if (only === 'server' || only === 'token') return;
    for (const org of orgs) await this.lookAtOrg(org, only).catch(ifAsked);
  }

  private async lookAtOrg({ org }: DoctoredOrg, only: 'hook' | 'rules' | undefined): Promise<void> {
    const at = this.offers.atForge(org);
    if (!at) return;
    if (only === 'hook') {
      await this.orgAccess.lookAtHooks(at, 0);
      return this.offers.judgeAll([org]);
    }
    await this.offers.look(org, only === 'rules' ? NIGHTLY : NOW);
    const names = await this.namesOf(org);
    if (names.length > 0)
      await this.looks.look<SeenNames>(this.namesAt(at), youngerThan(0), () => lookAtNames(at.client, org, names));
  }

  private async namesOf(org: string): Promise<LiteralName[]> {
    const active = await this.revisions.active(org);
    return active ? literalNames(active.revision.rules, active.revision.policies, active.revision.org) : [];
  }

  private namesAt({ forge, org, credential }: Pick<OrgAtForge, 'forge' | 'org' | 'credential'>): LookedAt {
    return { forge, subject: org, kind: 'org.names', under: this.access.underOf(credential) };
  }

  /** Asks the store, and never the forge: the same few questions for however many organizations. */
  private async tell(
    forges: readonly DoctoredForge[],
    orgs: readonly DoctoredOrg[],
    only: DoctorScope['only'],
  ): Promise<DoctorReport> {
    await this.offers.judgeAll(orgs.map(({ org }) => org));
    const now = this.clock.now();
    const knowledge: KnownToDoctor = {
      now,
      ofForge: await this.access.all(),
      periods: await this.periods.all(),
      ofOrg: await this.orgAccess.all(),
      names: await this.looks.all<SeenNames>('org.names'),
      verdict: await this.verdicts.among(),
      arriving: new Map(
        (await this.gaps.arriving(orgs, new Date(now.getTime() - DAY_MS))).map((one) => [one.org, one]),
      ),
    };
    const checks: Check[] = [];
    const learned: Array<DoctorReport['forges'][number]> = [];
    for (const forge of forges) {
      const own = this.usersOf(forge, orgs);
      const add = (org: string | null, lines: ReadonlyArray<CheckResult | AgedResult>): void =>
        void checks.push(...lines.map((one) => ({ ageS: null, ...one, forge: forge.id, org })));
      if (only === undefined || only === 'server') add(forge.org, this.server(forge, knowledge));
      if (only === undefined || only === 'token') add(forge.org, await this.token(forge, own, knowledge));
      for (const org of own) {
        if (only === undefined) add(org.org, this.identity(org, forge, knowledge));
        if (only === undefined) add(org.org, await this.rules(org, forge, knowledge));
        if (only === undefined || only === 'rules') add(org.org, await this.names(org, forge, knowledge));
        if (only === undefined || only === 'hook') add(org.org, await this.hook(org, forge, knowledge));
      }
      const { server, operations } = knowledge.ofForge(forge.credential);
      const answers = Object.entries(operations.look?.seen ?? {}).map(([name, { is }]) => [name, is] as const);
      if (server.look)
        learned.push({
          id: forge.credential,
          learnedAt: server.look.at,
          ...server.look.seen,
          operations: Object.fromEntries(answers),
        });
    }
    const [first] = forges;
    if (only === undefined && first)
      checks.push(
        ...[...(await this.proxies()), ...this.console()].map((one) => ({
          ...one,
          forge: first.id,
          org: null,
          ageS: null,
        })),
      );
    return { findings: checks.filter(isFinding).length, checks, forges: learned };
  }

  private server(forge: DoctoredForge, { ofForge, periods, now }: KnownToDoctor): AgedResult[] {
    const { server, slashes } = ofForge(forge.credential);
    const access = this.connected.get(forge.id, forge.org);
    const failure = access?.capabilities ? (server.failure?.message ?? null) : (access?.failure ?? NOT_YET);
    const seen = server.look?.seen ?? null;
    // While it is away, that is what is to be said, and not how old the rest is.
    if (failure !== null) return examineServer(seen, failure, forge.baseUrl).map((one) => ({ ...one, ageS: null }));
    return [
      ...withAge('server', server, now, (one) => examineServer(one, null, forge.baseUrl)),
      ...withAge('slashes', slashes, now, ({ areLost }) => examineSlashes(areLost)),
      ...examinePolls(forge.credential, periods.get(forge.credential) ?? null).map((one) => ({ ...one, ageS: null })),
    ];
  }

  private async token(
    forge: DoctoredForge,
    orgs: readonly DoctoredOrg[],
    { ofForge, now }: KnownToDoctor,
  ): Promise<AgedResult[]> {
    const { server, account } = ofForge(forge.credential);
    const needed: OperationName[] = [...ALWAYS, ...LOOKING];
    for (const user of orgs) {
      const active = await this.revisions.active(user.org);
      needed.push(
        ...(active ? this.offers.needed(active.revision) : []),
        ...(active ? readsOf(literalNames(active.revision.rules, active.revision.policies, user.name)) : []),
        ...(user.rulesInRepository ? FROM_REPOSITORY : []),
      );
    }
    const access = server.look?.seen;
    return withAge('token', account, now, ({ tokens, organizations }) => [
      ...examineToken(
        {
          signsInBy: forge.signsInBy,
          scopes: access?.scopes ?? null,
          needed: neededScopes(needed),
          useful: wantedScopes(needed),
          tokens,
          login: access?.self?.login ?? null,
          isSiteAdmin: access?.isSiteAdmin ?? null,
          needsSiteAdmin: needed.some((name) => operationOf(name).scope === 'admin'),
        },
        now,
        webPages(forge.baseUrl).tokens,
      ),
      ...examineReach(this.reachOf(forge, organizations), forge.org),
    ]);
  }

  /** Organizations of the config that these credentials reach: those that use them, and those that their account is a member of. */
  private reachOf(forge: DoctoredForge, organizations: readonly string[] | null): string[] {
    const here = this.orgs().filter((one) => one.forge === forge.id);
    // With one organization there is nothing to compare.
    if (here.length < 2) return here.map(({ org }) => org);
    const users = new Set(this.usersOf(forge, this.orgs()));
    const names = new Set(organizations ?? []);
    return here.filter((one) => users.has(one) || names.has(one.name.toLowerCase())).map(({ org }) => org);
  }

  private identity(
    { forge, org, label }: DoctoredOrg,
    { credential }: DoctoredForge,
    knowledge: KnownToDoctor,
  ): AgedResult[] {
    const { identity } = knowledge.ofOrg({ forge, org, credential });
    return withAge('identity', identity, knowledge.now, (look) => [examineIdentity(label, look)]);
  }

  private async rules(
    { org, name, label }: DoctoredOrg,
    { id: forge, baseUrl, credential }: DoctoredForge,
    knowledge: KnownToDoctor,
  ): Promise<Array<CheckResult | AgedResult>> {
    const { revisions, offers } = this;
    const active = await revisions.active(org);
    const facts = {
      active,
      verdict: knowledge.verdict(forge, org),
      heldBack: revisions.heldBack(org),
      heldRules: offers.heldRules(org),
      lacking: offers.lackingNow(org),
    };
    const lines = examineRules(label, facts, webPages(baseUrl).teams(name));
    if (!active || !offers.needsRights(active.revision)) return lines;
    const { rights } = knowledge.ofOrg({ forge, org, credential });
    return [...lines, ...withAge('rights', rights, knowledge.now, () => [])];
  }

  /** Whether the forge has what the rules name literally. */
  private async names(
    { forge, org }: DoctoredOrg,
    { credential }: DoctoredForge,
    { names, now }: KnownToDoctor,
  ): Promise<AgedResult[]> {
    const active = await this.revisions.active(org);
    if (!active) return [];
    return examineNames(await this.namesOf(org), names(this.namesAt({ forge, org, credential })), active.loadedAt, now);
  }

  private async hook(
    org: DoctoredOrg,
    { id: forge, baseUrl, credential }: DoctoredForge,
    knowledge: KnownToDoctor,
  ): Promise<Array<CheckResult | AgedResult>> {
    const page = webPages(baseUrl).hooks(org.name);
    const access = knowledge.ofForge(credential).server.look?.seen;
    const product = this.connected.get(forge, org.org)?.capabilities?.product ?? access?.product ?? 'unknown';
    const version = access?.version ?? null;
    const wanted = await this.wanted(org, product);
    if (!wanted)
      return [note(saw('hook.there.unconfigured', { org: org.label }), 'say orgs[].hooks in the config of the bot')];
    const { hooks } = knowledge.ofOrg({ forge, org: org.org, credential });
    const install = `forgehand hook install --org ${org.label}`;
    const looked = withAge('hooks', hooks, knowledge.now, (seen) =>
      'why' in seen
        ? [unseenHooks(seen.why, org.label, page, webPages(baseUrl).teams(org.name))]
        : examineHook(seen.hooks, wanted, { product, version }, page, install),
    );
    const seen = hooks.look?.seen;
    const arriving = knowledge.arriving.get(org.org);
    const facts = {
      url: wanted.url,
      isSent: seen && 'hooks' in seen ? ownHooks(seen.hooks, wanted).some(({ active }) => active) : null,
      lastDelivery: arriving?.last ?? null,
      lostLately: arriving?.unreported ?? 0,
      refused: this.refused(wanted.id),
    };
    return [...looked, ...examineDeliveries(facts, { product, version }, page, `${install} --recreate`)];
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
}

/** What the doctor answers from. */
interface KnownToDoctor {
  readonly now: Date;
  readonly periods: ReadonlyMap<string, FeedPeriod>;
  readonly ofForge: Awaited<ReturnType<ServerAccessReader['all']>>;
  readonly ofOrg: Awaited<ReturnType<OrgAccessReader['all']>>;
  readonly names: (at: LookedAt) => Known<SeenNames>;
  readonly verdict: Awaited<ReturnType<RuleVerdicts['among']>>;
  readonly arriving: ReadonlyMap<string, Arriving>;
}
