import { stringifyJson } from '../../core/json.js';

const ESCAPES: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * JSON text the way the real servers write it: HTML characters and line separators escaped inside strings
 * (outside of strings none of them can occur), undefined keys left out.
 * @param indent spaces per level; 0 = one line without blanks
 */
export function writeGoJson(value: unknown, indent = 0): string {
  return stringifyJson(value, indent > 0 ? indent : undefined).replace(
    /[<>&\u2028\u2029]/g,
    (char) => ESCAPES[char] ?? char,
  );
}

/** One form field, escaped as the real servers do (blank as `+`, everything but letters, digits and `-_.~` as `%XX`). */
export function writeFormField(name: string, value: string): string {
  return `${escapeQuery(name)}=${escapeQuery(value)}`;
}

function escapeQuery(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%20/g, '+');
}
