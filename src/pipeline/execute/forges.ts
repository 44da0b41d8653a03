import { portToken } from '../../core/part.js';
import type { Secret } from '../../core/secret.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';

/** One forge as the executing side sees it. */
export interface ForgeAccess {
  readonly client: ForgeClient;
  /** Names the credentials that the client signs in with; default: those of the forge. */
  readonly credential?: string;
  /** Longest life of a request at the forge and what stands before it, in seconds; default 60. */
  readonly settleS?: number;
  /** False = a call that is made again bears no mark of ours; default true. */
  readonly marks?: boolean;
  /** False once the forge is known not to have the route. */
  offers(name: OperationName): boolean;
}

/** The forges of the config by their id. */
export interface Forges {
  /** @param org on whose behalf: an organization may have credentials of its own; null = the credentials of the forge */
  get(forge: string, org: string | null): ForgeAccess | null;
}

export const FORGES = portToken<Forges>('Forges');

/** What the operator says about an organization. */
export interface OrgSettings {
  readonly powers: readonly string[];
  readonly mirrorHosts: readonly string[];
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly budgets: OrgBudgets;
  /** Optional. Default: nothing is limited. */
  readonly limits?: OrgLimits;
}

/** What rules may do beyond their own repositories; false = the operator did not allow it. */
export interface OrgLimits {
  readonly merges: boolean;
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

export interface OrgDirectory {
  get(org: string): OrgSettings | null;
}

export const ORG_DIRECTORY = portToken<OrgDirectory>('OrgDirectory');
