import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { stringifyJson } from '../../core/json.js';
import { writeWholeFile } from '../../platform/whole-file.js';
import { withVariables, type Places } from './operator-files.js';
import { starterFile, type Mirror, type StarterSet } from './starter-sets.js';
import type { Steps } from './steps.js';

/** Writes a file that is not there yet; one that is there stays as it is. */
export function writeNew(steps: Steps, step: string, path: string, text: string): void {
  if (existsSync(path)) return steps.addKept(step, `${path} is there, and stays as it is`);
  mkdirSync(dirname(path), { recursive: true });
  // Not over one that somebody made meanwhile.
  writeFileSync(path, text, { flag: 'wx' });
  steps.files.push(path);
  steps.addDone(step, path);
}

/** Adds variables to the environment file, which only its owner may read. */
export function addVariables(steps: Steps, { environment }: Places, variables: ReadonlyMap<string, string>): void {
  const isThere = existsSync(environment);
  const before = isThere ? readFileSync(environment, 'utf8') : '';
  const after = withVariables(before, new Set(Object.keys(parseEnv(before))), variables);
  if (after === before) return steps.addKept('secrets', `${environment} has them`);
  mkdirSync(dirname(environment), { recursive: true });
  writeWholeFile(environment, after, { replace: true });
  if (!isThere) steps.files.push(environment);
  steps.addDone('secrets', `${environment}, for you alone: ${[...variables.keys()].join(', ')}`);
}

/** The folder of the organization's rules, with the starter sets that were chosen and the schema for editors. */
export async function writeRules(
  steps: Steps,
  places: Places,
  org: string,
  sets: readonly StarterSet[],
  mirror: Mirror | null,
): Promise<void> {
  const folder = join(places.rules, org);
  mkdirSync(folder, { recursive: true });
  const { ofRules } = await import('../schema.command.js');
  writeNew(steps, 'schema', places.schema, `${stringifyJson(await ofRules(), 2)}\n`);
  for (const set of sets) writeNew(steps, 'rules', join(folder, `${set.name}.yaml`), starterFile(set, org, mirror));
}
