import type { YamlEntry, YamlNode, YamlScalar } from '../load/node.js';
import { readBoolean, readChoice, readMap, readText, readTexts } from '../load/read-shape.js';
import type { Keys } from '../load/read-shape.js';
import { compileGlob } from '../match/glob.js';
import type { GlobPattern } from '../match/glob.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { Position } from '../revision.js';
import { checkPattern } from './check-filters.js';
import type { FileContext } from './file-context.js';
import { itemPositions } from './item-positions.js';
import { tableOf } from '../../../core/table.js';

const WHERE_KEYS: Keys = {
  repo: 'optional',
  not_repo: 'optional',
  branch: 'optional',
  tag: 'optional',
  actor: 'optional',
  command: 'optional',
  source: 'optional',
  archived: 'optional',
  private: 'optional',
  fork: 'optional',
  topics: 'optional',
};
const SUBJECT_KEYS: Keys = {
  repos: 'optional',
  org: 'optional',
  not_repos: 'optional',
  private: 'optional',
  archived: 'optional',
  fork: 'optional',
  topics: 'optional',
};
const SOURCES = ['webhook', 'feed', 'tasks', 'lists'] as const;
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

export function compileWhere(context: FileContext, node: YamlNode): WhereFilter {
  const keys = readMap(context.file, node, 'where', WHERE_KEYS, 'where');
  if (!keys) return NO_FILTER;
  const reader = new FilterReader(context, keys, 'where');
  const actors = reader.texts('actor');
  const people = actors?.filter(({ value }) => value !== BOT && !value.startsWith(BOT_OF)) ?? [];
  const botRules = (actors ?? []).flatMap(({ value }) => (value.startsWith(BOT_OF) ? value.slice(BOT_OF.length) : []));
  return {
    repo: reader.repositories('repo'),
    notRepo: reader.repositories('not_repo'),
    branch: reader.patterns('branch'),
    tag: reader.patterns('tag'),
    pushOf: null,
    topics: reader.patterns('topics', true),
    actor: people.length > 0 ? reader.compile(people, true, 'actor') : null,
    actorIsBot: actors?.some(({ value }) => value === BOT) ?? false,
    botRules: botRules.length > 0 ? botRules : null,
    command: reader.patterns('command', true),
    source: reader.sources(),
    archived: reader.flag('archived'),
    private: reader.flag('private'),
    fork: reader.flag('fork'),
    positions: reader.positions(),
  };
}

/** `subjects` of a policy; archived repositories take no writes, so they are left out unless asked for. */
export function compileSubjects(context: FileContext, node: YamlNode): WhereFilter {
  const keys = readMap(context.file, node, 'subjects', SUBJECT_KEYS, 'subjects');
  if (!keys) return NO_FILTER;
  checkSubjects(context, node, keys);
  const reader = new FilterReader(context, keys, 'subjects');
  return {
    ...NO_FILTER,
    repo: reader.repositories('repos'),
    notRepo: reader.repositories('not_repos'),
    topics: reader.patterns('topics', true),
    private: reader.flag('private'),
    archived: reader.flag('archived') ?? false,
    fork: reader.flag('fork'),
    positions: reader.positions(),
  };
}

/** Repositories, or the organization itself: never both. */
function checkSubjects({ file, env }: FileContext, node: YamlNode, keys: ReadonlyMap<string, YamlEntry>): void {
  const org = keys.get('org');
  if (!org) {
    if (!keys.has('repos'))
      file.problem(
        node.start,
        'subjects needs "repos"',
        'repos: ["*"] is every repository; org: NAME is the organization itself',
      );
    return;
  }
  const name = readText(file, org.value, 'subjects.org');
  if (name && name.value.toLowerCase() !== env.org.toLowerCase())
    file.problem(name.start, `subjects.org is "${name.value}", and these are rules of "${env.org}"`);
  if (keys.size > 1)
    file.problem(org.keyStart, 'subjects.org stands alone: the organization has none of the other filters');
}

type Text = YamlScalar & { value: string };

class FilterReader {
  constructor(
    readonly context: FileContext,
    readonly keys: ReadonlyMap<string, YamlEntry>,
    readonly what: string,
  ) {}

  texts(key: string): Text[] | null {
    const entry = this.keys.get(key);
    return entry ? readTexts(this.context.file, entry.value, `${this.what}.${key}`) : null;
  }

  patterns(key: string, ignoreCase = false): GlobPattern[] | null {
    const texts = this.texts(key);
    return texts && this.compile(texts, ignoreCase, key);
  }

  compile(texts: readonly Text[], ignoreCase: boolean, key: string): GlobPattern[] {
    return texts.flatMap((text) => {
      this.context.file.charge(text.value.length, text.start);
      try {
        const pattern = compileGlob(text.value, { ignoreCase });
        checkPattern(this.context.file, key, text, pattern);
        return [pattern];
      } catch (error) {
        const hint =
          text.value.startsWith('!') && this.what === 'where' ? 'to leave repositories out say not_repo' : undefined;
        this.context.file.problem(text.start, (error as Error).message, hint);
        return [];
      }
    });
  }

  /** The forge knows names of owners and repositories without regard to case. */
  repositories(key: string): GlobPattern[] | null {
    const texts = this.texts(key);
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
    return texts && this.compile(texts, true, key);
  }

  sources(): Array<(typeof SOURCES)[number]> | null {
    const texts = this.texts('source');
    if (!texts) return null;
    return texts
      .map((text) => readChoice(this.context.file, text, 'a source', SOURCES))
      .filter((source) => source !== null);
  }

  flag(key: string): boolean | null {
    const entry = this.keys.get(key);
    return entry ? readBoolean(this.context.file, entry.value, `${this.what}.${key}`) : null;
  }

  /** By the filter's own name (`subjects.repos` filters as `repo`), and of each of its values by `itemKey`. */
  positions(): Record<string, Position> {
    const names: Readonly<Record<string, string>> = tableOf({ repos: 'repo', not_repos: 'not_repo' });
    const { file } = this.context;
    const items = [...this.keys].map(([key, { value }]) => itemPositions(file, names[key] ?? key, value));
    return Object.assign(
      {},
      ...items,
      Object.fromEntries([...this.keys].map(([key, { keyStart }]) => [names[key] ?? key, file.position(keyStart)])),
    );
  }
}
