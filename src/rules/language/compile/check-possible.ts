import { START_TYPES } from '../../../core/event-types.js';
import type { StartKind } from '../../../core/event-kinds.js';
import type { Claim } from '../expression-engine.js';
import type { YamlEntry } from '../load/node.js';
import type { SourceFile } from '../load/source-file.js';
import type { GlobPattern } from '../match/glob.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { Position } from '../../../core/problem.js';
import type { FileContext } from './file-context.js';
import type { ConditionProgram, Expression, StepProgram } from './program.js';
import { compileRegex } from '../expressions/regex.js';
import { tableOf } from '../../../core/table.js';

export interface RuleParts {
  readonly starts: readonly StartKind[];
  readonly where: WhereFilter;
  readonly conditions: readonly ConditionProgram[];
  readonly steps: readonly StepProgram[];
}

/** What can be told before anything runs: filters and conditions that no event could ever pass together. */
export function checkPossible(
  { file }: FileContext,
  { starts: on, where, conditions, steps }: RuleParts,
  keys: ReadonlyMap<string, YamlEntry>,
): void {
  checkKinds(file, on, keys.get('on'));
  if (on.length > 0 && !keys.has('schedule')) checkFilters(file, on, where);
  checkRepositories(file, where);
  for (const { expression } of conditions)
    if (expression.compiled.source.trim() === 'true') file.warnAt(expression.start, 'this always holds', 'take it out');
  const claims = conditions.flatMap(({ expression }) => claimsIn(expression));
  for (const { position, message, isNew } of findImpossible(claims, where)) {
    const hint = 'the rule would never fire; to switch a rule off: disabled: "why"';
    if (isNew) file.newProblemAt(position, message, hint);
    else file.problemAt(position, message, hint);
  }
  for (const step of steps) {
    const own = step.when ? claimsIn(step.when) : [];
    const never = findImpossible([...claims, ...own], where).filter(({ claim }) =>
      own.some((one) => one.claim === claim),
    );
    for (const { position, message, isNew } of never) {
      if (isNew) file.newProblemAt(position, message, 'the step would never be done');
      else file.problemAt(position, message, 'the step would never be done');
    }
  }
}

interface Said {
  readonly claim: Claim;
  readonly position: Position;
}

function claimsIn(expression: Expression): Said[] {
  return (expression.claims ?? []).map((claim) => ({ claim, position: expression.positionOf(claim.offset) }));
}

function checkKinds(file: SourceFile, on: readonly StartKind[], entry: YamlEntry | undefined): void {
  if (!entry) return;
  const nodes = entry.value.kind === 'list' ? entry.value.items : [entry.value];
  for (const kind of on) {
    const type = START_TYPES.get(kind);
    const node = nodes.find((candidate) => candidate.kind === 'scalar' && candidate.value === kind);
    if (!type || !node || type.webhook.length + type.feed.length + type.tasks.length > 0) continue;
    file.problem(node.start, `no source reports ${kind}: the rule would never start`, UNTOLD_HINTS[kind] ?? null);
  }
}

const UNTOLD_HINTS: Partial<Record<StartKind, string>> = {
  'mirror.pushed': 'on: push, with if: has(event.mirror_sync)',
  'mirror.ref_created': 'on: [branch.created, tag.created], with if: has(event.mirror_sync)',
  'mirror.ref_deleted': 'on: [branch.deleted, tag.deleted], with if: has(event.mirror_sync)',
};

/** A filter about something that an event of the kind never has turns each of them away. */
function checkFilters(file: SourceFile, on: readonly StartKind[], where: WhereFilter): void {
  for (const filter of ['branch', 'tag'] as const) {
    if (!where[filter]) continue;
    const lacking = on.filter((kind) => !Object.hasOwn(START_TYPES.get(kind)?.type.fields ?? {}, filter));
    const position = where.positions[filter];
    if (lacking.length > 0 && position)
      file.problemAt(
        position,
        `${lacking.join(', ')} ${lacking.length === 1 ? 'is' : 'are'} about no ${filter}: this filter turns ${lacking.length === 1 ? 'it' : 'them'} away`,
        lacking.length < on.length ? 'make it a rule of its own' : `leave where.${filter} out`,
      );
  }
  const at = where.positions.tag;
  if (where.branch && where.tag && at && on.includes('push'))
    file.newProblemAt(
      at,
      'a push is of a branch or of a tag, never of both: nothing could ever match',
      'make two rules of it',
    );
  const position = where.positions.source;
  if (where.source && where.source.length > 0 && position) {
    const possibleSources = new Set(on.flatMap((kind) => sourcesOf(kind)));
    const missing = where.source.filter((source) => !possibleSources.has(source));
    if (missing.length === where.source.length)
      file.problemAt(
        position,
        `${on.join(', ')} never ${on.length === 1 ? 'comes' : 'come'} by ${missing.join(' or ')}`,
        `it may be: ${[...possibleSources].join(', ')}`,
      );
  }
}

function sourcesOf(kind: StartKind): string[] {
  const type = START_TYPES.get(kind);
  if (!type) return [];
  return (['webhook', 'feed', 'tasks', 'lists'] as const).filter((source) => type[source].length > 0);
}

function checkRepositories(file: SourceFile, where: WhereFilter): void {
  const position = emptied(where);
  if (position)
    file.problemAt(position, 'not_repo leaves out every repository that repo takes: nothing could ever match');
}

/** The same of the subjects of a policy. */
export function checkSubjectsLeft(file: SourceFile, subjects: WhereFilter): void {
  const position = emptied(subjects);
  if (position)
    file.newProblemAt(position, 'not_repos leaves out every repository that repos takes: nothing could ever match');
}

/** Where stands what leaves no repository over; null = some are left. */
function emptied({ repo, notRepo, positions }: WhereFilter): Position | null {
  if (!repo || !notRepo) return null;
  const covered = repo.filter(({ source, literal }) =>
    notRepo.some((out) => out.source === source || (literal !== null && out.matches(literal))),
  );
  return covered.length === repo.length ? (positions.not_repo ?? null) : null;
}

interface Impossible extends Said {
  readonly message: string;
  /** Where the file was active before, it is a warning: the check is newer than others. */
  readonly isNew: boolean;
}

/** Claims that contradict an earlier one, or a filter. */
function findImpossible(claims: readonly Said[], where: WhereFilter): Impossible[] {
  const contradictions: Impossible[] = [];
  const earlier: Said[] = [];
  for (const one of claims) {
    const message = impossibleAlone(one.claim) ?? againstFilter(one.claim, where) ?? againstEarlier(one.claim, earlier);
    if (message !== null) contradictions.push({ ...one, message, isNew: isNew(one.claim, earlier) });
    else earlier.push(one);
  }
  return contradictions;
}

function isNew(claim: Claim, earlier: readonly Said[]): boolean {
  const { path } = claim;
  return (
    TEXT_TESTS.has(claim.operator) ||
    earlier.some(({ claim: one }) => one.path === path && TEXT_TESTS.has(one.operator))
  );
}

function impossibleAlone({ path, value }: Claim): string | null {
  return path === '' && value === false ? 'this is never true' : null;
}

const FLAGS: Readonly<Record<string, 'archived' | 'private' | 'fork'>> = tableOf(
  Object.fromEntries(
    (['archived', 'private', 'fork'] as const).flatMap((flag) =>
      [`repo.${flag}`, `event.repo.${flag}`].map((path) => [path, flag]),
    ),
  ),
);

function againstFilter({ path, operator, value }: Claim, where: WhereFilter): string | null {
  const flag = FLAGS[path];
  if (flag && typeof value === 'boolean' && operator === '==' && where[flag] !== null && where[flag] !== value)
    return `where.${flag} is ${where[flag]}: this can never hold`;
  if (operator !== '==' || typeof value !== 'string') return null;
  const never = (filter: string): string => `where.${filter} never lets "${value}" through: this can never hold`;
  const passes = (patterns: readonly GlobPattern[] | null): boolean =>
    patterns === null || patterns.some((pattern) => pattern.matches(value));
  if (path === 'event.branch' && !passes(where.branch)) return never('branch');
  if (path === 'event.tag' && !passes(where.tag)) return never('tag');
  if (path === 'event.source' && where.source && !where.source.some((source) => source === value))
    return never('source');
  if (path === 'event.actor.login' && where.actor && !where.actorIsBot && !where.botRules && !passes(where.actor))
    return never('actor');
  if (/^(?:event\.)?repo\.full_name$/.test(path) && where.repo) {
    const name = value.split('/').at(-1) ?? value;
    if (!where.repo.some((pattern) => pattern.matches(pattern.source.includes('/') ? value : name)))
      return never('repo');
  }
  return null;
}

function againstEarlier(claim: Claim, earlier: readonly Said[]): string | null {
  const other = earlier.find(
    ({ claim: before }) => before.path === claim.path && before.path !== '' && !canBothHold(before, claim),
  );
  return other
    ? `${claim.path} ${other.claim.operator} ${show(other.claim.value)} must hold as well (line ${other.position.line}): this can never hold`
    : null;
}

function show(value: Claim['value']): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

const TEXT_TESTS = new Set<Claim['operator']>(['startsWith', 'endsWith', 'contains', 'matches']);

/** A text that is told, against what another condition asks of it. */
function textHolds(text: Claim['value'], { operator, value }: Claim): boolean {
  if (typeof text !== 'string' || typeof value !== 'string') return true;
  if (operator === 'startsWith') return text.startsWith(value);
  if (operator === 'endsWith') return text.endsWith(value);
  if (operator === 'contains') return text.includes(value);
  try {
    return compileRegex(value).test(text);
  } catch {
    return true;
  }
}

function canBothHold(a: Claim, b: Claim): boolean {
  if (TEXT_TESTS.has(a.operator)) return b.operator !== '==' || textHolds(b.value, a);
  if (TEXT_TESTS.has(b.operator)) return a.operator !== '==' || textHolds(a.value, b);
  if (a.operator === '==' && b.operator === '==') return same(a.value, b.value);
  if (a.operator === '==' || b.operator === '==') {
    const [exact, other] = a.operator === '==' ? [a, b] : [b, a];
    if (other.operator === '!=') return !same(exact.value, other.value);
    return !isNumber(exact.value) || !isNumber(other.value) || holds(Number(exact.value), other);
  }
  if (!isNumber(a.value) || !isNumber(b.value)) return true;
  const [low, high] = isLower(a) ? [a, b] : [b, a];
  if (!isLower(low) || isLower(high) || a.operator === '!=' || b.operator === '!=') return true;
  const isStrict = low.operator === '>' || high.operator === '<';
  return Number(low.value) < Number(high.value) || (!isStrict && Number(low.value) === Number(high.value));
}

function isLower({ operator }: Claim): boolean {
  return operator === '>' || operator === '>=';
}

function same(a: Claim['value'], b: Claim['value']): boolean {
  return isNumber(a) && isNumber(b) ? Number(a) === Number(b) : a === b;
}

function isNumber(value: Claim['value']): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function holds(value: number, { operator, value: bound }: Claim): boolean {
  const limit = Number(bound);
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    default:
      return true;
  }
}
