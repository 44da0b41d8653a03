import { describeRight, type NeededRight } from '../../core/rights.js';
import { formatPosition } from '../language/propose/misfit.js';
import type { ActionFacts, LookupFacts, Position, Revision, RuleMode } from '../language/revision.js';

/** A rule or policy that cannot work on this forge, or not with this account, with the place of what it needs. */
export interface UnmetRequirement {
  readonly id: string;
  readonly mode: RuleMode;
  readonly position: Position;
  /** The lookup or action that needs it. */
  readonly use: string;
  /** What is needed: operations, or a right. */
  readonly needs: readonly string[];
  /** Why it cannot be had, as the end of a sentence. */
  readonly reason: string;
}

/** What a forge and an account allow; null = as far as is known it can be had, else why not, as the end of a sentence. */
export interface Allowed {
  operation(name: string): string | null;
  right(needed: NeededRight): string | null;
}

interface Need extends Omit<UnmetRequirement, 'needs' | 'reason'> {
  readonly operations: readonly string[];
  readonly instead: readonly string[];
  readonly right: NeededRight | null;
}

type Catalogue = ReadonlyMap<string, Pick<LookupFacts, 'operations' | 'instead'>>;

/** What of a revision cannot work here, in the order of the files. Policies that go by the journal need no list. */
export function unmetRequirements(revision: Revision, lookups: Catalogue, allowed: Allowed): UnmetRequirement[] {
  return needsOf(revision, lookups).flatMap(({ instead, operations, right, ...need }): UnmetRequirement[] => {
    const missing = operations.filter((operation) => allowed.operation(operation) !== null);
    const reason = allowed.operation(missing[0] ?? '') ?? '';
    if (missing.length > 0 && !instead.some((operation) => allowed.operation(operation) === null))
      return [{ ...need, needs: missing, reason }];
    const denied = right && allowed.right(right);
    return right && denied ? [{ ...need, needs: [describeRight(right)], reason: denied }] : [];
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

/** `rules/a.yaml:7:5: notes needs getReleaseByTag for release.by_tag, which this forge does not offer` */
export function formatUnmetRequirement({ id, position, use, needs, reason }: UnmetRequirement): string {
  return `${formatPosition(position)}: ${id} needs ${needs.join(', ')} for ${use}, ${reason}`;
}

function needsOf({ rules, policies }: Revision, lookups: Catalogue): Need[] {
  return [
    ...rules.flatMap(({ id, mode, program }) => [
      ...program.lookups.map(({ use, position }) => read(lookups, { id, mode, use, position })),
      ...program.steps.map(({ action, position }) => act({ id, mode, position }, action)),
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
        ...program.fixes.map(({ step }) => act({ ...whose, position: step.position }, step.action)),
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
  action: Pick<ActionFacts, 'name' | 'requires' | 'right' | 'target' | 'power'>,
): Need {
  const { name, requires = [], right, target, power } = action;
  const needsRight = right !== undefined && target !== 'account' && power === undefined;
  return { ...whose, use: name, operations: requires, instead: [], right: needsRight ? right : null };
}
