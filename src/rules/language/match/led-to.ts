import type { EventKind } from '../../../core/event-kinds.js';
import type { CompiledPolicy, CompiledRule, Revision } from '../revision.js';
import type { ActionFacts } from '../catalogue.js';

/** Runs and jobs that a poll finds do not tell who started them: whoever asks for no actor takes those of the bot too. */
export const WITHOUT_ACTOR = /^(?:workflow|task)\./;

/**
 * Rules and policies that the effects of one may start, directly or through others. Only kinds of events are compared; filters and conditions
 * count as passed. What is not in here is never started by it.
 */
export function ledToBy({ rules, policies }: Pick<Revision, 'rules' | 'policies'>, id: string): ReadonlySet<string> {
  const owners = [...rules, ...policies];
  const reachable = new Set<string>();
  const open = owners.filter((one) => one.id === id);
  for (let from = open.pop(); from; from = open.pop()) {
    const actions = actionsOf(from);
    for (const to of owners) {
      if (to.mode !== 'live' || reachable.has(to.id) || !actions.some((action) => mayStart(from.id, action, to)))
        continue;
      reachable.add(to.id);
      open.push(to);
    }
  }
  return reachable;
}

/** Actions of all steps of a rule, or of all sections of a policy. */
function actionsOf({ program }: CompiledRule | CompiledPolicy): ActionFacts[] {
  return 'steps' in program
    ? program.steps.map(({ action }) => action)
    : [...program.parts.map(({ action }) => action), ...program.fixes.map(({ step }) => step.action)];
}

function mayStart(from: string, { raises = [], effect }: ActionFacts, to: CompiledRule | CompiledPolicy): boolean {
  if (!('on' in to)) return effect?.makesRepository === true || raises.some((kind) => kind.startsWith('repository.'));
  return raises.some((kind) => to.on.includes(kind) && takesOurs(from, to, kind));
}

function takesOurs(from: string, { program: { where } }: CompiledRule, kind: EventKind): boolean {
  if (where.actorIsBot || where.botRules?.includes(from)) return true;
  return where.botRules === null && where.actor === null && WITHOUT_ACTOR.test(kind);
}
