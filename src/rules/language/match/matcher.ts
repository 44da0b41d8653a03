import type { EventKind } from '../../../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../../../core/event.js';
import type { CompiledRule, Revision } from '../revision.js';
import { KindIndex } from './kind-index.js';
import { isBot, rejectEvent, rejectRepository } from './where-filter.js';
import type { MatchContext } from './where-filter.js';

export interface Match {
  /** Rules whose `on` and `where` take the event, in the order in which they are written. */
  readonly candidates: CompiledRule[];
  /** How many others there are. */
  readonly rejected: number;
}

interface Matcher {
  match(event: ForgeEvent, context: MatchContext): Match;
}

/** Index a revision once; asking it costs by the rules that could match, not by those that cannot. */
export function createMatcher(revision: Pick<Revision, 'org' | 'rules'>): Matcher {
  const indexes = new Map<EventKind, KindIndex>();
  for (const [order, rule] of revision.rules.entries()) {
    for (const kind of new Set(rule.on)) {
      let index = indexes.get(kind);
      if (!index) indexes.set(kind, (index = new KindIndex(revision.org)));
      index.add(rule, order);
    }
  }
  return {
    match: (event, context) => {
      const byIndex = isStarting(event) ? (indexes.get(event.kind)?.find(event) ?? []) : [];
      const candidates = byIndex.filter((rule) => rejectEvent(rule.program.where, event, context) === null);
      return { candidates, rejected: revision.rules.length - candidates.length };
    },
  };
}

/**
 * Of an event that the bot itself caused: the rules that would take it from anybody else. They were not asked, since none of them says
 * `actor: [bot]`.
 */
export function rulesNotAsked(
  { rules }: Pick<Revision, 'rules'>,
  event: ForgeEvent,
  bot: MatchContext,
): CompiledRule[] {
  if (!isBot(event, bot) || !isStarting(event)) return [];
  return rules.filter(
    ({ on, disabled, program: { where } }) =>
      disabled === null &&
      on.includes(event.kind) &&
      rejectEvent(where, event, bot) !== null &&
      rejectEvent(where, event, ANYBODY) === null,
  );
}

/** For it every act is one of people. */
const ANYBODY: MatchContext = { botLogin: null };

const matchers = new WeakMap<object, Matcher>();

export function matchEvent(revision: Revision, event: ForgeEvent, context: MatchContext): Match {
  let matcher = matchers.get(revision);
  if (!matcher) matchers.set(revision, (matcher = createMatcher(revision)));
  return matcher.match(event, context);
}

/** What a tick of the rule runs about, out of the repositories that are known: those its `where` takes, or the organization once (null). */
export function tickSubjects(rule: CompiledRule, inventory: readonly EventRepository[]): Array<EventRepository | null> {
  if (rule.tickScope === 'organization') return [null];
  return inventory.filter((repo) => rejectRepository(rule.program.where, repo) === null);
}

/** Test calls and what nobody understood are recorded and start nothing. */
export function isStarting({ kind }: ForgeEvent): boolean {
  return kind !== 'hook.tested' && kind !== 'unrecognized';
}
