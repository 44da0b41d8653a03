import { readdirSync, readFileSync } from 'node:fs';

interface Recipe {
  readonly text: string;
  /** The shipped file that the page names, below `config/rules`; null = the page shows the whole file. */
  readonly path: string | null;
}

const PAGES = 'docs/recipes';

/** By their titles. */
export const RECIPES: ReadonlyMap<string, Recipe> = new Map(
  readdirSync(PAGES).flatMap((page) =>
    readFileSync(`${PAGES}/${page}`, 'utf8')
      .split(/^## /m)
      .slice(1)
      .map((part): [string, Recipe] => {
        const [, shown] = /```yaml\n(.*?)```/s.exec(part) ?? [];
        const [, path = ''] = /^File: \[(.*?)\]/m.exec(part) ?? [];
        return [
          part.split('\n', 1)[0] ?? '',
          shown === undefined
            ? { text: readFileSync(`config/rules/${path}`, 'utf8'), path }
            : { text: shown, path: null },
        ];
      }),
  ),
);

/** Its set has the rules of another recipe: they cannot stand in one organization. */
const ALONE = 'Release notes';

const shownRecipes = [...RECIPES].flatMap(([title, { text, path }]) => (path === null ? [{ title, text }] : []));

/** Those that a page shows: `ofSets` only choose a built-in set, and `own` have rules of their own, or a set that does not stand beside the others. */
export const SHOWN = {
  ofSets: shownRecipes.filter(({ title, text }) => !/^rules:/m.test(text) && title !== ALONE),
  own: shownRecipes.filter(({ title, text }) => /^rules:/m.test(text) || title === ALONE),
} as const;
