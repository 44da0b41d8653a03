import { shorten } from '../../../core/shorten.js';
import { escapeMarkdown } from '../../../core/escape-markdown.js';

/** Characters of one text; titles of issues have at most 255. */
const MAX_TEXT = 200;
/** All lines together, so that long titles of strangers do not make a parameter too large to be sent. */
const MAX_BYTES = 12 * 1024;
/** Values in one list of a cell or item. */
const MAX_INNER = 20;
/** Each character that is kept is looked at by some twenty patterns; the others are counted. Calibrated by `npm run bench -- functions`. */
const KEPT_A_STEP = 8;
const CUT_A_STEP = 128;
/** Of a list or map: each is copied out of the expression first. */
const OBJECT_STEPS = 3;
const TITLES = ['text', 'title', 'name', 'tag_name'];
/** What an address of a forge looks like. One of a file that was read may be a stranger's: it can end no link and hold no markup. */
const ADDRESS = /^https?:\/\/[\w.:~/#%?=&-]{1,2000}$/;
/**
 * A link to an issue or pull request is a reference on its timeline, and counts as an update of it. With two slashes before its kind it leads to the same
 * page, and is none; Forgejo looks past one at the end.
 */
const REFERENCE = /^([^?#]*)\/(issues|pulls)\/(?=\d)/;

/** Steps of the work on a value: of an object only its title and address are looked at. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + Math.min(value.length, MAX_TEXT) / KEPT_A_STEP + value.length / CUT_A_STEP;
  if (typeof value !== 'object' || value === null) return 1;
  const parts = Array.isArray(value) ? value : fieldsOf(value, [...TITLES, 'url', 'html_url']);
  return parts.reduce<number>((total, one) => total + sizeOf(one), OBJECT_STEPS);
}

/** These fields, where they are there. */
export function fieldsOf(thing: object, names: readonly string[]): unknown[] {
  return names.flatMap((name) => (Object.hasOwn(thing, name) ? [(thing as Record<string, unknown>)[name]] : []));
}

/**
 * The lines that fit, and how many items are left out: in each text as much as people read, in all of them as much as a parameter takes.
 */
export function takeWhatFits(
  items: readonly unknown[],
  lineOf: (item: unknown, index: number) => string,
): { readonly lines: readonly string[]; readonly rest: number } {
  const lines: string[] = [];
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    const line = lineOf(item, index);
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) break;
    lines.push(line);
  }
  return { lines, rest: items.length - lines.length };
}

/** @param caller the function that an error names */
export function markdownOf(value: unknown, caller: string): string {
  if (value === null) return '';
  if (typeof value === 'string') return escapeMarkdown(shorten(value, MAX_TEXT));
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value)) {
    const inner = value.slice(0, MAX_INNER).map((one) => markdownOf(one, caller));
    return [...inner, ...(value.length > MAX_INNER ? ['…'] : [])].join(', ');
  }
  const link = typeof value === 'object' ? linkOf(value as Record<string, unknown>) : null;
  if (link === null) throw new Error(`${caller} takes texts, numbers, times, and maps that have a text, title or name`);
  return link;
}

/** What has a title, and perhaps an address: `{text, url}`, or an object of the forge. */
function linkOf(thing: Record<string, unknown>): string | null {
  const text = TITLES.map((name) => fieldOf(thing, name)).find((one) => one !== '');
  const ofRule = 'text' in thing ? fieldOf(thing, 'url') : '';
  const address = ofRule || fieldOf(thing, 'html_url');
  if (text === undefined) return null;
  const label = escapeMarkdown(shorten(text, MAX_TEXT));
  // A tag may have signs that an address of the forge shows; the rule's own is at fault.
  if (ofRule !== '' && !ADDRESS.test(ofRule))
    throw new Error(`"${ofRule.slice(0, 60)}" is no address that a link may have`);
  if (!ADDRESS.test(address)) return label;
  const target = address.replace(REFERENCE, '$1//$2/');
  return `[${label}](${target.replaceAll('&', '&amp;')})`;
}

/** Empty where it is not there or no text. */
function fieldOf(thing: Record<string, unknown>, name: string): string {
  const value = Object.hasOwn(thing, name) ? thing[name] : '';
  return typeof value === 'string' ? value : '';
}
