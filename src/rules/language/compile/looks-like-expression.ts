import { shorten } from '../../../core/shorten.js';
import { ruleFunctions } from '../functions/index.js';

/** Characters of the author's text in a message. */
const MAX_QUOTED = 60;

const ROOTS = 'event|repo|lookups|vars|item|org|now|bot|stats|config|secrets|github';
const PATH = `(?:${ROOTS})(?:\\.[A-Za-z_]\\w*|\\[[^\\]]*\\])+`;
/** Fields of the event's objects, written as if they were variables. */
const OBJECTS =
  /^\s*(?:\$\.?)?((?:issue|pull_request|comment|review|release|actor|sender)\.(?:number|title|body|name|tag_name|id|state|login|html_url|user\.login|head\.(?:ref|sha)|base\.ref))\s*$/;
const FUNCTIONS = [
  ...ruleFunctions.map(({ name }) => name),
  'string',
  'int',
  'double',
  'size',
  'has',
  'duration',
  'timestamp',
];
const CALL = `(?:${FUNCTIONS.join('|')})\\([^\\n]*\\)`;
const METHODS =
  '(?:\\.(?:map|filter|exists|join|split|replace|lowerAscii|upperAscii|substring|size|trim|contains)\\([^\\n]*\\))*';
const TERM = `(?:${PATH}|${CALL})${METHODS}`;
const WHOLE = new RegExp(`^\\s*(?:${TERM})\\s*$`);
/** An operator beside a field: `event.tag + "-x"`. */
const COMPUTED = new RegExp(
  `^\\s*(?:${TERM}\\s*(?:\\+|\\?|==)\\s*\\S[^\\n]*|["'][^"'\\n]*["']\\s*\\+\\s*${TERM}[^\\n]*)$`,
);
const DOLLAR = new RegExp(`\\$(?:${PATH}|\\((?:${TERM})\\))`);

/** A constant that was probably meant to be worked out, with what to write for it; null = it is a text like others. */
export function looksLikeExpression(
  text: string,
): { readonly what: string; readonly write: string; readonly isWhole?: true } | null {
  const whole = text.trim();
  if (whole.includes('${{')) return null;
  if (WHOLE.test(whole) || COMPUTED.test(whole))
    return { what: `the text "${shorten(whole, MAX_QUOTED)}"`, write: `"\${{ ${whole} }}"`, isWhole: true };
  const object = OBJECTS.exec(whole)?.[1];
  if (object) {
    const path = `event.${object.replace(/^sender\b/, 'actor')}`;
    return { what: `the text "${shorten(whole, MAX_QUOTED)}"`, write: `"\${{ ${path} }}"`, isWhole: true };
  }
  const braces = /(?<!\$)\{\{\s*([^{}\n]*?)\s*\}\}/.exec(whole);
  if (braces) return { what: '{{ }} without a $', write: `\${{ ${braces[1] ?? '…'} }}` };
  const single = /\$\{\s*([A-Za-z_][^{}\n]*?)\s*\}/.exec(whole);
  if (single) return { what: '${ } with one brace', write: `\${{ ${single[1] ?? '…'} }}` };
  const dollar = DOLLAR.exec(whole)?.[0];
  if (dollar)
    return { what: `${shorten(dollar, MAX_QUOTED)}`, write: `\${{ ${dollar.slice(1).replace(/^\((.*)\)$/, '$1')} }}` };
  const percent = /(?:<%=?|#\{|%\{)\s*([^%}\n]*?)\s*(?:%>|\})/.exec(whole);
  return percent ? { what: 'a template of another language', write: `\${{ ${percent[1] ?? '…'} }}` } : null;
}
