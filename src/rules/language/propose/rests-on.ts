import { isClaimed } from '../../../core/event-knowledge.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { Expression, RuleProgram } from '../compile/program.js';
import type { ProposedStep, Rests } from '../revision.js';
import type { Position } from '../../../core/problem.js';
import { expressionsIn, expressionsOf } from './expressions-of.js';

/** Fields of an event that name a person who did or wrote something, below `event`. */
const PEOPLE = [
  'actor',
  'comment.user',
  'fork.owner',
  'issue.user',
  'package.creator',
  'pull_request.merged_by',
  'pull_request.user',
  'pusher',
  'release.author',
  'review.user',
  'run.actor',
  'run.trigger_actor',
  'status.creator',
] as const;

/**
 * What of an event a decision rests on that gives power: who did it, or that it happened at all. The body of a delivery is a claim about both, and about
 * everything else, so the forge is asked about all that the rule reads before anything is planned. Null = on neither. Pure.
 */
export function restsOn(program: RuleProgram, event: ForgeEvent | null, steps: readonly ProposedStep[]): Rests | null {
  if (steps.length === 0) return null;
  const actions = new Set(steps.map(({ action }) => action));
  return restsOf(program, event, ({ name }) => actions.has(name));
}

/** The same before it is known what a rule will do: what is asked with forged values must not decide. */
export function mayRestOn(program: RuleProgram, event: ForgeEvent | null): Rests | null {
  return restsOf(program, event, () => true);
}

/**
 * The same of one that does not fire, where it reads what the bot works out of earlier deliveries: a lie among them must not keep it from firing. What
 * polling read tells nothing of that kind.
 */
export function restsOnMemory(program: RuleProgram, event: ForgeEvent | null): Rests | null {
  if (!event || !isClaimed(event) || !readsOf(program).some(({ path }) => /^derived(?:\.|$)/.test(path))) return null;
  return mayRestOn(program, event);
}

function restsOf(
  program: RuleProgram,
  event: ForgeEvent | null,
  isDone: (action: RuleProgram['steps'][number]['action']) => boolean,
): Rests | null {
  if (!event) return null;
  const isAct = program.steps.some(({ action }) => action.asksAct && isDone(action));
  const on = dependsOnActor(program) ? 'actor' : isAct ? 'act' : null;
  return on === null ? null : { on, reads: readsOf(program).map(({ path }) => path) };
}

/** Whether a decision of the rule may rest on who did something, or on that it was done. */
export function needsProof(program: RuleProgram): boolean {
  return dependsOnActor(program) || program.steps.some(({ action }) => action.asksAct);
}

const depending = new WeakMap<RuleProgram, boolean>();

/** Whether filters, conditions or lookups of a rule look at a person. */
function dependsOnActor(program: RuleProgram): boolean {
  let depends = depending.get(program);
  if (depends === undefined) depending.set(program, (depends = looksAtPeople(program)));
  return depends;
}

function looksAtPeople(program: RuleProgram): boolean {
  const { command, actor, actorIsBot, botRules } = program.where;
  if (command || actor || actorIsBot || botRules || program.rights === 'author') return true;
  const guards = guardsOf(program);
  return PEOPLE.some((path) => guards.some((guard) => looksAt(guard, path)));
}

/** Expressions that decide whether something is done. What only fills in a parameter gives nobody power. */
function guardsOf({ conditions, lookups, steps }: RuleProgram): Expression[] {
  return expressionsIn([conditions, lookups, steps.map(({ when, unless, forEach }) => [when, unless, forEach])]);
}

function looksAt({ compiled }: Expression, path: string): boolean {
  return compiled.paths.some(({ segments, tested }) => {
    if (segments[0] !== 'event') return false;
    const seen = segments.slice(1).join('.');
    if (`${seen}.`.startsWith(`${path}.`)) return true;
    // Of an object that is handed on whole, or read by a key that only the run tells, any field may be looked at.
    return !tested && (seen === '' || path.startsWith(`${seen}.`));
  });
}

/** Something of the event that a rule reads. */
export interface EventRead {
  /** Below `event`; empty = all of it. */
  readonly path: string;
  /** Where it stands. */
  readonly position: Position | null;
}

const cache = new WeakMap<RuleProgram, readonly EventRead[]>();

/** All that a rule reads of its event, to decide or to fill in. */
export function readsOf(program: RuleProgram): readonly EventRead[] {
  let reads = cache.get(program);
  if (!reads) {
    const all = [...readsOfFilters(program.where), ...readsOfExpressions(program)];
    if (program.rights === 'author') all.push({ path: 'issue.user', position: null });
    const byPath = new Map(all.toReversed().map((read) => [read.path, read]));
    cache.set(program, (reads = [...byPath.values()].toReversed()));
  }
  return reads;
}

function readsOfExpressions(program: RuleProgram): EventRead[] {
  return expressionsOf(program).flatMap(({ expression }) =>
    expression.compiled.paths.flatMap(({ segments, offset }) => {
      const [root, ...below] = segments;
      const path = root === 'event' ? below : root === 'repo' ? segments : null;
      return path ? [{ path: path.join('.'), position: expression.positionOf(offset) }] : [];
    }),
  );
}

/** What each filter looks at; `actor` is confirmed in any case. */
const READS_OF_FILTERS = {
  repo: ['repo.full_name', 'repo.name'],
  notRepo: ['repo.full_name', 'repo.name'],
  branch: ['branch'],
  tag: ['tag'],
  pushOf: ['branch', 'tag'],
  command: ['comment.body'],
  topics: ['repo.topics'],
  archived: ['repo.archived'],
  private: ['repo.private'],
  fork: ['repo.fork'],
} as const satisfies Partial<Record<keyof WhereFilter, readonly string[]>>;

function readsOfFilters(where: WhereFilter): EventRead[] {
  return Object.entries(READS_OF_FILTERS).flatMap(([filter, paths]) =>
    where[filter as keyof typeof READS_OF_FILTERS] === null
      ? []
      : paths.map((path) => ({ path, position: where.positions[filter === 'notRepo' ? 'not_repo' : filter] ?? null })),
  );
}
