import type { YamlEntry } from '../load/node.js';
import type { ReadMap } from '../load/read-map.js';
import type { Text } from '../load/read-shape.js';
import { compileGlob } from '../match/glob.js';
import type { GlobPattern } from '../match/glob.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { Position } from '../../../core/problem.js';
import { checkPattern } from './check-filters.js';
import type { FileContext } from './file-context.js';
import { itemPositions } from './item-positions.js';
import { tableOf } from '../../../core/table.js';

/** Stands for the bot itself, whatever its login. */
const BOT = 'bot';
/** Stands before the id of a rule or policy, for the bot's acts that are its effects. No login has a colon. */
const BOT_OF = 'bot:';

export const NO_FILTER: WhereFilter = {
  repo: null,
  notRepo: null,
  branch: null,
  tag: null,
  pushOf: null,
  actor: null,
  actorIsBot: false,
  botRules: null,
  command: null,
  source: null,
  topics: null,
  archived: null,
  private: null,
  fork: null,
  positions: {},
};

export function compileWhere(context: FileContext, where: ReadMap<'where'>): WhereFilter {
  const patterns = new PatternReader(context, 'where');
  const actors = where.value('actor');
  const people = actors?.filter(({ value }) => value !== BOT && !value.startsWith(BOT_OF)) ?? [];
  const botRules = (actors ?? []).flatMap(({ value }) => (value.startsWith(BOT_OF) ? value.slice(BOT_OF.length) : []));
  return {
    repo: patterns.repositories('repo', where.value('repo')),
    notRepo: patterns.repositories('not_repo', where.value('not_repo')),
    branch: patterns.compile('branch', where.value('branch'), false),
    tag: patterns.compile('tag', where.value('tag'), false),
    pushOf: null,
    topics: patterns.compile('topics', where.value('topics'), true),
    actor: people.length > 0 ? patterns.compile('actor', people, true) : null,
    actorIsBot: actors?.some(({ value }) => value === BOT) ?? false,
    botRules: botRules.length > 0 ? botRules : null,
    command: patterns.compile('command', where.value('command'), true),
    source: where.value('source'),
    archived: where.value('archived'),
    private: where.value('private'),
    fork: where.value('fork'),
    positions: positionsIn(context, where.entries),
  };
}

/** `subjects` of a policy; archived repositories take no writes, so they are left out unless asked for. */
export function compileSubjects(context: FileContext, subjects: ReadMap<'subjects'>): WhereFilter {
  checkSubjects(context, subjects);
  const patterns = new PatternReader(context, 'subjects');
  return {
    ...NO_FILTER,
    repo: patterns.repositories('repos', subjects.value('repos')),
    notRepo: patterns.repositories('not_repos', subjects.value('not_repos')),
    topics: patterns.compile('topics', subjects.value('topics'), true),
    private: subjects.value('private'),
    archived: subjects.value('archived'),
    fork: subjects.value('fork'),
    positions: positionsIn(context, subjects.entries),
  };
}

/** Repositories, or the organization itself: never both. */
function checkSubjects({ file, env }: FileContext, subjects: ReadMap<'subjects'>): void {
  const org = subjects.entries.get('org');
  if (!org) {
    if (!subjects.has('repos'))
      file.problem(
        subjects.start,
        'subjects needs "repos"',
        'repos: ["*"] is every repository; org: NAME is the organization itself',
      );
    return;
  }
  const name = subjects.value('org');
  if (name && name.value.toLowerCase() !== env.org.toLowerCase())
    file.problem(name.start, `subjects.org is "${name.value}", and these are rules of "${env.org}"`);
  if (subjects.entries.size > 1)
    file.problem(org.keyStart, 'subjects.org stands alone: the organization has none of the other filters');
}

class PatternReader {
  constructor(
    readonly context: FileContext,
    readonly what: 'where' | 'subjects',
  ) {}

  compile(key: string, texts: readonly Text[] | null, ignoreCase: boolean): GlobPattern[] | null {
    const { file } = this.context;
    if (texts === null) return null;
    return texts.flatMap((text) => {
      file.charge(text.value.length, text.start);
      try {
        const pattern = compileGlob(text.value, { ignoreCase });
        checkPattern(file, key, text, pattern);
        return [pattern];
      } catch (error) {
        const hint =
          text.value.startsWith('!') && this.what === 'where' ? 'to leave repositories out say not_repo' : undefined;
        file.problem(text.start, (error as Error).message, hint);
        return [];
      }
    });
  }

  /** The forge knows names of owners and repositories without regard to case. */
  repositories(key: string, texts: readonly Text[] | null): GlobPattern[] | null {
    const {
      env: { org },
      file,
    } = this.context;
    for (const text of texts ?? []) {
      const [owner = '', ...rest] = text.value.split('/');
      if (rest.length > 0 && !/[*?[{\\]/.test(owner) && owner.toLowerCase() !== org.toLowerCase()) {
        file.problem(text.start, `${text.value} is not in the organization ${org}`, `its repositories are ${org}/…`);
      }
    }
    return this.compile(key, texts, true);
  }
}

/** Filters of repositories by the names that they have in `where`. */
const FILTER_NAMES: Readonly<Record<string, string>> = tableOf({ repos: 'repo', not_repos: 'not_repo' });

/** By the filter's own name, and of each of its values by `itemKey`. */
function positionsIn({ file }: FileContext, entries: ReadonlyMap<string, YamlEntry>): Record<string, Position> {
  const named = [...entries].map(([key, entry]) => ({ ...entry, key: FILTER_NAMES[key] ?? key }));
  return Object.assign(
    {},
    ...named.map(({ key, value }) => itemPositions(file, key, value)),
    Object.fromEntries(named.map(({ key, keyStart }) => [key, file.position(keyStart)])),
  ) as Record<string, Position>;
}
