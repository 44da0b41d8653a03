import type { Operation, ParamType } from '../define-operation.js';

/** An argument that cannot be put into an address or body; nothing was sent. */
export class BadArgument extends Error {}

/**
 * Path and query of one call, below the base address. Path values are always escaped as one segment
 * (`feature/a#b%` becomes `feature%2Fa%23b%25`, which all recorded servers accept).
 * @throws BadArgument for an empty segment, `.` or `..` (they would change the route), a wrong type or an unknown argument
 */
export function buildUrl(operation: Operation, args: Readonly<Record<string, unknown>>): string {
  const used = new Set<string>(['body']);
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    used.add(name);
    return pathSegment(name, operation.pathTypes?.[name] ?? 'string', args[name]);
  });
  const query = new URLSearchParams();
  for (const [name, spec] of Object.entries(operation.query ?? {})) {
    if (used.has(name) && name !== 'body') throw new BadArgument(`parameter ${name} stands in path and query`);
    used.add(name);
    const value = args[name];
    if (value === undefined) {
      if (spec.required) throw new BadArgument(`parameter ${name} is missing`);
      continue;
    }
    if (spec.type === 'strings' && Array.isArray(value))
      for (const item of value) query.append(name, scalar(name, 'string', item));
    else query.append(name, scalar(name, spec.type, value));
  }
  for (const name of Object.keys(args)) if (!used.has(name)) throw new BadArgument(`parameter ${name} is not known`);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

function pathSegment(name: string, type: ParamType, value: unknown): string {
  const text = scalar(name, type, value);
  if (text === '' || text === '.' || text === '..')
    throw new BadArgument(`parameter ${name} must not be empty, "." or ".."`);
  try {
    return encodeURIComponent(text);
  } catch {
    throw new BadArgument(`parameter ${name} is not valid text`);
  }
}

function scalar(name: string, type: ParamType, value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
        ? String(value)
        : null;
  if (text === null || text.includes('\0')) throw new BadArgument(`parameter ${name} must be ${type}`);
  if ((type === 'int64' || type === 'integer') && !/^-?\d{1,19}$/.test(text))
    throw new BadArgument(`parameter ${name} must be a whole number`);
  return text;
}
