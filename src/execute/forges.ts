import type { Secret } from '../core/secret.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { OperationName } from '../forge/operations.js';

/** One forge as the executing side sees it. */
export interface ForgeAccess {
  readonly client: ForgeClient;
  /** Longest life of a request at the forge and what stands before it, in seconds; default 60. */
  readonly settleS?: number;
  /** False = a call that is made again bears no mark of ours; default true. */
  readonly marks?: boolean;
  /** False once the forge is known not to have the route. */
  offers(name: OperationName): boolean;
}

/** The forges of the config by their id. */
export interface Forges {
  get(forge: string): ForgeAccess | null;
}

/** What the operator says about an organization. */
export interface OrgSettings {
  readonly powers: readonly string[];
  readonly mirrorHosts: readonly string[];
  readonly secrets: Readonly<Record<string, Secret>>;
  /** Writes in any hour; null = no limit. */
  readonly effectsPerHour: number | null;
}

export interface OrgDirectory {
  get(org: string): OrgSettings | null;
}
