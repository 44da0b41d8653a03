import { escapeMarkdown, oneLine } from '../../core/escape-markdown.js';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../core/json.js';

/** Whose texts go. Addresses in lower case; more are found on the way. */
export interface PersonToErase {
  readonly login: string;
  readonly addresses: ReadonlySet<string>;
}

/** What stands where an address, or a text of the person inside another text, was. */
export const ERASED = '[erased]';

/** What an object of the forge says of an account beside its number and name. */
const OF_ACCOUNT = [
  'full_name',
  'email',
  'login_name',
  'avatar_url',
  'location',
  'website',
  'description',
  'pronouns',
  'language',
];
/** What somebody wrote, by the keys of the forge's objects. */
const WRITTEN = ['title', 'body', 'content', 'message', 'note', 'original_title', 'original_author'];
/** Keys under which an object names who wrote it. */
const AUTHORS = ['user', 'author', 'poster', 'act_user', 'publisher'];
/** Who did what a delivery tells: objects in it that name no author are that person's. */
const ACTORS = ['sender', 'act_user', 'pusher'];
/** Objects of a place are the place's, whoever acts there. */
const OF_PLACE = ['repository', 'organization', 'repo', 'label', 'labels', 'milestone'];
/** Texts shorter than the first are words, and stand in much that is nobody's; shorter than the second, they count where they stand alone. */
const SHORTEST = 4;
const SHORTEST_WITHIN = 12;

interface Erased<Value> {
  readonly value: Value;
  /** False when nothing in it was the person's. */
  readonly isChanged: boolean;
  /** Texts that were taken out: what a rule made of them holds them too. */
  readonly texts: readonly string[];
}

/** Takes one person out of what is stored: accounts keep number and name, objects keep their numbers, and all that the person wrote is gone. Pure. */
export class PersonEraser {
  private readonly texts = new Set<string>();
  private isChanged = false;
  private addresses: readonly RegExp[] | null = null;

  constructor(
    private readonly person: PersonToErase,
    /** Texts of the person that may stand in this value, wherever. */
    private readonly knownTexts: readonly string[] = [],
  ) {}

  /** @param isActor the person did what this tells, and nothing in it says so */
  erase<Value extends Json>(value: Value, isActor = false): Erased<Value> {
    const erased = isJsonObject(value) ? this.eraseChanges(value, isActor) : this.any(value, false);
    const texts = [...this.texts].filter((text) => text.length >= SHORTEST).sort((a, b) => b.length - a.length);
    return { value: erased as Value, isChanged: this.isChanged, texts };
  }

  /** The outermost object of a delivery, a row or an event: what stands beside its objects (`action`, `ref`) is nobody's text. */
  private eraseChanges({ changes, ...object }: JsonObject, isActor: boolean): JsonObject {
    const isOwn = isActor || ACTORS.some((key) => this.isPerson(object[key]));
    const isRow = isOwn && 'act_user' in object;
    const erased = isRow || this.isPerson(object) ? this.object(object, isOwn) : this.inside(object, isOwn);
    if (changes === undefined) return erased;
    // Whoever changed a text of the person: the one before the change was the person's too.
    return { ...erased, changes: isOwn || this.texts.size > 0 ? this.emptied(changes) : this.any(changes, false) };
  }

  private any(value: Json, isByActor: boolean): Json {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.any(item, isByActor));
    return isJsonObject(value) ? this.object(value, isByActor) : value;
  }

  private object(object: JsonObject, isByActor: boolean): JsonObject {
    if (this.isPerson(object)) return this.account(object);
    const authors = AUTHORS.map((key) => object[key]).filter(isJsonObject);
    const isOwn = authors.length === 0 ? isByActor : authors.some((author) => this.isPerson(author));
    const inside = this.inside(object, isOwn);
    if (!isOwn) return inside;
    return this.without(inside, 'tag_name' in object ? [...WRITTEN, 'name'] : WRITTEN);
  }

  private inside(object: JsonObject, isOwn: boolean): JsonObject {
    return Object.fromEntries(
      Object.entries(object).map(([key, value]): [string, Json] => [
        key,
        this.any(value, isOwn && !OF_PLACE.includes(key)),
      ]),
    );
  }

  private account(object: JsonObject): JsonObject {
    const isGit = !('login' in object) && !('id' in object);
    return this.without(object, isGit ? [...OF_ACCOUNT, 'name'] : OF_ACCOUNT);
  }

  private without(object: JsonObject, keys: readonly string[]): JsonObject {
    const fields = Object.fromEntries(
      keys.flatMap((key): Array<[string, string]> => {
        const text = object[key];
        if (typeof text !== 'string') return [];
        const rest = key === 'content' ? this.row(text) : '';
        return rest === text ? [] : [[key, rest]];
      }),
    );
    for (const [key, rest] of Object.entries(fields)) {
      this.isChanged = true;
      this.texts.add((object[key] as string).slice(rest.endsWith('|') ? rest.length : 0));
    }
    return Object.keys(fields).length === 0 ? object : { ...object, ...fields };
  }

  /** Content of a row of the feed: `12|the title`, or JSON of what was pushed. Its number is no text. */
  private row(content: string): string {
    const pushed = tryParse(content);
    if (isJsonObject(pushed)) return stringifyJson(this.object(pushed, true));
    return /^\d+\|/.exec(content)?.[0] ?? '';
  }

  /** What was there before an edit. */
  private emptied(value: Json): Json {
    if (typeof value === 'string') {
      if (value === '') return value;
      this.isChanged = true;
      this.texts.add(value);
      return '';
    }
    if (Array.isArray(value)) return value.map((item) => this.emptied(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]): [string, Json] => [key, this.emptied(inner)]));
  }

  /**
   * Texts of others keep what is theirs: an address goes, with the name before it, and so does a text of the person that they hold, as it was or as
   * Markdown that shows it.
   */
  text(text: string): string {
    let rest = text;
    // An address goes with the name before it, which would stay if the address alone were looked for first.
    const otherTexts = this.knownTexts.filter((one) => !this.person.addresses.has(one.toLowerCase()));
    for (const form of otherTexts.flatMap(formsOf))
      if (rest === form) rest = ERASED;
      else if (form.length >= SHORTEST_WITHIN) rest = rest.replaceAll(form, ERASED);
    for (const address of this.patterns()) rest = rest.replace(address, ERASED);
    if (rest !== text) this.isChanged = true;
    return rest;
  }

  private patterns(): readonly RegExp[] {
    return (this.addresses ??= [...this.person.addresses].flatMap(formsOf).flatMap((form) => {
      const escaped = form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      return [new RegExp(`[^\\n<>:"]*(?:<|&lt;)${escaped}(?:>|&gt;)`, 'gi'), new RegExp(escaped, 'gi')];
    }));
  }

  private isPerson(value: Json | undefined): boolean {
    return isJsonObject(value) && isAccountOf(value, this.person);
  }
}

function isAccountOf(object: JsonObject, { login, addresses }: PersonToErase): boolean {
  const { login: name, username, email } = object;
  if ([name, username].some((one) => typeof one === 'string' && one.toLowerCase() === login.toLowerCase())) return true;
  return typeof email === 'string' && name === undefined && addresses.has(email.toLowerCase());
}

/** Addresses by which stored objects know the person. */
export function addressesIn(value: Json, person: PersonToErase, addresses = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) addressesIn(item, person, addresses);
  if (!isJsonObject(value)) return addresses;
  const { email } = value;
  if (typeof email === 'string' && /^[^\s@<>]+@[^\s@<>]+$/.test(email) && isAccountOf(value, person))
    addresses.add(email.toLowerCase());
  for (const inner of Object.values(value)) addressesIn(inner, person, addresses);
  return addresses;
}

/** As it is, and as the bot writes texts of others into its own. */
function formsOf(text: string): string[] {
  return [...new Set([text, oneLine(text), escapeMarkdown(text)])].filter((form) => form.length >= SHORTEST);
}

/**
 * Short texts of which one stands in every row that holds something of the person, in whatever form: signs in an address may have been escaped, so of
 * each the longest word counts.
 */
export function needlesOf({ login, addresses }: PersonToErase): string[] {
  const words = [...addresses].flatMap((address) => {
    const [local = ''] = address.split('@');
    const longest = local.split(/[^a-z0-9]+/).sort((a, b) => b.length - a.length)[0] ?? '';
    return longest.length >= 3 ? [longest] : address.split(/[^a-z0-9]+/).filter((word) => word !== '');
  });
  return [...new Set([login.toLowerCase(), ...words])];
}

function tryParse(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
