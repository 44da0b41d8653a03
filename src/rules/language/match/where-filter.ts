import { readCommand } from '../../../core/command.js';
import type { Command } from '../../../core/command.js';
import { isUnknown } from '../../../core/event-knowledge.js';
import { isJsonObject } from '../../../core/json.js';
import type { JsonObject } from '../../../core/json.js';
import type { EventActor, EventRepository, EventSource, ForgeEvent } from '../../../core/event.js';
import type { Position } from '../../../core/problem.js';
import type { GlobPattern } from './glob.js';

/** Identity of the bot's own account at the forge; null while it is not known. */
export interface MatchContext {
  readonly botLogin: string | null;
  readonly botId?: string | null;
  /** Accounts of the bot that work for other organizations: their acts are its own as well. */
  readonly others?: ReadonlyArray<{ readonly id: string | null; readonly login: string }>;
}

/** One compiled `where` (or `subjects`); null = the filter is not set. Patterns of one filter are alternatives. */
export interface WhereFilter {
  readonly repo: readonly GlobPattern[] | null;
  readonly notRepo: readonly GlobPattern[] | null;
  readonly branch: readonly GlobPattern[] | null;
  readonly tag: readonly GlobPattern[] | null;
  /** `push.branch` or `push.tag` stands in `on`, and not both: pushes of the other are turned away. */
  readonly pushOf: 'branch' | 'tag' | null;
  readonly actor: readonly GlobPattern[] | null;
  /** `bot` stands in `actor`: the bot's own events. */
  readonly actorIsBot: boolean;
  /** `bot:RULE` stands in `actor`: the bot's own events that are effects of these rules or policies. */
  readonly botRules: readonly string[] | null;
  /** Names of commands, the first line of a comment. */
  readonly command: readonly GlobPattern[] | null;
  readonly source: readonly EventSource[] | null;
  readonly topics: readonly GlobPattern[] | null;
  readonly archived: boolean | null;
  readonly private: boolean | null;
  readonly fork: boolean | null;
  /** Where each filter stands, by its key. */
  readonly positions: Readonly<Record<string, Position>>;
}

/** Which filter turned an event away, and what it saw. */
export interface Rejection {
  readonly filter: string;
  readonly reason: string;
  readonly position: Position | null;
}

/** The command that an event is; only a new comment can be one, an edited one never. */
export function commandOf({ kind, data }: ForgeEvent): Command | null {
  const comment = kind === 'comment.created' ? data['comment'] : null;
  const body = isJsonObject(comment ?? null) ? (comment as JsonObject)['body'] : null;
  return typeof body === 'string' ? readCommand(body) : null;
}

/** Told of each field that a filter looks at and the event does not know: `branch`, `repo.topics`. */
export type OnUnknown = (path: string, filter: string) => void;
const nobody: OnUnknown = () => undefined;

/**
 * A filter that looks at what the event does not know turns nothing away: the rule decides when it is known.
 * @returns null when the event passes, or may
 */
export function rejectEvent(
  where: WhereFilter,
  event: ForgeEvent,
  context: MatchContext,
  onUnknown: OnUnknown = nobody,
): Rejection | null {
  return (
    rejectPush(where, event) ??
    rejectActor(where, event, context, onUnknown) ??
    rejectRepository(where, event.repo, { event, onUnknown }) ??
    rejectNames(where, event, onUnknown)
  );
}

/** Filters that only look at the repository: the whole of `where` on a tick, and `subjects`. */
export function rejectRepository(
  where: WhereFilter,
  repo: EventRepository | null,
  of: { readonly event: ForgeEvent; readonly onUnknown: OnUnknown } | null = null,
): Rejection | null {
  const isOpen = (filter: string): boolean => {
    const path = `repo.${filter}`;
    if (!of || !isUnknown(of.event, path)) return false;
    of.onUnknown(path, filter);
    return true;
  };
  if (where.repo && !(repo && where.repo.some((pattern) => matchesRepository(pattern, repo)))) {
    const { repo: repoPatterns } = where;
    return rejectSaying(where, 'repo', () =>
      repo ? `repository ${repo.full_name} is none of ${fullNames(repoPatterns, repo)}` : 'it has no repository',
    );
  }
  const excluded = repo && where.notRepo?.find((pattern) => matchesRepository(pattern, repo));
  if (excluded)
    return reject(where, 'not_repo', `repository ${repo.full_name} is left out by ${fullNames([excluded], repo)}`);
  for (const flag of ['archived', 'private', 'fork'] as const) {
    const wanted = where[flag];
    if (wanted === null) continue;
    const seen = repo?.[flag];
    if (seen === undefined && isOpen(flag)) continue;
    if (seen !== wanted)
      return reject(
        where,
        flag,
        seen === undefined
          ? `the event does not say whether the repository is ${flag}`
          : `the repository is ${seen ? '' : 'not '}${flag}`,
      );
  }
  if (where.topics && !repo?.topics && isOpen('topics')) return null;
  if (where.topics && !where.topics.some((pattern) => repo?.topics?.some((topic) => pattern.matches(topic)))) {
    return reject(where, 'topics', `the repository has none of the topics ${list(where.topics)}`);
  }
  return null;
}

function rejectActor(
  where: WhereFilter,
  event: ForgeEvent,
  context: MatchContext,
  onUnknown: OnUnknown,
): Rejection | null {
  if (isBot(event, context)) return rejectBot(where, event);
  if (!where.actor && !where.actorIsBot && !where.botRules) return null;
  const login = event.actor?.login;
  // Anybody, or the bot: whoever it was.
  if (login === undefined && where.actorIsBot && where.actor?.some(({ source }) => source === '*')) return null;
  if (login === undefined && isUnknown(event, 'actor')) {
    onUnknown('actor', 'actor');
    return null;
  }
  if (login !== undefined && where.actor?.some((pattern) => pattern.matches(login))) return null;
  return reject(
    where,
    'actor',
    login === undefined ? 'the event does not say who did it' : `${login} is none of the actors asked for`,
  );
}

function rejectBot(where: WhereFilter, { byRule = null }: ForgeEvent): Rejection | null {
  const { actorIsBot, botRules } = where;
  if (actorIsBot || (byRule !== null && botRules?.includes(byRule))) return null;
  if (!botRules) return reject(where, 'actor', "it is the bot's own act (only where: {actor: [bot]} takes those)");
  const whose = byRule === null ? 'and of which rule is not known' : `of ${byRule}`;
  return reject(where, 'actor', `it is the bot's own act, ${whose}; taken are those of ${botRules.join(', ')}`);
}

/** The account is told by its id; its login may change, and some arrivals tell only that. */
export function isBot({ actor }: ForgeEvent, { botLogin, botId, others = [] }: MatchContext): boolean {
  if (!actor) return false;
  return isAccount(actor, botId ?? null, botLogin) || others.some(({ id, login }) => isAccount(actor, id, login));
}

function isAccount(actor: EventActor, id: string | null, login: string | null): boolean {
  if (id !== null && actor.id !== '') return actor.id === id;
  return login !== null && actor.login.toLowerCase() === login.toLowerCase();
}

/** A push of what `on` does not name. */
export function rejectPush(where: WhereFilter, { kind, data }: ForgeEvent): Rejection | null {
  const { pushOf } = where;
  if (pushOf === null || kind !== 'push' || typeof data[pushOf] === 'string') return null;
  return reject(where, 'on', `it is a push of a ${pushOf === 'branch' ? 'tag' : 'branch'}`);
}

function rejectNames(where: WhereFilter, event: ForgeEvent, onUnknown: OnUnknown): Rejection | null {
  for (const filter of ['branch', 'tag'] as const) {
    const patterns = where[filter];
    if (!patterns) continue;
    const name = event.data[filter];
    if (name === undefined && isUnknown(event, filter)) {
      onUnknown(filter, filter);
      continue;
    }
    if (typeof name !== 'string') return reject(where, filter, `it is about no ${filter}`);
    if (!patterns.some((pattern) => pattern.matches(name)))
      return rejectSaying(where, filter, () => `${filter} ${name} is none of ${list(patterns)}`);
  }
  if (where.command) {
    const { command: commandPatterns } = where;
    const name = commandOf(event)?.name;
    if (name === undefined)
      return reject(where, 'command', 'it is no command (the first line of a new comment, such as /label bug)');
    if (!commandPatterns.some((pattern) => pattern.matches(name)))
      return rejectSaying(where, 'command', () => `command /${name} is none of ${list(commandPatterns)}`);
  }
  if (where.source && !where.source.includes(event.source))
    return reject(where, 'source', `it came by ${event.source}`);
  return null;
}

/** A pattern without a slash is about the repository's name alone. */
export function matchesRepository(pattern: GlobPattern, repo: EventRepository): boolean {
  return pattern.matches(pattern.source.includes('/') ? repo.full_name : repo.name);
}

function reject(where: WhereFilter, filter: string, reason: string): Rejection {
  return { filter, reason, position: where.positions[filter] ?? null };
}

/** For reasons that are long to say: most rejections are only counted. */
class SaidLater implements Rejection {
  constructor(
    readonly filter: string,
    readonly position: Position | null,
    private readonly say: () => string,
  ) {}

  get reason(): string {
    return this.say();
  }
}

function rejectSaying(where: WhereFilter, filter: string, say: () => string): Rejection {
  return new SaidLater(filter, where.positions[filter] ?? null, say);
}

/** With the owner, so that who may not see a repository is not told its name: names are known by it (`hideNames`). */
function fullNames(patterns: readonly GlobPattern[], { owner }: EventRepository): string {
  return patterns.map(({ source }) => (source.includes('/') ? source : `${owner}/${source}`)).join(', ');
}

function list(patterns: readonly GlobPattern[]): string {
  return patterns.map(({ source }) => source).join(', ');
}
