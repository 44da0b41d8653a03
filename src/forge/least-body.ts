import type { z } from 'zod';

/** The smallest value that a schema of a request body takes, as far as its kind is known; what it says means nothing. */
export function leastBody(schema: z.ZodType): unknown {
  const { def } = schema as unknown as { def: Def };
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape ?? {})
          .filter(([, field]) => !field.safeParse(undefined).success)
          .map(([key, field]) => [key, leastBody(field)]),
      );
    case 'string':
      return 'x';
    case 'number':
    case 'int':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'record':
      return {};
    case 'enum':
      return Object.values(def.entries ?? {})[0];
    case 'literal':
      return def.values?.[0];
    case 'union':
      return def.options?.[0] && leastBody(def.options[0]);
    case 'pipe':
      return def.in && leastBody(def.in);
    case 'optional':
    case 'nullable':
    case 'default':
      return def.innerType && leastBody(def.innerType);
    default:
      return undefined;
  }
}

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly innerType?: z.ZodType;
}
