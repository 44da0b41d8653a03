import { z } from 'zod';
import { InvalidFile } from '../../core/errors.js';
import type { Problem } from '../../core/problem.js';
import { parseLocatedYaml } from '../../core/located-yaml.js';

export const INDEX_PATH = '.forgehand/index.yaml';
const MAX_FILES = 50;

const indexSchema = z.strictObject({ version: z.literal(1), files: z.array(z.string()) });
const OPERATORS_OWN = new Set([
  'powers',
  'mirror_hosts',
  'notify_hosts',
  'secrets',
  'extends_from',
  'built_in_sets',
  'repository',
  'branch',
  'accept',
  'require',
  'limits',
  'budgets',
  'forges',
  'hooks',
]);

/**
 * Paths of the rule files that an index names, in its order. It says which files, and nothing else: what the bot may do is the operator's
 * to say.
 * @param indexPath path of the index for messages
 * @throws InvalidFile with every problem and its place
 */
export function readRuleIndex(indexPath: string, text: string): string[] {
  const { yaml, problems } = parseLocatedYaml(indexPath, text);
  if (!yaml) throw new InvalidFile(problems);
  const parsed = indexSchema.safeParse(yaml.value ?? {});
  if (!parsed.success)
    throw new InvalidFile(parsed.error.issues.flatMap((issue) => problemsOf(indexPath, yaml, issue)));
  const { files } = parsed.data;
  const wrongPaths: Problem[] = files.flatMap((path, n) => {
    const message = refusalOf(path) ?? (files.indexOf(path) < n ? `"${path}" is named twice` : null);
    return message === null ? [] : [{ file: indexPath, ...yaml.positionOf(['files', n]), message }];
  });
  if (files.length > MAX_FILES)
    wrongPaths.push({
      file: indexPath,
      ...yaml.positionOf(['files']),
      message: `it names ${files.length} rule files; ${MAX_FILES} is the limit`,
    });
  if (wrongPaths.length > 0) throw new InvalidFile(wrongPaths);
  return files;
}

function problemsOf(
  file: string,
  yaml: { positionOf(path: readonly PropertyKey[], atKey?: boolean): { line: number; col: number } },
  issue: z.core.$ZodIssue,
): Problem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      file,
      ...yaml.positionOf([...issue.path, key], true),
      message: OPERATORS_OWN.has(key) ? `${key} cannot come from a repository` : `unknown key "${key}"`,
      hint: OPERATORS_OWN.has(key)
        ? 'the operator says it in the bot’s own config'
        : 'an index has version: 1 and files: [path, …]',
    }));
  return [
    {
      file,
      ...yaml.positionOf(issue.path),
      message: `${issue.path.join('.') || 'the index'}: ${issue.message}`,
      hint: 'an index has version: 1 and files: [path, …]',
    },
  ];
}

/** Null when it is a plain path from the root of the repository. */
function refusalOf(path: string): string | null {
  const quoted = JSON.stringify(path.slice(0, 100));
  if (path.length > 255) return `${quoted} is longer than 255 characters`;
  if (/[\\\p{Cc}\p{Cf}]/u.test(path)) return `${quoted} holds a backslash or a character that nobody sees`;
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path))
    return `${quoted} is no path from the root of the repository, like rules/labels.yaml`;
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return `${quoted} has an empty part, "." or "..": write the path as it is`;
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) return `${quoted} leads into .git`;
  if (!/\.ya?ml$/.test(path)) return `${quoted} is no .yaml or .yml file`;
  if (/\.test\.ya?ml$/.test(path)) return `${quoted} is a file of fixtures, not of rules`;
  return null;
}
