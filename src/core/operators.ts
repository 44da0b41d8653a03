import { z } from 'zod';
import { OPERATOR_SCOPES, operatorState, type OperatorScope } from './operator-scopes.js';
import { fields, maybeText, maybeTime, text, time, type Shape } from './schema.js';
import { seenRepository, seesWholeOrg, type OrgVisibility, type Visibility } from './visibility.js';

/** One token of a named operator. An operator may have several, all under one name; the token itself is never kept. */
export const operator = z.object({
  ...fields('id name madeBy', text),
  /** The account of this person on the forge; null = not known. Where it is known, authors of rules and of events are compared with it. */
  login: maybeText,
  revokedBy: maybeText,
  scopes: z.array(z.enum(OPERATOR_SCOPES)),
  ...fields('madeAt expiresAt', time),
  revokedAt: maybeTime,
});
export type Operator = Shape<typeof operator>;

/** Lower case, so that two names cannot differ in case alone; without `:`, which marks callers that are no operators. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** Recorded names that mean somebody or something else. */
const RESERVED = new Set([
  'schedule',
  'housekeeping',
  'config-token',
  'unknown',
  'nobody',
  'forgehand',
  'bot',
  'system',
]);

export function isOperatorName(name: string): boolean {
  return OPERATOR_NAME.test(name) && !RESERVED.has(name);
}

/** What a caller may see of an organization, and do there. */
export interface Grant extends OrgVisibility {
  readonly scopes: readonly OperatorScope[];
}

/**
 * Who asks the control API for something. The name comes from the token, from the session, or from the system's own user where there is none:
 * - `operator`: the bearer of an operator's token;
 * - `config-token`: the bearer of `control.token`, a shared secret of the host's owner;
 * - `socket`, `command`: the user that owns the socket, or the command that opened the store itself. Both have every scope;
 * - `person`: somebody whose account and rights the forge vouches for (`personCaller`);
 * - `nobody`: somebody of whom nothing is known.
 */
export interface ControlCaller {
  readonly kind: 'operator' | 'config-token' | 'socket' | 'command' | 'person' | 'nobody';
  /** As it is recorded: `ann`, `config-token`, `socket:forgehand`, `command:root`, `person:ann@main`. */
  readonly name: string;
  readonly login: string | null;
  /** Every scope that the caller has somewhere. */
  readonly scopes: readonly OperatorScope[];
  /** Where the caller has which scopes; null = each of `scopes` holds for all that the bot has. */
  readonly grants: readonly Grant[] | null;
  /** Organizations that a person owns, where `grants` does not say so. Default: none */
  readonly owns?: readonly string[];
}

/** Whether the caller has the host: such a caller makes and revokes operators. */
export function isOwner({ kind }: Pick<ControlCaller, 'kind'>): boolean {
  return kind === 'config-token' || kind === 'socket' || kind === 'command';
}

/**
 * Whether what is sealed of an organization is opened to the caller. The forge told some of it to owners alone, and the bot read the rest of any of the
 * organization's repositories: so its owners and the owner of the host see it, and no scope of an operator does.
 */
export function opensSealed(caller: Pick<ControlCaller, 'kind' | 'grants' | 'owns'>, org: string): boolean {
  const { grants, owns = [] } = caller;
  return isOwner(caller) || owns.includes(org) || (grants !== null && seesWholeOrg(grants, org));
}

/** A person whom the config makes an operator of everything. What such a person owns stays theirs. */
export function asOperator(caller: ControlCaller): ControlCaller {
  const owns = (caller.grants ?? []).flatMap(({ org, repositories }) => (repositories === null ? [org] : []));
  return { ...caller, scopes: OPERATOR_SCOPES, grants: null, owns };
}

export const NOBODY: ControlCaller = { kind: 'nobody', name: 'nobody', login: null, scopes: [], grants: [] };

/** The rights of a person in one organization, as the forge tells them to that person. */
export interface OrgRights {
  /** Its name as the config writes it. */
  readonly org: string;
  readonly isOwner: boolean;
  /** Those that the person can see, by number. */
  readonly repositories: ReadonlyArray<{
    readonly id: string;
    /** Without its owner; absent = the forge does not say. */
    readonly name?: string | undefined;
    readonly canWrite: boolean;
    /** Units that the person may read (`SEEN_UNITS`); null = all of them. */
    readonly units: readonly string[] | null;
  }>;
}

/**
 * An owner of an organization sees and does everything of it. Who may write to one of its repositories at least sees what concerns the
 * repositories that this person can see, and of each the units that this person can read. Nobody else sees anything.
 */
export function personCaller(
  { forge, login }: { readonly forge: string; readonly login: string },
  rights: readonly OrgRights[],
): ControlCaller {
  const grants = rights.flatMap(({ org, isOwner: owns, repositories }): Grant[] => {
    if (owns) return [{ org, repositories: null, scopes: OPERATOR_SCOPES }];
    if (!repositories.some(({ canWrite }) => canWrite)) return [];
    const seen = repositories.flatMap(({ id, units }) => seenRepository(id, units));
    const names = repositories.flatMap(({ name }) => name ?? []);
    return [{ org, repositories: seen, ...(names.length > 0 ? { names } : {}), scopes: ['read'] }];
  });
  const scopes = OPERATOR_SCOPES.filter((scope) => grants.some((grant) => grant.scopes.includes(scope)));
  return { kind: 'person', name: `person:${login}@${forge}`, login, scopes, grants };
}

/** What the caller may see with this scope. An operation that takes the scope `operate` changes nothing that is not visible with `operate`. */
export function visibilityOf({ grants }: Pick<ControlCaller, 'grants'>, scope: OperatorScope): Visibility {
  if (grants === null) return null;
  return grants.flatMap(({ scopes, ...seen }) => (scopes.includes(scope) ? [seen] : []));
}

/** Different people who could approve now. Two names with one forge account are one person. */
export function approversOf(operators: readonly Operator[], now: Date): number {
  const able = operators.filter(
    (operator) => operator.scopes.includes('approve') && operatorState(operator, now) === 'active',
  );
  return new Set(able.map(({ name, login }) => (login ?? name).toLowerCase())).size;
}
