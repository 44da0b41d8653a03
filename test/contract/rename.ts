import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';
import { seededRandom } from '../../src/core/seeded-random.js';
import type { SeededRandom } from '../../src/core/seeded-random.js';
import type { Story } from './story.js';

/**
 * The same story with other user, organization and repository names: same length, same order, wherever they stand (paths, bodies, answers,
 * texts, files). Whoever answers by what was recorded, and not by what was asked, is found out.
 */
export function renameStory(story: Story, seed: number): Story {
  return renameStoryTo(story, newNamesFor(story, seed));
}

/** Old name -> new name, for all people, organizations and repositories of a story. */
export function newNamesFor(story: Story, seed: number): Map<string, string> {
  return newNames(namesOf(story), wordsOf(story), seededRandom(seed));
}

export function renameStoryTo(story: Story, names: ReadonlyMap<string, string>): Story {
  const replace = replacer(names);
  return {
    ...story,
    people: story.people.map((name) => replace(name) as string),
    given: replace(story.given as unknown as Json) as unknown as Story['given'],
    steps: replace(story.steps as unknown as Json) as unknown as Story['steps'],
  };
}

/** Names of people, organizations and repositories: those given, and those that answers show. */
export function namesOf(story: Story): string[] {
  const names = new Set<string>(story.people);
  for (const entry of story.given) {
    for (const key of ['user', 'org', 'owner', 'by'] as const)
      if (typeof entry[key] === 'string') names.add(entry[key]);
    for (const key of ['repo', 'runs', 'archived'] as const)
      if (typeof entry[key] === 'string') entry[key].split('/').forEach((part) => names.add(part));
  }
  eachObject(story.steps as unknown as Json, (object) => {
    if (typeof object.login === 'string') names.add(object.login);
    for (const key of ['new_username', 'new_name'] as const)
      if (typeof object[key] === 'string') names.add(object[key]);
    if (isJsonObject(object.owner) && typeof object.full_name === 'string')
      object.full_name.split('/').forEach((part) => names.add(part));
  });
  names.delete('');
  return [...names];
}

function eachObject(value: Json, visit: (object: JsonObject) => void): void {
  if (Array.isArray(value)) value.forEach((item) => eachObject(item, visit));
  else if (isJsonObject(value)) {
    visit(value);
    Object.values(value).forEach((item) => eachObject(item, visit));
  }
}

/** Every word of the story: a new name may not be one of them. */
function wordsOf(story: Story): Set<string> {
  const words = new Set<string>();
  const visit = (value: Json): void => {
    if (typeof value === 'string')
      value
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .forEach((word) => words.add(word));
    else if (Array.isArray(value)) value.forEach(visit);
    else if (isJsonObject(value)) Object.values(value).forEach(visit);
  };
  visit([story.given, story.steps] as unknown as Json);
  return words;
}

const RESERVED = new Set([
  'api',
  'new',
  'org',
  'raw',
  'repo',
  'user',
  'admin',
  'ghost',
  'login',
  'debug',
  'error',
  'pulls',
  'search',
  'avatar',
  'assets',
  'issues',
  'explore',
  'swagger',
]);

/** Draw names until they stand in the same order as the old ones. */
function newNames(names: readonly string[], words: ReadonlySet<string>, random: SeededRandom): Map<string, string> {
  const ordered = [...names].sort(byName);
  for (let tries = 0; tries < 2000; tries += 1) {
    const places = ordered.map(() => random.next()).sort((a, b) => a - b);
    const drawn = ordered.map((name, i) => drawName(name, places[i] as number, random));
    const inOrder = drawn.every((name, i) => i === 0 || byName(drawn[i - 1] as string, name) < 0);
    const isNew = drawn.every((name) => !words.has(name.toLowerCase()) && !RESERVED.has(name));
    if (inOrder && isNew) return new Map(ordered.map((name, i) => [name, drawn[i] as string]));
  }
  throw new Error(`no new names of the same length and order for ${names.join(', ')}`);
}

/** @param place where the name stands in the alphabet, 0 to 1: decides the first two letters */
function drawName(name: string, place: number, random: SeededRandom): string {
  let left = place;
  return [...name]
    .map((letter, i) => {
      const digit = i < 2 ? Math.floor(left * 26) : random.below(26);
      left = left * 26 - Math.floor(left * 26);
      if (/[a-z]/.test(letter)) return String.fromCharCode(97 + digit);
      if (/[A-Z]/.test(letter)) return String.fromCharCode(65 + digit);
      return /[0-9]/.test(letter) ? String(random.below(10)) : letter;
    })
    .join('');
}

function byName(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Replaces whole words in every text of a value, also inside files that stand there in base64. Keys stay. */
function replacer(renamed: ReadonlyMap<string, string>): (value: Json) => Json {
  const lower = new Map([...renamed].map(([from, to]) => [from.toLowerCase(), to]));
  const escaped = [...renamed.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const word = new RegExp(`(?:(?<![A-Za-z0-9_-])|(?<=%2F))(${escaped.join('|')})(?![A-Za-z0-9_-])`, 'gi');
  const inText = (text: string): string =>
    text.replace(word, (found) => cased(found, lower.get(found.toLowerCase()) as string, renamed));
  const visit = (value: Json, key: string): Json => {
    // The type of a form's field is a word of HTML.
    if (key === 'type') return value;
    if (typeof value === 'string') return key === 'content' ? inFile(value, inText) : inText(value);
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, visit(item, inner)]));
    return value;
  };
  return (value) => visit(value, '');
}

/** `ACME` for `acme` stays in capitals. */
function cased(found: string, to: string, renamed: ReadonlyMap<string, string>): string {
  if (renamed.has(found)) return to;
  return found === found.toUpperCase() ? to.toUpperCase() : to;
}

/** File contents come in base64; a text that only looks like base64 has no name in it once decoded, and stays. */
function inFile(content: string, inText: (text: string) => string): string {
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/\n]+={0,2}\n?$/.test(content)) return inText(content);
  const file = Buffer.from(content, 'base64');
  const text = file.toString('utf8');
  if (!Buffer.from(text).equals(file)) return content;
  const replaced = inText(text);
  return replaced === text ? inText(content) : Buffer.from(replaced).toString('base64');
}
