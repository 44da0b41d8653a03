import type { NamedKind } from './catalogue.js';
import { itemKey } from './compile/item-positions.js';
import type { ParamProgram, Template } from './compile/program.js';
import { stepsOf } from './load/raised-kinds.js';
import type { GlobPattern } from './match/glob.js';
import type { WhereFilter } from './match/where-filter.js';
import type { CompiledPolicy, CompiledRule } from './revision.js';
import type { Position } from '../../core/problem.js';

/** Something of the forge that the rules name literally. */
export interface LiteralName {
  readonly kind: NamedKind;
  readonly name: string;
  /** Of what repositories have (labels, milestones, branches): those that its rule is about, where all are named literally; null = any. */
  readonly repositories: readonly string[] | null;
  readonly position: Position;
}

/** What repositories have, each for itself. */
const OF_REPOSITORY: ReadonlySet<NamedKind> = new Set(['label', 'milestone', 'branch']);
/** A rule about these waits for a branch that is not there, or was. */
const BRANCH_COMES_AND_GOES = new Set(['branch.created', 'branch.deleted', 'mirror.ref_created', 'mirror.ref_deleted']);
/** Authors that a forge names, and of which it has no account. */
const NO_ACCOUNT = new Set(['bot', 'ghost', 'actions-user', 'gitea-actions', 'forgejo-actions', 'gitea-actions[bot]']);

/** What rules and policies name literally in filters and step parameters. Labels, milestones and branches that the set makes itself are left out. */
export function literalNames(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[],
  org: string,
): LiteralName[] {
  const made = new Map<NamedKind, Set<string>>();
  for (const { action, params } of [...rules, ...policies].flatMap(stepsOf)) {
    const { makes } = action.effect ?? {};
    if (makes) made.set(makes.kind, new Set([...(made.get(makes.kind) ?? []), ...constants(params, makes.param)]));
  }
  const live = [...rules.filter(({ disabled }) => disabled === null), ...policies];
  const names = live.flatMap((one): LiteralName[] => {
    const { program } = one;
    const where = 'subjects' in program ? program.subjects : program.where;
    const steps = 'subjects' in program ? program.fixes.map(({ step }) => step) : program.steps;
    const repositories = where.repo?.map((one) => ownRepository(one, org)) ?? null;
    const literalRepositories = repositories?.every((name) => name !== null) ? repositories : null;
    return [
      ...inFilters(where, org),
      ...('on' in one && !one.on.some((kind) => BRANCH_COMES_AND_GOES.has(kind))
        ? branchesIn(where, literalRepositories)
        : []),
      ...steps.flatMap(({ action, params }) =>
        params.flatMap(({ name: param, template, position }) => {
          const kind = action.params[param]?.refersTo;
          if (kind === undefined) return [];
          return textsOf(template).map((name) => ({
            kind,
            name,
            repositories: OF_REPOSITORY.has(kind) ? literalRepositories : null,
            position,
          }));
        }),
      ),
    ];
  });
  return names.filter(({ kind, name }) => name !== '' && made.get(kind)?.has(name) !== true);
}

function branchesIn({ branch, positions }: WhereFilter, repositories: readonly string[] | null): LiteralName[] {
  return (branch ?? []).flatMap(({ literal, source }) => {
    const position = positions[itemKey('branch', source)] ?? positions['branch'];
    return literal === null || !position ? [] : [{ kind: 'branch', name: literal, repositories, position }];
  });
}

function inFilters(where: WhereFilter, org: string): LiteralName[] {
  const named = (
    kind: NamedKind,
    filter: 'repo' | 'notRepo' | 'actor',
    key: string,
    nameOf: (one: GlobPattern) => string | null,
  ): LiteralName[] => {
    return (where[filter] ?? []).flatMap((one) => {
      const name = nameOf(one);
      const position = where.positions[itemKey(key, one.source)] ?? where.positions[key];
      return name === null || !position ? [] : [{ kind, name, repositories: null, position }];
    });
  };
  return [
    ...named('repository', 'repo', 'repo', (one) => ownRepository(one, org)),
    ...named('repository', 'notRepo', 'not_repo', (one) => ownRepository(one, org)),
    ...named('user', 'actor', 'actor', ({ literal }) => (literal === null || NO_ACCOUNT.has(literal) ? null : literal)),
  ];
}

/** The name without its owner; null = a pattern, or the repository of somebody else. */
function ownRepository({ literal }: GlobPattern, org: string): string | null {
  if (literal === null) return null;
  const [first = '', name] = literal.split('/');
  if (name === undefined) return first;
  return first.toLowerCase() === org.toLowerCase() ? name : null;
}

function constants(params: readonly ParamProgram[], name: string): string[] {
  return params.filter((one) => one.name === name).flatMap(({ template }) => textsOf(template));
}

function textsOf(template: Template): string[] {
  if (template.kind === 'list') return template.items.flatMap(textsOf);
  return template.kind === 'constant' ? [template.value].flat().filter((one) => typeof one === 'string') : [];
}
