import type { ForgeEvent } from '../../../core/event.js';
import { isJsonObject } from '../../../core/json.js';
import { rejectEvent, type MatchContext } from '../match/where-filter.js';
import type { CompiledRule, LookupAnswers, LookupRequest, Revision } from '../revision.js';
import { judgeCommand } from './command-rights.js';
import { NeedsLookup } from './lookups.js';
import { Misfit } from './misfit.js';

export type CommandHelp =
  | { readonly kind: 'needs-lookup'; readonly request: LookupRequest }
  /** Names without the slash, sorted. */
  | { readonly kind: 'decided'; readonly commands: readonly string[] };

/**
 * The commands that whoever wrote a comment may give in its place: those whose filters let such a comment through, and all steps of which its author
 * may do. Conditions are not asked: they may depend on the words behind the command. Pure.
 */
export function commandsFor(
  { rules }: Pick<Revision, 'rules'>,
  event: ForgeEvent,
  context: MatchContext,
  answers: LookupAnswers,
): CommandHelp {
  const commands = new Set<string>();
  try {
    for (const rule of rules)
      for (const name of namesOf(rule)) {
        const commandEvent = saying(event, name);
        if (rejectEvent(rule.program.where, commandEvent, context) === null && mayGive(rule, commandEvent, answers))
          commands.add(name);
      }
  } catch (error) {
    if (error instanceof NeedsLookup) return { kind: 'needs-lookup', request: error.request };
    throw error;
  }
  return { kind: 'decided', commands: [...commands].sort() };
}

/** Of a rule that works; a pattern is no name that somebody could give. */
function namesOf({ mode, disabled, program }: CompiledRule): string[] {
  if (mode === 'shadow' || disabled !== null) return [];
  return (program.where.command ?? []).flatMap(({ literal }) => (literal === null ? [] : [literal]));
}

function mayGive({ program }: CompiledRule, event: ForgeEvent, answers: LookupAnswers): boolean {
  const steps = program.steps.map(({ id, action }, stepNo) => ({ stepId: id, stepNo, action: action.name, items: [] }));
  try {
    return (judgeCommand(program, event, answers, steps)?.refusal ?? null) === null;
  } catch (error) {
    // Whether they wrote the issue is not known: the rule itself will find out.
    if (error instanceof Misfit) return true;
    throw error;
  }
}

/** The same comment with this command. */
function saying(event: ForgeEvent, name: string): ForgeEvent {
  const comment = event.data['comment'] ?? null;
  return {
    ...event,
    data: { ...event.data, comment: { ...(isJsonObject(comment) ? comment : {}), body: `/${name}` } },
  };
}
