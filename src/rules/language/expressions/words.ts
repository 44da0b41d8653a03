import { describeType } from '../../../core/data-types.js';
import type { DataType } from '../../../core/data-types.js';

/** How a type is called in the signatures of functions. */
export function kindName(type: DataType): string {
  switch (type.kind) {
    case 'time':
      return 'timestamp';
    case 'object':
    case 'either':
      return 'map';
    default:
      return type.kind;
  }
}

/** `a text`, `true or false`, `an object (Label)`. */
export function withArticle(type: DataType): string {
  switch (type.kind) {
    case 'string':
      return type.isId ? 'an id (a text)' : 'a text';
    case 'int':
      return 'a whole number';
    case 'double':
      return 'a number';
    case 'time':
      return 'a time';
    case 'duration':
      return 'a duration';
    case 'list':
      return 'a list';
    case 'map':
      return 'a map';
    case 'object':
    case 'either':
      return type.kind === 'object' && type.name !== '' && type.name !== 'event'
        ? `an object (${type.name})`
        : type.kind === 'object' && type.name === ''
          ? 'a map'
          : 'an event';
    default:
      return describeType(type);
  }
}

/** Where the name of a field stands: the parser tells where its dot or bracket, or the chain before it, begins. */
export function fieldOffset(source: string, from: number, field: string): number {
  const quoted = field.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const dotted = new RegExp(`(?:\\.\\s*|\\[\\s*["'])(?=${quoted}(?!\\w))`, 'g');
  dotted.lastIndex = from;
  const match = dotted.exec(source);
  return match ? match.index + match[0].length : from;
}

/** `a, b and c`; of many the first three. */
export function nameSome(names: readonly string[]): string {
  return names.length > 3
    ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
    : names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}
