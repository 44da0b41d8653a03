import { Inject, Injectable } from '@nestjs/common';
import { alert, Alerts } from '../../core/alerts.js';
import { AppConfig } from '../../config/app-config.js';
import { canonicalJson } from '../../core/canonical-json.js';
import { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import { Logger } from '../../core/logger.js';
import { defineReasons, textOf, type Reason } from '../../core/reason.js';
import { ConnectedForges, type ForgeCapabilities } from '../../forge/connected-forges.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import { isOperationName, operationNames, type OperationName } from '../../forge/operations.js';
import { ask, isScopeRefusal, type ProbeAnswer } from '../../forge/probe.js';
import { missingScopes, neededScopes } from '../../forge/scopes.js';
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
import { unsentEvents, type ListedHook } from '../language/hook-events.js';
import type { Revision } from '../language/revision.js';
import { readOwnRights, whyNot, type OwnRights } from '../../forge/own-rights.js';
import { ServerAccessReader } from '../../forge/server-access.js';

interface OrgOfForge {
  readonly forge: string;
  readonly org: string;
}

/** A forge under the credentials of one organization. */
interface CheckedForge {
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities | null;
  /** What a token may do is asked once for each. */
  readonly credential?: string;
}

const HOOKS_AT_ONCE = 50;
/** What the bot does whatever the rules say. */
export const ALWAYS: readonly OperationName[] = ['getSelf', 'listOrgFeed', 'listActionTasks'];
const lacks = defineReasons({
  'requirement.token-scopes': ({ scopes }: { scopes: readonly string[] }) => `the token lacks ${scopes.join(', ')}`,
});

/** What is missing is looked at again when somebody asks about it, but not more often than so: it may have been granted. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Asks a forge once for each operation that the rules need, what the token may do and what the account may do, so that a rule which cannot
 * work there is told of in the morning and not found out at night. Such a rule is held back: none of its decisions reads or writes anything,
 * each ends as an error with the reason, and the others go on.
 */
@Injectable()
export class CapabilityCheck {
  private readonly orgs: readonly OrgOfForge[];
  private readonly asked = new Map<string, ProbeAnswer>();
  private readonly found = new Map<string, readonly Reason[]>();
  private readonly holds = new Map<string, ReadonlyMap<string, Reason<UnmetCode>>>();
  private last: Promise<void> = Promise.resolve();
  private lookedAtMs = -Infinity;
  private isStopped = false;

  constructor(
    config: AppConfig,
    @Inject(RevisionKeeper) private readonly revisions: Pick<RevisionKeeper, 'active'>,
    @Inject(ConnectedForges) private readonly forges: { get(forge: string, org: string | null): CheckedForge | null },
    private readonly lookups: LookupCatalogue,
    private readonly access: ServerAccessReader,
    private readonly alerts: Alerts,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.orgs = config.orgs.map(({ forge, name }) => ({ forge, org: name }));
  }

  /** Look again: a revision became active, or a forge was reached. One organization after the other; never throws. */
  check(): Promise<void> {
    this.lookedAtMs = this.clock.monotonicMs();
    this.last = this.last.then(async () => {
      for (const where of this.orgs) await this.tryOrg(where);
    });
    return this.last;
  }

  /** When every look that was begun has ended. */
  idle(): Promise<void> {
    return this.last;
  }

  /** Asks nothing more; not waited for, since it changes nothing. */
  stop(): void {
    this.isStopped = true;
  }

  /** With file, line and column; empty while nothing is known to be missing. */
  lacking(org: string): readonly Reason[] {
    const reasons = this.found.get(org) ?? [];
    if (reasons.length > 0 && this.isTimeToLook()) void this.check();
    return reasons;
  }

  /** Why a rule or policy is held back; null = it is not. */
  heldFor(org: string, id: string): Reason<UnmetCode> | null {
    const reason = this.holds.get(org)?.get(id) ?? null;
    if (reason !== null && this.isTimeToLook()) {
      this.asked.clear();
      void this.check();
    }
    return reason;
  }

  /** Rules and policies that are held back, with the reason. */
  held(org: string): Array<{ id: string; reason: Reason<UnmetCode> }> {
    return [...(this.holds.get(org) ?? [])].map(([id, reason]) => ({ id, reason }));
  }

  /** Look at one organization now, and tell what is held back there, with the reason of each. Empty while its forge is not reached. */
  async heldNow(org: string): Promise<ReadonlyMap<string, Reason<UnmetCode>>> {
    this.last = this.last.then(async () => {
      // What was refused may have been granted since.
      if ((this.holds.get(org)?.size ?? 0) > 0) this.asked.clear();
      for (const where of this.orgs) if (where.org === org) await this.tryOrg(where);
    });
    await this.last;
    return this.holds.get(org) ?? new Map();
  }

  /** Ask about every operation of the table, wanted or not. @throws ForgeError when the forge cannot be asked */
  async askAll(forge: string, org: string | null): Promise<void> {
    const access = this.forges.get(forge, org);
    if (!access?.capabilities) return;
    const { credential = forge } = access;
    for (const name of operationNames) await this.askFor(credential, access.client, name);
    await this.keep(credential, access.capabilities);
  }

  /** Operations that the bot makes for these rules, and always. */
  needed(revision: Revision): OperationName[] {
    return [...ALWAYS, ...neededOperations(revision, this.lookups).filter(isOperationName)];
  }

  private isTimeToLook(): boolean {
    return !this.isStopped && this.clock.monotonicMs() - this.lookedAtMs >= LOOK_AGAIN_MS;
  }

  private async tryOrg(where: OrgOfForge): Promise<void> {
    await this.checkOrg(where).catch((error: unknown) =>
      this.logger.debug({ ...where, error }, 'capabilities.not-asked'),
    );
  }

  private async checkOrg({ forge, org }: OrgOfForge): Promise<void> {
    const access = this.forges.get(forge, org);
    if (this.isStopped || !access?.capabilities) return;
    const { capabilities, client, credential = forge } = access;
    const { scopes } = await this.access.learn(credential, client, capabilities);
    const active = await this.revisions.active(org);
    if (!active) return this.keep(credential, capabilities);
    const { revision } = active;
    const needed = this.needed(revision);
    for (const operation of needed.slice(ALWAYS.length))
      await this.askFor(credential, client, operation).catch(() => undefined);
    const { hooks, isOwner } = await this.hooksOf(client, capabilities, org);
    const rights = await this.rightsOf(client, capabilities, org, isOwner, revision);
    const missing = missingScopes(neededScopes(needed), scopes ?? ['all']);
    const lacking = unmetRequirements(revision, this.lookups, {
      operation: (name) =>
        isOperationName(name) ? this.whyNotOperation(credential, capabilities, scopes, name) : null,
      right: (right) => {
        const detail = rights && whyNot(right, rights);
        return detail === null ? null : { is: 'right', detail };
      },
    });
    if (this.isStopped) return;
    this.hold(org, lacking);
    await this.keep(credential, capabilities);
    this.tell(forge, org, [
      ...(missing.length > 0 ? [lacks('requirement.token-scopes', { scopes: missing })] : []),
      ...lacking.map(({ reason }) => reason),
      ...(hooks ? unsentEvents(revision, hooks, capabilities.product) : []),
    ]);
  }

  private tell(forge: string, org: string, told: readonly Reason[]): void {
    if (canonicalJson(told) === canonicalJson(this.found.get(org) ?? [])) return;
    this.found.set(org, told);
    const key = `rules.not-offered/${org}` as const;
    this.alerts.resolve(key);
    const [first] = told;
    if (first)
      this.alerts.raise(key, alert('rules.not-offered', { org, first }), {
        org,
        forge,
        count: told.length,
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

  private keep(credential: string, capabilities: ForgeCapabilities): Promise<void> {
    const operations = Object.fromEntries(
      [...this.asked].flatMap(([key, told]) =>
        key.startsWith(`${credential} `) ? [[key.slice(credential.length + 1), told]] : [],
      ),
    );
    for (const name of operationNames) if (!capabilities.offers(name)) operations[name] = 'missing';
    return this.access.keep(credential, operations);
  }

  private whyNotOperation(
    credential: string,
    capabilities: ForgeCapabilities,
    scopes: readonly string[] | null,
    name: OperationName,
  ): Unmet | null {
    if (!capabilities.offers(name)) return { is: 'not-offered', detail: '' };
    const [scope = null] = neededScopes([name]);
    const isShut =
      this.asked.get(`${credential} ${name}`) === 'scope' ||
      (scopes !== null && missingScopes(neededScopes([name]), scopes).length > 0);
    return isShut ? { is: 'scope', detail: scope ?? 'a scope' } : null;
  }

  /** Once; what cannot be asked now is learned when it is used. */
  private async askFor(credential: string, client: ForgeClient, operation: OperationName): Promise<void> {
    const key = `${credential} ${operation}`;
    if (this.isStopped || this.asked.has(key)) return;
    this.asked.set(key, await ask(client, operation));
  }

  /** Null hooks where the forge or the token does not let us look. */
  private async hooksOf(
    client: ForgeClient,
    capabilities: ForgeCapabilities,
    org: string,
  ): Promise<{ hooks: readonly ListedHook[] | null; isOwner: boolean | null }> {
    if (this.isStopped || !capabilities.offers('listOrgHooks')) return { hooks: null, isOwner: null };
    try {
      const hooks = await client.listOrgHooks({ org, limit: HOOKS_AT_ONCE });
      // A full page may not be all: what stands on the next one is not called missing.
      return { hooks: hooks.length < HOOKS_AT_ONCE ? hooks : null, isOwner: true };
    } catch (error) {
      const isRole = error instanceof ForgeError && error.facts.status === 403 && !isScopeRefusal(error);
      return { hooks: null, isOwner: isRole ? false : null };
    }
  }

  /** ProbeAnswer only where an action needs a right; null = it could not be told. */
  private async rightsOf(
    client: ForgeClient,
    capabilities: ForgeCapabilities,
    org: string,
    isOwner: boolean | null,
    revision: Revision,
  ): Promise<OwnRights | null> {
    if (this.isStopped || neededRights(revision, this.lookups).length === 0) return null;
    return readOwnRights(client, capabilities, org, isOwner).catch(() => null);
  }
}
