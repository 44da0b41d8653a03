import { Inject, Injectable } from '@nestjs/common';
import { alert, Alerts } from '../../core/alerts.js';
import { AppConfig } from '../../config/app-config.js';
import { ofOrgs } from '../../config/live-config.js';
import { credentialOf } from '../../config/credentials.js';
import { canonicalJson } from '../../core/canonical-json.js';
import { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import { Logger } from '../../core/logger.js';
import { defineReasons, textOf, type Reason } from '../../core/reason.js';
import { ConnectedForges, type ForgeCapabilities } from '../../forge/connected-forges.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import { isOperationName, operationNames, type OperationName } from '../../forge/operations.js';
import { missingScopes, neededScopes } from '../../forge/scopes.js';
import {
  type KnownOfForge,
  type OperationAnswers,
  type ReachedForge,
  ServerAccessReader,
} from '../../forge/server-access.js';
import { type KnownOfOrg, OrgAccessReader, type OrgAtForge, type SeenHooks } from '../../forge/org-access.js';
import { type OwnRights, whyNot } from '../../forge/own-rights.js';
import type { ProbeAnswer } from '../../forge/probe.js';
import { LookupCatalogue } from '../catalogue.port.js';
import { RevisionKeeper } from '../revisions/revision-keeper.js';
import {
  unmetRequirements,
  neededOperations,
  neededRights,
  type Unmet,
  type UnmetCode,
  type UnmetRequirement,
} from './unmet-requirements.js';
import { unsentEvents } from '../language/hook-events.js';
import type { Revision } from '../language/revision.js';
import {
  ACTIVATED,
  AGAIN,
  ALL_AGAIN,
  LOOK_AGAIN_MS,
  operationsToAsk,
  whatToAsk,
  type Freshness,
} from './what-to-ask.js';

interface OrgOfForge {
  readonly forge: string;
  readonly org: string;
}

/** A forge under the credentials of one organization. */
interface CheckedForge {
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities | null;
  readonly credential: string;
}

/** What the bot does whatever the rules say. */
export const ALWAYS: readonly OperationName[] = ['getSelf', 'listOrgFeed', 'listActionTasks'];
const lacks = defineReasons({
  'requirement.token-scopes': ({ scopes }: { scopes: readonly string[] }) => `the token lacks ${scopes.join(', ')}`,
});

/** What is known when a revision is judged; null = nobody saw it. */
interface KnownAccess {
  readonly scopes: readonly string[] | null;
  readonly operations: OperationAnswers;
  readonly hooks: SeenHooks | null;
  readonly rights: OwnRights | null;
}

/**
 * Asks a forge once for each operation that the rules need, what the token may do and what the account may do, so that a rule which cannot
 * work there is told of in the morning and not found out at night. Such a rule is held back: none of its decisions reads or writes anything,
 * each ends as an error with the reason, and the others go on. What was asked is kept for all processes: a revision is judged by what is known.
 */
@Injectable()
export class CapabilityCheck {
  private readonly orgs: () => ReadonlyMap<string, OrgOfForge>;
  /** Names of organizations by the credentials that they use. */
  private readonly users: () => ReadonlyMap<string, readonly string[]>;
  private readonly unmet = new Map<string, readonly Reason[]>();
  private readonly holds = new Map<string, ReadonlyMap<string, Reason<UnmetCode>>>();
  private readonly lookedAtMs = new Map<string, number>();
  private last: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    config: AppConfig,
    @Inject(RevisionKeeper) private readonly revisions: Pick<RevisionKeeper, 'active'>,
    @Inject(ConnectedForges) private readonly forges: { get(forge: string, org: string | null): CheckedForge | null },
    private readonly lookups: LookupCatalogue,
    private readonly access: ServerAccessReader,
    private readonly orgAccess: OrgAccessReader,
    private readonly alerts: Alerts,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.orgs = ofOrgs(config, (orgs) => new Map(orgs.map(({ forge, key }) => [key, { forge, org: key }])));
    this.users = ofOrgs(config, (orgs) => {
      const users = new Map<string, string[]>();
      for (const { forge, key, auth } of orgs) {
        const credential = credentialOf({ id: forge, org: auth ? key : null });
        const keys = users.get(credential);
        if (keys) keys.push(key);
        else users.set(credential, [key]);
      }
      return users;
    });
  }

  /** A revision of the organization became active. Never throws; one organization after the other. */
  activated(org: string): Promise<void> {
    return this.soon(() => this.tryLook(org, ACTIVATED));
  }

  /** A forge was reached under these credentials. Never throws. */
  connected(credential: string): Promise<void> {
    return this.soon(async () => {
      const users = this.usersOf(credential);
      for (const org of users) await this.tryLook(org, ACTIVATED);
      const at = users[0] === undefined ? null : this.atForge(users[0]);
      if (at) await this.lookAtCredential(at, ACTIVATED.server).catch(ifAsked);
    });
  }

  /** A call was answered so. Where that is something else than what was known, the organizations concerned are judged again; the forge is not asked. */
  answered(credential: string, name: OperationName, is: ProbeAnswer): void {
    void this.access
      .note(credential, name, is)
      .then((isNews) => (isNews ? this.soon(() => this.judgeAll(this.usersOf(credential))) : undefined))
      .catch((error: unknown) => this.logger.debug({ credential, operation: name, error }, 'capabilities.not-kept'));
  }

  /** When every look that was begun in the background has ended. */
  idle(): Promise<void> {
    return this.last;
  }

  /** Asks nothing more; not waited for, since it changes nothing. */
  stop(): void {
    this.isStopped = true;
  }

  /** With file, line and column; empty while nothing is known to be missing. */
  lacking(org: string): readonly Reason[] {
    const reasons = this.lackingNow(org);
    if (reasons.length > 0) this.lookAgain(org);
    return reasons;
  }

  /** The same, and nobody looks again. */
  lackingNow(org: string): readonly Reason[] {
    return this.unmet.get(org) ?? [];
  }

  /** Why a rule or policy is held back; null = it is not. */
  heldFor(org: string, id: string): Reason<UnmetCode> | null {
    const reason = this.holds.get(org)?.get(id) ?? null;
    if (reason !== null) this.lookAgain(org);
    return reason;
  }

  /** Rules and policies that are held back, with the reason. */
  heldRules(org: string): Array<{ id: string; reason: Reason<UnmetCode> }> {
    return [...(this.holds.get(org) ?? [])].map(([id, reason]) => ({ id, reason }));
  }

  /** Look at one organization, and tell what is held back there, with the reason of each. Empty while its forge is not reached. */
  async heldNow(org: string): Promise<ReadonlyMap<string, Reason<UnmetCode>>> {
    // What was refused may have been granted since.
    await this.tryLook(org, (this.holds.get(org)?.size ?? 0) > 0 ? AGAIN : ACTIVATED);
    return this.holds.get(org) ?? new Map();
  }

  /**
   * Ask what is not known as freshly as this, and judge the active revision.
   * @throws ForgeError when the forge cannot be asked
   */
  async look(org: string, fresh: Freshness): Promise<void> {
    const at = this.atForge(org);
    if (this.isStopped || !at) return;
    this.lookedAtMs.set(org, this.clock.monotonicMs());
    await this.access.learn(at, fresh.server);
    const active = await this.revisions.active(org);
    if (!active) return;
    const needed = {
      operations: this.wanted(active.revision),
      rights: this.needsRights(active.revision),
    };
    const { operations } = await this.access.read(at.credential);
    const { identity, hooks, rights } = await this.orgAccess.read(at);
    const now = this.clock.now();
    const knowledge = {
      operations: operations.look?.seen ?? {},
      identity: identity.look?.at ?? null,
      hooks: hooks.look?.at ?? null,
      rights: rights.look?.at ?? null,
    };
    const toAsk = whatToAsk(needed, knowledge, fresh, now);
    if (toAsk.identity) await this.orgAccess.lookAtIdentity(at, fresh.identity).catch(ifAsked);
    if (toAsk.operations.length > 0 && !this.isStopped)
      await this.access.ask(at, (answers) => operationsToAsk(toAsk.operations, answers, fresh, now));
    if (toAsk.hooks && !this.isStopped) await this.orgAccess.lookAtHooks(at, fresh.hooks).catch(ifAsked);
    if (toAsk.rights && !this.isStopped) await this.orgAccess.lookAtRights(at, fresh.rights).catch(ifAsked);
    this.judge(at, active.revision, await this.access.read(at.credential), await this.orgAccess.read(at));
  }

  /** The account of the token, and the proxy before the forge. @throws ForgeError when the forge cannot be asked */
  async lookAtCredential(forge: ReachedForge & { readonly forge: string }, olderThanMs: number): Promise<void> {
    if (this.isStopped) return;
    await this.access.lookAtAccount(forge, this.isShared(forge.forge), olderThanMs);
    if (!this.isStopped) await this.access.lookAtSlashes(forge, olderThanMs);
  }

  /** Whether several organizations of the config are at this forge. */
  isShared(forge: string): boolean {
    return [...this.orgs().values()].filter((one) => one.forge === forge).length > 1;
  }

  /** Ask about every operation of the table, wanted or not. */
  async askAll(forge: ReachedForge): Promise<void> {
    await this.access.ask(forge, (answers) => operationsToAsk(operationNames, answers, ACTIVATED, this.clock.now()));
  }

  /** Ask again about every operation that was asked about before now. */
  async askAgain(forge: ReachedForge): Promise<void> {
    const now = this.clock.now();
    await this.access.ask(forge, (answers) =>
      operationsToAsk(
        operationNames.filter((name) => answers[name]),
        answers,
        ALL_AGAIN,
        now,
      ),
    );
    await this.judgeAll(this.usersOf(forge.credential));
  }

  /** Operations that the bot makes for these rules, and always. */
  needed(revision: Revision): OperationName[] {
    return [...ALWAYS, ...this.wanted(revision)];
  }

  /** Those of the rules alone: what is always called is not asked about. */
  private wanted(revision: Revision): OperationName[] {
    return neededOperations(revision, this.lookups).filter(isOperationName);
  }

  /** Whether one of its actions needs a right in the organization. */
  needsRights(revision: Revision): boolean {
    return neededRights(revision, this.lookups).length > 0;
  }

  /** As it is known; the forge is not asked. */
  async judgeAll(orgs: readonly string[]): Promise<void> {
    const [ofForges, ofOrgs] = [await this.access.all(), await this.orgAccess.all()];
    for (const org of orgs) {
      const at = this.atForge(org);
      const active = at && (await this.revisions.active(org));
      if (at && active) this.judge(at, active.revision, ofForges(at.credential), ofOrgs(at));
    }
  }

  /** After what was begun before. Never throws: what fails, such as a look whose store is closed meanwhile, holds up no later one. */
  private soon(work: () => Promise<void>): Promise<void> {
    this.last = this.last.then(work).catch((error: unknown) => this.logger.debug({ error }, 'capabilities.not-looked'));
    return this.last;
  }

  private lookAgain(org: string): void {
    if (this.isStopped || this.clock.monotonicMs() - (this.lookedAtMs.get(org) ?? -Infinity) < LOOK_AGAIN_MS) return;
    this.lookedAtMs.set(org, this.clock.monotonicMs());
    void this.soon(() => this.tryLook(org, AGAIN));
  }

  private async tryLook(org: string, fresh: Freshness): Promise<void> {
    await this.look(org, fresh).catch((error: unknown) => this.logger.debug({ org, error }, 'capabilities.not-asked'));
  }

  /** Organizations that use these credentials. */
  usersOf(credential: string): readonly string[] {
    return this.users().get(credential) ?? [];
  }

  /** Null while its forge was not reached, and for a shadow, which never writes. */
  atForge(org: string): OrgAtForge | null {
    const where = this.orgs().get(org);
    if (!where) return null;
    const { client, credential, capabilities } = this.forges.get(where.forge, org) ?? {};
    return client && credential && capabilities ? { ...where, client, credential, capabilities } : null;
  }

  private judge(
    { capabilities, forge, org }: OrgAtForge,
    revision: Revision,
    { server, operations }: Pick<KnownOfForge, 'server' | 'operations'>,
    { hooks, rights }: Pick<KnownOfOrg, 'hooks' | 'rights'>,
  ): void {
    if (this.isStopped) return;
    const knowledge: KnownAccess = {
      scopes: server.look?.seen.scopes ?? null,
      operations: operations.look?.seen ?? {},
      hooks: hooks.look?.seen ?? null,
      rights: rights.look?.seen ?? null,
    };
    const lacking = unmetRequirements(revision, this.lookups, {
      operation: (name) => (isOperationName(name) ? whyNotOperation(name, knowledge, capabilities) : null),
      right: (right) => {
        const detail = knowledge.rights && whyNot(right, knowledge.rights);
        return detail === null ? null : { is: 'right', detail };
      },
    });
    const missing = missingScopes(neededScopes(this.needed(revision)), knowledge.scopes ?? ['all']);
    const seen = knowledge.hooks && 'hooks' in knowledge.hooks ? knowledge.hooks.hooks : null;
    this.hold(org, lacking);
    this.tell(forge, org, [
      ...(missing.length > 0 ? [lacks('requirement.token-scopes', { scopes: missing })] : []),
      ...lacking.map(({ reason }) => reason),
      ...(seen ? unsentEvents(revision, seen, capabilities.product) : []),
    ]);
  }

  private tell(forge: string, org: string, reasons: readonly Reason[]): void {
    if (canonicalJson(reasons) === canonicalJson(this.unmet.get(org) ?? [])) return;
    this.unmet.set(org, reasons);
    const key = `rules.not-offered/${org}` as const;
    this.alerts.resolve(key);
    const [first] = reasons;
    if (first)
      this.alerts.raise(key, alert('rules.not-offered', { org, first }), {
        org,
        forge,
        count: reasons.length,
        first: textOf(first),
        code: first.code,
      });
  }

  /** A rule that does not write anyway is tried as far as it gets. */
  private hold(org: string, lacking: readonly UnmetRequirement[]): void {
    const reasons = new Map<string, Reason<UnmetCode>>();
    for (const { id, mode, reason } of lacking) if (mode === 'live' && !reasons.has(id)) reasons.set(id, reason);
    this.holds.set(org, reasons);
  }
}

/** What this process saw last goes before what is kept. */
function whyNotOperation(
  name: OperationName,
  { operations, scopes }: KnownAccess,
  capabilities: ForgeCapabilities,
): Unmet | null {
  if (!capabilities.offers(name) || operations[name]?.is === 'missing') return { is: 'not-offered', detail: '' };
  const [scope = null] = neededScopes([name]);
  const isShut =
    operations[name]?.is === 'scope' || (scopes !== null && missingScopes(neededScopes([name]), scopes).length > 0);
  return isShut ? { is: 'scope', detail: scope ?? 'a scope' } : null;
}

/** What cannot be asked now is judged by what is known. */
export function ifAsked(error: unknown): void {
  if (!(error instanceof ForgeError)) throw error;
}
