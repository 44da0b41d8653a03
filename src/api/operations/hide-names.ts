import type { Visibility } from '../../core/visibility.js';

/** What stands in place of the name. */
export const HIDDEN_REPOSITORY = 'a repository that you may not see';

/** A name in a text, or a pattern of names: `acme/vault`, `acme/app-*`. */
const NAME = '[A-Za-z0-9._*?{},!\\[\\]-]*[A-Za-z0-9_*}\\]-]';
const BY_NAME_ALONE = /\brepo\.name\b/;
/** Names that one pattern with braces may stand for; what stands for more is hidden. Anybody writes texts, and each pair of braces doubles them. */
const MOST_CHOICES = 100;
/** Fields that hold paths of files, which may have the form of a name. */
const PATHS: ReadonlySet<string> = new Set(['file', 'path']);

/**
 * Fields that hold what rules, the bot and its reads say, and everything below them. In these a name is hidden as a word of its own as well; in others (ids,
 * codes, states, names of branches) such a word is seldom a repository, and the program reads them.
 */
const TEXTS: ReadonlySet<string> = new Set([
  'text',
  'reason',
  'message',
  'why',
  'because',
  'unmet',
  'disabled',
  'problems',
  'notes',
  'heldBack',
  'lacking',
  'waiting',
  'trace',
  'params',
  'parameters',
  'conditions',
  'steps',
  'filters',
  'lookups',
  'sections',
  'result',
  'items',
  'itemKey',
  'effectKey',
  'object',
  'names',
]);
/** Fields below those that hold no text. */
const CODES: ReadonlySet<string> = new Set([
  'id',
  'rule',
  'code',
  'state',
  'outcome',
  'action',
  'mode',
  'use',
  'at',
  'look',
]);
/** What an event shows its reader already: a name in it was written by somebody who could try names until one is hidden. */
const SEEN = 'seen';
const OF_EVENT = /^event\b/;

/** A repository that the bot knows. */
export interface KnownRepository {
  readonly id: string;
  /** Without its owner. */
  readonly name: string;
}

/**
 * An answer without the names of repositories that its reader may not see, wherever in its texts they stand: rules name repositories in patterns, in
 * conditions and in reasons. Where all of an organization is in visibility, nothing is left out.
 * @param repositoriesByOrg the repositories of each organization. Default: none, and a name is found beside that of its owner alone
 */
export function hideNames<Answer>(
  answer: Answer,
  visibility: Visibility,
  repositoriesByOrg: ReadonlyMap<string, readonly KnownRepository[]> = NONE,
): Answer {
  const hidden = (visibility ?? []).flatMap(({ org, repositories, names }) =>
    repositories === null || names === undefined ? [] : [hiderOf(org, names)],
  );
  const words = hiddenWords(visibility ?? [], repositoriesByOrg);
  if (hidden.length === 0 && words.size === 0) return answer;
  const clean = (value: unknown, key: string, isText: boolean): unknown => {
    if (typeof value === 'string') {
      if (PATHS.has(key)) return value;
      const visibleText = hidden.reduce((text, hide) => hide(text), value);
      return isText && words.size > 0 ? hideWords(visibleText, words) : visibleText;
    }
    if (Array.isArray(value)) return value.map((item) => clean(item, key, isText));
    if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const isShown = key === SEEN ? OF_EVENT.test(name) : name === SEEN && !isRecord(inner);
        const isInner = !isShown && !CODES.has(name) && (isText || TEXTS.has(name));
        return [clean(name, '', false), clean(inner, name, isInner)];
      }),
    );
  };
  return clean(answer, '', false) as Answer;
}

const NONE: ReadonlyMap<string, readonly KnownRepository[]> = new Map();

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names that stand for nothing visible: a name may be hidden in one organization and seen in another. */
function hiddenWords(
  visibility: NonNullable<Visibility>,
  repositoriesByOrg: ReadonlyMap<string, readonly KnownRepository[]>,
): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { org, repositories } of visibility) {
    const visibleIds = new Set(repositories?.map((entry) => entry.split('/', 1)[0]));
    for (const { id, name } of repositoriesByOrg.get(org) ?? [])
      if (repositories !== null && !visibleIds.has(id)) words.add(name.toLowerCase());
  }
  for (const { org, names = [] } of visibility) for (const name of [org, ...names]) words.delete(name.toLowerCase());
  return words;
}

/** Whole words of the letters that names have: `vault` is none in `vault-2` and `vaults`. */
function hideWords(text: string, words: ReadonlySet<string>): string {
  return text.replace(/[A-Za-z0-9._-]+/g, (word) => {
    if (words.has(word.toLowerCase())) return HIDDEN_REPOSITORY;
    const [, before = '', name = '', after = ''] = /^([.-]*)(.*?)((?:\.git)?[.-]*)$/.exec(word) ?? [];
    return words.has(name.toLowerCase()) ? `${before}${HIDDEN_REPOSITORY}${after}` : word;
  });
}

/** @param names of the repositories of the organization that may be seen */
function hiderOf(org: string, names: readonly string[]): (text: string) => string {
  const visibleNames = names.map((name) => name.toLowerCase());
  const isSeen = (pattern: string): boolean => choicesOf(pattern)?.every(fitsSeen) ?? false;
  const fitsSeen = (name: string): boolean => {
    const literal = name.toLowerCase().replace(/\.git$/, '');
    if (/^[a-z0-9._-]*$/.test(literal)) return visibleNames.includes(literal);
    // A pattern names nothing, or fits something that is seen.
    return !/[a-z0-9]/.test(literal) || visibleNames.some((one) => fits(name.toLowerCase(), one));
  };
  // In an address or an expression the slash may be written otherwise.
  const full = new RegExp(`(?<![A-Za-z0-9._-])${org.replace(/\W/g, '\\$&')}(?:\\\\*/|%2F)(${NAME})`, 'gi');
  return (text) => {
    const withoutFullNames = text.replace(full, (whole, name: string) => (isSeen(name) ? whole : HIDDEN_REPOSITORY));
    // A condition may know a repository by its name alone.
    if (BY_NAME_ALONE.exec(withoutFullNames) === null) return withoutFullNames;
    return withoutFullNames.replace(/(["'])([A-Za-z0-9._-]+)\1/g, (whole, mark: string, name: string) =>
      isSeen(name) ? whole : `${mark}${HIDDEN_REPOSITORY}${mark}`,
    );
  };
}

/** What a pattern with braces stands for; null = for more than are looked at. */
function choicesOf(pattern: string): readonly string[] | null {
  let names: readonly string[] = [pattern];
  for (let open = pattern.split('{').length - 1; open > 0; open -= 1) {
    names = names.flatMap((name) => {
      const [, before = '', choices, after = ''] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(name) ?? [];
      return choices === undefined ? [name] : choices.split(',').map((one) => `${before}${one}${after}`);
    });
    if (names.length > MOST_CHOICES) return null;
  }
  return names;
}

/** Whether a name fits a pattern with stars; other signs of patterns fit nothing. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const index = name.indexOf(part, at);
    if (index < 0) return false;
    at = index + part.length;
  }
  return name.endsWith(last) && name.length - last.length >= at;
}
