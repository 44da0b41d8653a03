import { nearestWord } from '../../../core/did-you-mean.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { Json } from '../../../core/json.js';
import { NO_FILTER } from '../compile/compile-where.js';
import { itemKey } from '../compile/item-positions.js';
import type { CompiledRule } from '../revision.js';
import type { Position } from '../../../core/problem.js';
import { isStarting } from './matcher.js';
import { commandOf, isBot, matchesRepository, rejectEvent, rejectPush } from './where-filter.js';
import type { MatchContext, Rejection, WhereFilter } from './where-filter.js';

/** A filter that turned an event away: what it asks for, and what it saw. */
export interface FilterRejection extends Rejection {
  /** Its patterns, or the flag. */
  readonly wanted: Json;
  readonly seen: Json;
}

type Filter = Exclude<keyof WhereFilter, 'positions' | 'actorIsBot' | 'botRules' | 'pushOf'>;

/** In the order in which they are asked; with the key under `where`. */
const FILTERS: ReadonlyArray<readonly [Filter, string]> = [
  ['actor', 'actor'],
  ['repo', 'repo'],
  ['notRepo', 'not_repo'],
  ['archived', 'archived'],
  ['private', 'private'],
  ['fork', 'fork'],
  ['topics', 'topics'],
  ['branch', 'branch'],
  ['tag', 'tag'],
  ['command', 'command'],
  ['source', 'source'],
];
const NOBODY: MatchContext = { botLogin: null, botId: null };

/** Every filter that turns the event away, each for itself, with a sentence and its place; where the kind of event is wrong, that alone. */
export function explainRejections(rule: CompiledRule, event: ForgeEvent, context: MatchContext): FilterRejection[] {
  const kind = rejectKind(rule, event);
  if (kind) return [kind];
  const { where } = rule.program;
  return FILTERS.flatMap(([filter, key]) => {
    const rejection = rejectBy(filter, where, event, context);
    if (!rejection) return [];
    const description = describe(filter, key, where, event, context);
    return [
      {
        ...description,
        reason: rejection.reason,
        position: placeOf(description, where, rejection.position ?? rule.position),
      },
    ];
  });
}

function rejectKind(rule: CompiledRule, event: ForgeEvent): FilterRejection | null {
  const { positions, pushOf } = rule.program.where;
  const starts = rule.on.map((kind) => (kind === 'push' && pushOf ? `push.${pushOf}` : kind));
  const base = { filter: 'on', wanted: starts, seen: event.kind, position: positions['on'] ?? rule.position };
  if (!isStarting(event)) return { ...base, reason: `${event.kind} starts no rule` };
  if (rule.disabled !== null)
    return {
      filter: 'disabled',
      wanted: rule.disabled,
      seen: event.kind,
      position: positions['disabled'] ?? rule.position,
      reason: `the rule is disabled: ${rule.disabled}`,
    };
  const otherPush = rejectPush(rule.program.where, event);
  if (otherPush) return { ...base, reason: otherPush.reason };
  if (rule.on.includes(event.kind)) return null;
  if (rule.on.length === 0)
    return { ...base, reason: 'the rule runs on its schedule alone', position: positions['schedule'] ?? rule.position };
  const rejection = { ...base, reason: `${event.kind} is none of ${starts.join(', ')}` };
  return { ...rejection, position: placeOf(rejection, rule.program.where, base.position) };
}

/** One filter alone, as if no other were written. */
function rejectBy(filter: Filter, where: WhereFilter, event: ForgeEvent, context: MatchContext): Rejection | null {
  const alone: WhereFilter = { ...NO_FILTER, [filter]: where[filter], positions: where.positions };
  return filter === 'actor'
    ? rejectEvent({ ...alone, actorIsBot: where.actorIsBot, botRules: where.botRules }, event, context)
    : rejectEvent(alone, event, NOBODY);
}

function describe(
  filter: Filter,
  key: string,
  where: WhereFilter,
  event: ForgeEvent,
  context: MatchContext,
): { filter: string; wanted: Json; seen: Json } {
  const { repo } = event;
  const filterValue = where[filter];
  const wanted = Array.isArray(filterValue)
    ? filterValue.map((pattern: string | { source: string }) =>
        typeof pattern === 'string' ? pattern : pattern.source,
      )
    : filterValue;
  switch (filter) {
    case 'actor': {
      const all = [...((wanted as string[] | null) ?? []), ...(where.actorIsBot ? ['bot'] : [])];
      all.push(...(where.botRules ?? []).map((rule) => `bot:${rule}`));
      const login = event.actor?.login ?? null;
      return {
        filter: key,
        wanted: all.length > 0 ? all : 'anybody but the bot',
        seen:
          login !== null && isBot(event, context)
            ? `${login} (the bot${event.byRule ? `, for ${event.byRule}` : ''})`
            : login,
      };
    }
    case 'notRepo': {
      // Only the patterns that leave it out; the others are no reason.
      const excluding = repo ? (where.notRepo ?? []).filter((pattern) => matchesRepository(pattern, repo)) : [];
      return { filter: key, wanted: excluding.map(({ source }) => source), seen: repo?.full_name ?? null };
    }
    case 'repo':
      return { filter: key, wanted: wanted as Json, seen: repo?.full_name ?? null };
    case 'topics':
      return { filter: key, wanted: wanted as Json, seen: repo?.topics ?? null };
    case 'source':
      return { filter: key, wanted: wanted as Json, seen: event.source };
    case 'command':
      return { filter: key, wanted: wanted as Json, seen: commandOf(event)?.name ?? null };
    case 'branch':
    case 'tag':
      return { filter: key, wanted: wanted as Json, seen: event.data[key] ?? null };
    case 'archived':
    case 'private':
    case 'fork':
      return { filter: key, wanted: wanted as Json, seen: repo?.[filter] ?? null };
  }
}

/** Of several patterns, that one is pointed at which is most like what was seen. */
function placeOf(
  { filter, wanted, seen }: Pick<FilterRejection, 'filter' | 'wanted' | 'seen'>,
  { positions }: WhereFilter,
  otherwise: Position,
): Position {
  const patterns = Array.isArray(wanted) ? wanted.map(String) : [];
  const words = (Array.isArray(seen) ? seen : [seen]).map(String);
  // A pattern for repositories names the owner too, or not.
  const nearest = nearestWord([...words, ...words.map((word) => word.slice(word.indexOf('/') + 1))], patterns);
  return (nearest !== null ? positions[itemKey(filter, nearest)] : undefined) ?? otherwise;
}
