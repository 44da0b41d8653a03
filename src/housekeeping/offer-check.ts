import type { Alerts } from '../core/alerts.js';
import type { ForgeCapabilities } from '../forge/capabilities.js';
import type { ForgeClient } from '../forge/forge-client.js';
import { isOperationName, type OperationName } from '../forge/operations.js';
import { probe } from '../forge/probe.js';
import { missingScopes, neededScopes } from '../forge/scopes.js';
import type { ActiveRevisions } from '../journal/rule-engine.js';
import { unsentEvents, type ListedHook } from '../policies/hook-events.js';
import { formatLacking, lackingOperations, neededOperations } from '../policies/lacking-operations.js';
import type { LookupFacts } from '../rules/revision.js';
import type { ScheduledOrg } from './scheduler.js';

export interface OfferCheckDeps {
  readonly orgs: readonly ScheduledOrg[];
  readonly revisions: ActiveRevisions;
  readonly forges: { get(forge: string): { readonly client: ForgeClient; readonly capabilities: ForgeCapabilities | null } | null };
  readonly lookups: ReadonlyMap<string, LookupFacts>;
  readonly alerts: Alerts;
}

const HOOKS_AT_ONCE = 50;
/** What the bot does whatever the rules say. */
const ALWAYS: readonly OperationName[] = ['getSelf', 'listOrgFeed', 'listActionTasks'];

/**
 * Asks a forge once for each read that the rules need, and what the token may do, so that a rule which cannot work there is told of in the morning and not found
 * out at night. Such a rule stays: each of its decisions ends as an error with the reason, and the others go on.
 */
export class OfferCheck {
  private readonly asked = new Set<string>();
  private readonly found = new Map<string, readonly string[]>();
  private last: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(private readonly deps: OfferCheckDeps) {}

  /** Look again: a revision became active, or a forge was reached. One organization after the other; never throws. */
  check(): Promise<void> {
    this.last = this.last.then(async () => {
      for (const where of this.deps.orgs) await this.checkOrg(where).catch(() => undefined);
    });
    return this.last;
  }

  /** Asks nothing more; not waited for, since it changes nothing. */
  stop(): void {
    this.isStopped = true;
  }

  /** Sentences with file, line and column; empty while nothing is known to be missing. */
  lacking(org: string): readonly string[] {
    return this.found.get(org) ?? [];
  }

  private async checkOrg({ forge, org }: ScheduledOrg): Promise<void> {
    const access = this.deps.forges.get(forge);
    const active = await this.deps.revisions.active(org);
    if (!active || !access?.capabilities) return;
    const { capabilities, client } = access;
    const needed = neededOperations(active.revision, this.deps.lookups).filter(isOperationName);
    for (const operation of needed) await this.askFor(forge, client, operation);
    const offers = (operation: string): boolean => !isOperationName(operation) || capabilities.offers(operation);
    const scopes = missingScopes(neededScopes([...ALWAYS, ...needed]), (await this.scopesOf(client, capabilities)) ?? ['all']);
    const hooks = await this.hooksOf(client, capabilities, org);
    const told = [
      ...(scopes.length > 0 ? [`the token lacks ${scopes.join(', ')}`] : []),
      ...lackingOperations(active.revision, this.deps.lookups, offers).map(formatLacking),
      ...(hooks ? unsentEvents(active.revision, hooks) : []),
    ];
    if (told.join('\n') === this.lacking(org).join('\n')) return;
    this.found.set(org, told);
    const key = `rules.not-offered/${org}`;
    this.deps.alerts.resolve(key);
    if (told.length > 0)
      this.deps.alerts.raise(key, 'rules need what the forge or the token does not offer', { org, forge, count: told.length, first: told[0] ?? null });
  }
  /** Once; what cannot be asked now is learned when it is used. */
  private async askFor(forge: string, client: ForgeClient, operation: OperationName): Promise<void> {
    const key = `${forge}/${operation}`;
    if (this.isStopped || this.asked.has(key)) return;
    const told = await probe(client, operation).catch(() => null);
    if (told !== null) this.asked.add(key);
  }

  /** Null where the forge or the token does not let us look. */
  private async hooksOf(client: ForgeClient, capabilities: ForgeCapabilities, org: string): Promise<readonly ListedHook[] | null> {
    if (this.isStopped || !capabilities.offers('listOrgHooks')) return null;
    const hooks = await client.listOrgHooks({ org, limit: HOOKS_AT_ONCE }).catch(() => null);
    // A full page may not be all: what stands on the next one is not called missing.
    return hooks && hooks.length < HOOKS_AT_ONCE ? hooks : null;
  }

  /** What the token may do, where the forge tells it (and credentials are a token); else null. */
  private async scopesOf(client: ForgeClient, capabilities: ForgeCapabilities): Promise<readonly string[] | null> {
    if (this.isStopped || !capabilities.offers('getOwnToken')) return null;
    const own = await client.getOwnToken({}).catch(() => null);
    return own?.scopes && own.scopes.length > 0 ? own.scopes : null;
  }
}
