import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeWithSets } from '../builders/set-files.js';
import { ROOT } from '../services/with-services.mjs';
import type { Stage, StageOrg } from './stage.js';

/** Shipped rule files, about this organization and its people. What takes days takes no time, as nobody can make an issue old. */
export function shippedRules(
  folder: 'organization' | 'starters',
  stage: Stage,
  org: StageOrg,
  leftOut: ReadonlyMap<string, string>,
): Record<string, string> {
  const from = join(ROOT, 'config/rules', folder);
  const names = readdirSync(from).filter((name) => /\.yaml$/.test(name) && !/\.test\.yaml$/.test(name));
  return Object.fromEntries(
    names
      .filter((name) => !leftOut.has(name))
      .map((name) => [
        name,
        changeWithSets(
          readFileSync(join(from, name), 'utf8')
            .replace(/\bacme\b/g, org.name)
            .replace('reviewers: [ann, ben, cy]', `reviewers: [${stage.olga.login}]`)
            .replace(
              '  - id: command-retest\n',
              stage.forge.family === 'forgejo'
                ? '  - id: command-retest\n    disabled: this forge cannot run failed jobs again\n'
                : '$&',
            ),
          hurry,
        ),
      ]),
  );
}

function hurry(text: string): string {
  return text.replace(/\b(stale_(?:close_)?days): \d+/g, '$1: 0').replace('window: 2m', 'window: 1s');
}

/** In place of `merge/ready`, which the rules of the house merge: they give a merge up whose head moved, and would say so. */
export const KEPT_FRESH = 'pinned';

/** The file of a recipe, about this organization. */
export function recipeRules(page: string, title: string, org: StageOrg): Record<string, string> {
  const parts = readFileSync(join(ROOT, 'docs/recipes', page), 'utf8').split(/^## /m);
  const text = /```yaml\n(.*?)```/s.exec(parts.find((part) => part.startsWith(`${title}\n`)) ?? '')?.[1];
  if (text === undefined) throw new Error(`docs/recipes/${page} has no file of ${title}`);
  return { [`${title}.yaml`]: text.replace(/\bacme\b/g, org.name) };
}

/** A file of the examples, about this organization; what takes days takes no time. @param people who stands for whom */
export function exampleRules(
  name: string,
  org: StageOrg,
  people: Readonly<Record<string, string>> = {},
): Record<string, string> {
  let text = readFileSync(join(ROOT, 'config/rules/examples', name), 'utf8');
  for (const [login, here] of Object.entries(people)) text = text.replaceAll(login, here);
  return {
    [name]: text
      .replace(/\bacme\b/g, org.name)
      .replaceAll('merge/ready', KEPT_FRESH)
      .replace(/duration\('\d+h'\)/g, "duration('0s')"),
  };
}
