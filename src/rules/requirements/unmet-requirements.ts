import { defineReasons, type Reason } from '../../core/reason.js';
import { describeRight, type NeededRight } from '../../core/rights.js';
import { isGiven, type ParamProgram } from '../language/compile/program.js';
import { formatPosition } from '../language/propose/misfit.js';
import type { Revision, RuleMode } from '../language/revision.js';
import type { ActionFacts, LookupFacts } from '../language/catalogue.js';
import type { Position } from '../../core/problem.js';

/** A rule or policy that cannot work on this forge, or not with this account, with the place of what it needs. */
export interface UnmetRequirement {
  readonly id: string;
  readonly mode: RuleMode;
  readonly position: Position;
  /** The lookup or action that needs it. */
  readonly use: string;
  /** What is needed (operations, or a right), and why it cannot be had. */
  readonly reason: Reason<UnmetCode>;
}

/** Why something cannot be had: the forge has no such operation, the token no such scope, the account no such right. */
export type Unmet = { readonly is: 'not-offered' | 'scope' | 'right'; readonly detail: string };

const UNMET_CODES = ['requirement.not-offered', 'requirement.scope', 'requirement.right'] as const;
export type UnmetCode = (typeof UNMET_CODES)[number];

interface UnmetParams {
  readonly at: string;
  readonly id: string;
  readonly needs: readonly string[];
  readonly use: string;
  /** The scope that the token lacks, or the rights that the account has. */
  readonly detail: string;
}

const unmet = defineReasons({
  'requirement.not-offered': (params: UnmetParams) => `${need(params)}, which this forge does not offer`,
  'requirement.scope': (params: UnmetParams) => `${need(params)}, for which the token lacks ${params.detail}`,
  'requirement.right': (params: UnmetParams) =>
    `${need(params)}, which the bot does not have: its account ${params.detail}`,
});

export function isUnmet(reason: Reason): reason is Reason<UnmetCode> {
  return (UNMET_CODES as readonly string[]).includes(reason.code);
}

/** What a forge and an account allow; null = as far as is known it can be had. */
export interface Allowed {
  operation(name: string): Unmet | null;
  right(needed: NeededRight): Unmet | null;
}

interface Need extends Omit<UnmetRequirement, 'reason'> {
  readonly operations: readonly string[];
  readonly instead: readonly string[];
  readonly right: NeededRight | null;
}

type Catalogue = ReadonlyMap<string, Pick<LookupFacts, 'operations' | 'instead'>>;

/** What of a revision cannot work here, in the order of the files. Policies that go by the journal need no list. */
export function unmetRequirements(revision: Revision, lookups: Catalogue, allowed: Allowed): UnmetRequirement[] {
  return needsOf(revision, lookups).flatMap(({ instead, operations, right, ...need }): UnmetRequirement[] => {
    const missing = operations.filter((operation) => allowed.operation(operation) !== null);
    const lacks = allowed.operation(missing[0] ?? '');
    if (lacks && !instead.some((operation) => allowed.operation(operation) === null))
      return [{ ...need, reason: reasonOf(need, missing, lacks) }];
    const denied = right && allowed.right(right);
    return right && denied ? [{ ...need, reason: reasonOf(need, [describeRight(right)], denied) }] : [];
  });
}

/** Every operation that a revision's lookups, actions and policies cannot do without, and those that would do instead. */
export function neededOperations(revision: Revision, lookups: Catalogue): string[] {
  return [
    ...new Set(needsOf(revision, lookups).flatMap(({ operations, instead }) => [...operations, ...instead])),
  ].sort();
}

/** Every right that its actions need in the organization. */
export function neededRights(revision: Revision, lookups: Catalogue): NeededRight[] {
  return needsOf(revision, lookups).flatMap(({ right }) => right ?? []);
}

function reasonOf(
  { id, position, use }: Pick<Need, 'id' | 'position' | 'use'>,
  needs: readonly string[],
  { is, detail }: Unmet,
): Reason<UnmetCode> {
  return unmet(`requirement.${is}`, { at: formatPosition(position), id, needs, use, detail });
}

/** `rules/a.yaml:7:5: notes needs getReleaseByTag for release.by_tag` */
function need({ at, id, needs, use }: UnmetParams): string {
  return `${at}: ${id} needs ${needs.join(', ')} for ${use}`;
}

/** A rule that is switched off needs nothing. */
function needsOf({ rules, policies }: Revision, lookups: Catalogue): Need[] {
  return [
    ...rules
      .filter(({ disabled }) => disabled === null)
      .flatMap(({ id, mode, program }) => [
        ...program.lookups.map(({ use, position }) => read(lookups, { id, mode, use, position })),
        ...program.steps.map(({ action, position, params }) => act({ id, mode, position }, action, params)),
      ]),
    ...policies.flatMap(({ id, mode, position, program }) => {
      const whose = { id, mode, position };
      return [
        ...program.parts.flatMap(({ lookup, action }) => [
          ...(program.assumeAbsent || !lookup ? [] : [read(lookups, { ...whose, use: lookup.use })]),
          act(whose, action),
        ]),
        ...(program.protections.length > 0 ? [read(lookups, { ...whose, use: 'protection.get' })] : []),
        ...program.lookups.map(({ use, position: at }) => read(lookups, { ...whose, use, position: at })),
        ...program.fixes.map(({ step }) => act({ ...whose, position: step.position }, step.action, step.params)),
      ];
    }),
  ];
}

function read(lookups: Catalogue, whose: Pick<Need, 'id' | 'mode' | 'use' | 'position'>): Need {
  const { operations = [], instead = [] } = lookups.get(whose.use) ?? {};
  return { ...whose, operations, instead, right: null };
}

/** On its own account the bot needs no right of anybody; a power is the operator's to give. */
function act(
  whose: Pick<Need, 'id' | 'mode' | 'position'>,
  action: Pick<ActionFacts, 'name' | 'requires' | 'requiresWith' | 'right' | 'target' | 'power'>,
  params: readonly ParamProgram[] = [],
): Need {
  const { name, requires = [], requiresWith, right, target, power } = action;
  const further = requiresWith && isGiven(params, requiresWith.param) ? requiresWith.operations : [];
  const needsRight = right !== undefined && target !== 'account' && power === undefined;
  return { ...whose, use: name, operations: [...requires, ...further], instead: [], right: needsRight ? right : null };
}
