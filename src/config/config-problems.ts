import { z } from 'zod';
import { didYouMean } from '../core/did-you-mean.js';
import { formatProblem, type Problem } from '../core/problem.js';
import { tableOf } from '../core/table.js';
import type { ComposedConfig } from './composed-config.js';
import { configSchema } from './config-schema.js';

/** Every key name of the schema, for did-you-mean. */
const KNOWN_KEYS: readonly string[] = collectKeys(
  z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }),
);

function collectKeys(schema: unknown, keys = new Set<string>()): string[] {
  if (typeof schema === 'object' && schema !== null) {
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties') for (const key of Object.keys(value as object)) keys.add(key);
      collectKeys(value, keys);
    }
  }
  return [...keys];
}

/** What a value must be, for people. */
const KINDS = tableOf({
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
});

const ONE_ORG_A_FILE = 'a file of orgs.d holds the keys of one organization: name: acme, forge: main, …';

/** What the schema refuses, at the place where it was written. */
export function problemsOf(config: ComposedConfig, issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const suggestion = didYouMean(key, KNOWN_KEYS);
      const hint =
        key === 'orgs' && config.isOrgFile(issue.path)
          ? ONE_ORG_A_FILE
          : suggestion === key
            ? 'there is such a key in another part of the file'
            : suggestion && `did you mean "${suggestion}"?`;
      const { name: _, ...place } = config.writtenAt([...issue.path, key], true);
      return { ...place, message: `unknown key "${key}"`, ...(hint ? { hint } : {}) };
    });
  }
  const { name, ...place } = config.writtenAt(issue.path);
  const at = name || 'the file';
  // eslint-disable-next-line local/no-decision-by-text -- zod marks messages of its own by nothing else
  const isOfZod = issue.message.startsWith('Invalid input');
  if (valueAt(config.value, issue.path) !== undefined) {
    const kind = isOfZod && issue.code === 'invalid_type' ? KINDS[issue.expected] : undefined;
    const message = kind === undefined ? `${at}: ${issue.message}` : `${at} must be ${kind}`;
    return [{ ...place, message, ...(config.isOrgFile(issue.path) ? { hint: ONE_ORG_A_FILE } : {}) }];
  }
  // What is missing has no type; a message of the schema's own says what to write.
  return [
    {
      ...place,
      message: `${at} is missing`,
      ...(isOfZod ? {} : { hint: issue.message }),
    },
  ];
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  );
}

/** What stands in `defaults` is refused once, not once for each organization that it holds for. */
export function distinct(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [formatProblem(problem), problem])).values()];
}
