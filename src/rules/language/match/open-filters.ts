import { learnedOf, unknownFields } from '../../../core/event-knowledge.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { Position } from '../../../core/problem.js';
import { rejectEvent, type MatchContext, type Rejection, type WhereFilter } from './where-filter.js';

/** What the filters say of an event that did not know everything when rules were looked for. */
export interface FilterVerdict {
  /** The filter that turns the event away by what it knows now; null = none does. */
  readonly rejection: Rejection | null;
  /** Fields that filters look at and the event does not know, with the place of the filter. */
  readonly unknown: ReadonlyArray<{ readonly path: string; readonly position: Position | null }>;
}

const PASSES: FilterVerdict = { rejection: null, unknown: [] };

/** The filters once more, where they saw less of the event, or see less than they look at. Pure. */
export function judgeFilters(where: WhereFilter, event: ForgeEvent | null, context: MatchContext): FilterVerdict {
  if (!event) return PASSES;
  const learned = learnedOf(event.data);
  if (learned.size === 0 && unknownFields(event).size === 0) return PASSES;
  const unknown: Array<FilterVerdict['unknown'][number]> = [];
  // Whose act it is was looked at with all that the journal knows of it, unless nobody knew who did it.
  const isSettled = event.actor !== null && !learned.has('actor');
  const [filters, bot] = isSettled ? [forAnybody(where), NOBODY] : [where, context];
  const rejection = rejectEvent(filters, event, bot, (path, filter) =>
    unknown.push({ path: `event.${path}`, position: where.positions[filter] ?? null }),
  );
  return { rejection, unknown: rejection ? [] : unknown };
}

const NOBODY: MatchContext = { botLogin: null };
const withoutActor = new WeakMap<WhereFilter, WhereFilter>();

function forAnybody(where: WhereFilter): WhereFilter {
  let filters = withoutActor.get(where);
  if (!filters) withoutActor.set(where, (filters = { ...where, actor: null, actorIsBot: false, botRules: null }));
  return filters;
}
