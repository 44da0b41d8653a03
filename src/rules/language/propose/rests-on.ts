import { isClaimed } from '../../../core/event-knowledge.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { Expression, RuleProgram } from '../compile/program.js';
import type { ProposedStep, Rests } from '../revision.js';
import { expressionsIn } from './expressions-of.js';

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
 * What of an event a decision rests on that gives power: who did it, or that it happened at all. The body of a delivery is a claim about both,
 * so the forge is asked before anything is planned. Null = on neither, or polling read the event from the forge itself. Pure.
 */
export function restsOn(program: RuleProgram, event: ForgeEvent | null, steps: readonly ProposedStep[]): Rests | null {
  if (!event || !isClaimed(event) || steps.length === 0) return null;
  const people = peopleIn(program);
  if (people !== null) return { on: 'actor', people };
  const needsAct = steps.some(({ action }) =>
    program.steps.some((step) => step.action.name === action && step.action.asksAct),
  );
  return needsAct ? { on: 'act', people: [] } : null;
}

const known = new WeakMap<RuleProgram, readonly string[] | null>();

/** The people that filters, conditions and lookups of a rule look at, as paths below `event`; null = at nobody. */
function peopleIn(program: RuleProgram): readonly string[] | null {
  let people = known.get(program);
  if (people === undefined) known.set(program, (people = findPeople(program)));
  return people;
}

function findPeople(program: RuleProgram): readonly string[] | null {
  const { command, actor, actorIsBot, botRules } = program.where;
  const guards = guardsOf(program);
  const named = PEOPLE.filter(
    (path) => (path === 'issue.user' && program.rights === 'author') || guards.some((guard) => reads(guard, path)),
  );
  return command || actor || actorIsBot || botRules || named.length > 0 ? named : null;
}

/** Expressions that decide whether something is done. What only fills in a parameter gives nobody power. */
function guardsOf({ conditions, lookups, steps }: RuleProgram): Expression[] {
  return expressionsIn([conditions, lookups, steps.map(({ when, unless, forEach }) => [when, unless, forEach])]);
}

function reads({ compiled }: Expression, path: string): boolean {
  return compiled.paths.some(({ segments, tested }) => {
    if (segments[0] !== 'event') return false;
    const seen = segments.slice(1).join('.');
    if (`${seen}.`.startsWith(`${path}.`)) return true;
    // Of an object that is handed on whole, or read by a key that only the run tells, any field may be looked at.
    return !tested && (seen === '' || path.startsWith(`${seen}.`));
  });
}
