import type { Json } from '../../../core/json.js';
import { DYN, describeType } from '../../../core/data-types.js';
import type { ParamNames } from '../catalogue.js';
import type { Expression, Template } from './program.js';

type RefName = Exclude<ParamNames, 'number'>;

/** What a parameter can never name, and what to write. `at`: the expression that is meant. */
interface Slip {
  readonly message: string;
  readonly hint: string;
  readonly at: Expression | null;
}

const FULL_REF = /^refs\/(?:heads|tags|remotes\/[^/]+|pull|for)\//;
/** `'refs/heads/' + …` */
const FULL_REF_FIRST = /^\s*(['"])refs\/(?:heads|tags)\/[^'"]*\1\s*\+/;
/** What no number is, whatever its value. */
const NEVER_NUMBERS = new Set(['bool', 'time', 'duration', 'bytes']);
/** Words of a command are texts that may be digits. */
const MAY_BE_DIGITS = /^event\.command\.|^item$/;

/**
 * A text where a number of the forge is meant, or a full ref where a branch or tag is named.
 * @returns null where it may be meant
 */
export function slipIn(template: Template, names: ParamNames): Slip | null {
  return names === 'number' ? noNumber(template) : fullRef(template, names);
}

function noNumber(template: Template): Slip | null {
  const hint = 'a number, such as ${{ event.number }}';
  if (template.kind === 'text') {
    const words = template.parts.find((part) => typeof part === 'string' && !/^\d*$/.test(part));
    return words === undefined ? null : { message: 'must be a number of the forge, this is a text', hint, at: null };
  }
  if (template.kind === 'constant' && typeof template.value === 'string' && !/^\d+$/.test(template.value))
    return { message: 'must be a number of the forge, this is a text', hint, at: null };
  if (template.kind !== 'expression') return null;
  const { expression } = template;
  const { compiled, type } = expression;
  if (NEVER_NUMBERS.has(type?.kind ?? ''))
    return {
      message: `must be a number of the forge, the expression gives ${describeType(type ?? DYN)}`,
      hint,
      at: expression,
    };
  // What a function makes of a text may be digits.
  const isField = compiled.type === 'dyn' && type?.kind === 'string' && type.isId !== true;
  if (!isField || compiled.paths.some(({ segments }) => MAY_BE_DIGITS.test(segments.join('.')))) return null;
  return { message: 'must be a number of the forge, the expression gives a text', hint, at: expression };
}

function fullRef(template: Template, names: RefName): Slip | null {
  const field = names === 'tag' ? 'event.tag' : 'event.branch';
  const slip = (at: Expression | null, name: string | null): Slip => ({
    message: withoutRefs(names),
    hint: name === null || name === '' ? `such as \${{ ${field} }}` : name,
    at,
  });
  switch (template.kind) {
    case 'constant': {
      const { value } = template;
      return typeof value === 'string' && FULL_REF.test(value) ? slip(null, value.replace(FULL_REF, '')) : null;
    }
    case 'text': {
      const [first, second] = template.parts;
      if (typeof first === 'string') return FULL_REF.test(first) ? slip(null, null) : null;
      return first && second !== undefined && isFullRef(first) ? slip(first, null) : null;
    }
    case 'expression':
      return isFullRef(template.expression) ? slip(template.expression, null) : null;
    default:
      return null;
  }
}

/** Of a value that is the same each time: why it names no branch or tag; null = it may. */
export function fullRefFault(value: Json, names: ParamNames | undefined): string | null {
  const isOther = names === undefined || names === 'number';
  return isOther || typeof value !== 'string' || !FULL_REF.test(value) ? null : withoutRefs(names);
}

function withoutRefs(names: RefName): string {
  return `a ${names === 'ref' ? 'branch or tag' : names} is named without "refs/…"`;
}

/** `event.ref`, also with a choice around it, and a text that begins so; a function may cut it. */
function isFullRef({ compiled }: Expression): boolean {
  const isRead = compiled.paths.some(({ segments, tested }) => !tested && segments.join('.') === 'event.ref');
  return (compiled.type === 'dyn' && isRead) || FULL_REF_FIRST.test(compiled.source);
}
