import type { AppConfig, OrgConfig } from '../../config/app-config.js';
import { UserError } from '../../core/errors.js';
import type { Logger } from '../../core/logger.js';
import type { ControlCaller } from '../../core/operators.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import type { RuleOrigin } from '../../rules/sources/rule-repository.port.js';
import type { RevisionStore } from '../../rules/revisions/revision-store.port.js';

/** The organizations of the config. */
export class Orgs {
  constructor(
    private readonly config: Pick<AppConfig, 'orgs'>,
    private readonly forges: Pick<ConnectedForges, 'get'>,
  ) {}

  /** Whatever the case the name was typed in. */
  find(typed: string): OrgConfig | undefined {
    return this.config.orgs.find((one) => one.name.toLowerCase() === typed.toLowerCase());
  }

  /** @returns the name as the config writes it @throws UserError NO_SUCH_ORG */
  nameOf(typed: string): string {
    const org = this.find(typed);
    if (org) return org.name;
    const names = this.config.orgs.map(({ name }) => name).join(', ');
    throw new UserError('NO_SUCH_ORG', `the config has no organization ${typed}; it has ${names}`);
  }

  /** A filter with the organization as the config writes it. */
  within<Filter extends { org?: string }>({ org, ...filter }: Filter): Omit<Filter, 'org'> & { org?: string } {
    return org ? { ...filter, org: this.nameOf(org) } : filter;
  }

  /** Whether the lists of issues or releases are read for what neither deliveries nor the feed tell. */
  readsLists(org: string, operation: 'listReleases' | 'searchIssues'): boolean {
    const found = this.find(org);
    return (
      found !== undefined &&
      found.lists.everyS > 0 &&
      (this.forges.get(found.forge, found.name)?.offers(operation) ?? false)
    );
  }
}

/** What all orders share. */
export class Orders {
  constructor(
    private readonly deps: {
      readonly logger: Logger;
      /** Of the process that serves one command alone: a running bot connects by itself. */
      readonly connect: () => Promise<void>;
      /** Look for due work at once, not at the next sweep. */
      readonly nudge: () => void;
    },
  ) {}

  /** Kept in the log with the caller's name, before it is carried out. */
  record(order: string, { name: by }: ControlCaller, facts: Readonly<Record<string, unknown>>): void {
    this.deps.logger.info({ order, by, ...facts }, 'order.recorded');
  }

  /** Before an order that asks the forge. */
  connected(): Promise<void> {
    return this.deps.connect();
  }

  /** What was held back may be due now. */
  nudge(): void {
    this.deps.nudge();
  }
}

/** Where the rules of a revision came from; nothing where they lie in a folder, or it is not known. */
export async function originOf(
  revisions: Pick<RevisionStore, 'byId'>,
  revisionId: string,
): Promise<{ origin?: RuleOrigin }> {
  const origin = (await revisions.byId(revisionId))?.origin;
  return origin ? { origin } : {};
}
