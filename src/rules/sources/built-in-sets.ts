import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { didYouMean } from '../../core/did-you-mean.js';
import type { RuleFile } from '../language/revision.js';

const FOLDER = fileURLToPath(new URL('../../../config/rules/sets/', import.meta.url));
const OWNER = 'forgehand/';

/** By name, like `forgehand/stale@1`. Read once: an upgrade is another process. */
let setTexts: ReadonlyMap<string, string> | null = null;

/** The rule sets that are part of the program. A published version never changes: a new meaning is a new version. */
export function builtInSets(): ReadonlyMap<string, string> {
  return (setTexts ??= readSets());
}

/** Empty where the program was installed without them. */
function readSets(): ReadonlyMap<string, string> {
  let names: string[];
  try {
    names = readdirSync(FOLDER);
  } catch {
    return new Map();
  }
  const files = names.filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml')).sort();
  return new Map(
    files.map((name) => [`${OWNER}${name.slice(0, -'.yaml'.length)}`, readFileSync(`${FOLDER}${name}`, 'utf8')]),
  );
}

/** Whether `extends` means a built-in set by it. A file of a folder has an ending. */
export function isBuiltInSet(ref: string): boolean {
  return ref.startsWith(OWNER) && !/\.ya?ml$/.test(ref);
}

/** The built-in set that a name without the program's is meant for; null = none. */
export function builtInSetLike(ref: string): string | null {
  return builtInSets().has(`${OWNER}${ref}`) ? `${OWNER}${ref}` : null;
}

/** A built-in set as a shared file. Its path in messages is its name; its name in the revision says the hash of its text. */
export function readBuiltInSet(ref: string, isAllowed: boolean): RuleFile {
  const file = { path: ref, name: `extends:${ref}`, shared: ref };
  const sets = builtInSets();
  const text = sets.get(ref);
  // What the operator allows is not for everybody to know; what the program has is.
  if (!isAllowed)
    return {
      ...file,
      text: '',
      refused: 'the operator allows no built-in sets here (orgs[].rules.built_in_sets)',
    };
  if (text === undefined) return { ...file, text: '', isPublic: true, refused: unknownSet(ref, [...sets.keys()]) };
  return { ...file, name: `${file.name} sha256:${hash('sha256', text, 'hex')}`, text, isPublic: true };
}

function unknownSet(ref: string, names: readonly string[]): string {
  if (names.length === 0) return `the program was installed without its built-in sets (${FOLDER})`;
  const [word = ''] = ref.split('@');
  const versions = names.filter((name) => name.startsWith(`${word}@`));
  const near = versions.at(-1) ?? didYouMean(ref, names);
  return `there is no such built-in set${near === null ? '' : `, did you mean "${near}"?`} There are: ${names.join(', ')}`;
}
