import { formatPosition } from '../rules/propose/misfit.js';
import type { LookupFacts, Position, Revision } from '../rules/revision.js';

/** A rule or policy that cannot work on this forge, with the place of what it needs. */
export interface Lacking {
  readonly id: string;
  readonly position: Position;
  /** The lookup or action, and what it would have to call. */
  readonly use: string;
  readonly operations: readonly string[];
}

interface Need extends Omit<Lacking, 'operations'> {
  readonly operations: readonly string[];
  readonly instead: readonly string[];
}

type Catalogue = ReadonlyMap<string, Pick<LookupFacts, 'operations' | 'instead'>>;

/** What of a revision this forge cannot do, in the order of the files. Policies that go by the journal need no list. */
export function lackingOperations(revision: Revision, lookups: Catalogue, offers: (operation: string) => boolean): Lacking[] {
  return needsOf(revision, lookups).flatMap(({ instead, operations, ...need }): Lacking[] => {
    const missing = operations.filter((operation) => !offers(operation));
    return missing.length === 0 || instead.some(offers) ? [] : [{ ...need, operations: missing }];
  });
}

/** Every operation that a revision's lookups, actions and policies cannot do without, and those that would do instead. */
export function neededOperations(revision: Revision, lookups: Catalogue): string[] {
  return [...new Set(needsOf(revision, lookups).flatMap(({ operations, instead }) => [...operations, ...instead]))].sort();
}

/** `rules/a.yaml:7:5: notes needs getReleaseByTag for release.by_tag, which this forge does not offer` */
export function formatLacking({ id, position, use, operations }: Lacking): string {
  return `${formatPosition(position)}: ${id} needs ${operations.join(', ')} for ${use}, which this forge does not offer`;
}

function needsOf({ rules, policies }: Revision, lookups: Catalogue): Need[] {
  const read = (id: string, use: string, position: Position): Need => {
    const { operations = [], instead = [] } = lookups.get(use) ?? {};
    return { id, use, position, operations, instead };
  };
  const ofRules = rules.flatMap(({ id, program }) => [
    ...program.lookups.map(({ use, position }) => read(id, use, position)),
    ...program.steps.map(({ action, position }): Need => ({ id, use: action.name, position, operations: action.requires ?? [], instead: [] })),
  ]);
  const ofPolicies = policies.flatMap(({ id, position, program }) => [
    ...program.parts.flatMap(({ lookup, action }): Need[] => [
      ...(program.assumeAbsent || !lookup ? [] : [read(id, lookup.use, position)]),
      { id, use: action.name, position, operations: action.requires ?? [], instead: [] },
    ]),
    ...(program.protections.length > 0 ? [read(id, 'protection.get', position)] : []),
    ...program.lookups.map(({ use, position: at }) => read(id, use, at)),
    ...program.fixes.map(({ step }): Need => ({ id, use: step.action.name, position: step.position, operations: step.action.requires ?? [], instead: [] })),
  ]);
  return [...ofRules, ...ofPolicies];
}
