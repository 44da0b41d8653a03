import { UNITS_OF_FAMILIES, type Visibility } from '../core/visibility.js';

/**
 * What a visibility (`core/visibility.ts`) is in a statement: the organizations of which all may be told (null = everything), and the repositories that
 * may be told of others, by the name of their organization and their number.
 */
interface VisibilityParams {
  readonly whole: string[] | null;
  readonly orgs: string[];
  readonly repos: string[];
}

export function visibilityParams(visibility: Visibility): VisibilityParams {
  if (visibility === null) return { whole: null, orgs: [], repos: [] };
  const pairs = visibility.flatMap(({ org, repositories }) => (repositories ?? []).map((repo) => [org, repo] as const));
  return {
    whole: visibility.flatMap(({ org, repositories }) => (repositories === null ? [org] : [])),
    orgs: pairs.map(([org]) => org),
    repos: pairs.map(([, repo]) => repo),
  };
}

/** The parameters of a visibility in a statement: `$4`, `$5` and `$6`, or `:whole`, `:orgs` and `:repos` in a query builder. */
export interface VisibilityPlaces {
  readonly whole: string;
  readonly orgs: string;
  readonly repos: string;
}

export const NAMED: VisibilityPlaces = { whole: ':whole', orgs: ':orgs', repos: ':repos' };

/** Three parameters from this one on, in the order of `visibilityValues`. */
export function placesFrom(first: number): VisibilityPlaces {
  return { whole: `$${first}`, orgs: `$${first + 1}`, repos: `$${first + 2}` };
}

export function visibilityValues(visibility: Visibility): [string[] | null, string[], string[]] {
  const { whole, orgs, repos } = visibilityParams(visibility);
  return [whole, orgs, repos];
}

const texts = (place: string): string => `CAST(${place} AS text[])`;

/** A row about all of an organization may be told. @param org expression @param whole the first parameter of the visibility */
export function tellsOrg(org: string, whole: string): string {
  return `(${texts(whole)} IS NULL OR ${org} = ANY (${texts(whole)}))`;
}

/**
 * A row about one repository may be told, or one about its organization.
 * @param org expression
 * @param repo expression: the number of the repository; null = it is about the organization
 */
export function tellsRepo(org: string, repo: string, places: VisibilityPlaces): string {
  return `(${tellsOrg(org, places.whole)} OR (${org}, ${repo}) IN (${pairs(places)}))`;
}

/** What the event `e` tells may be told: of its repository, or of the unit that it belongs to. */
export function tellsEvent(e: string, places: VisibilityPlaces): string {
  return `(${tellsRepo(`${e}.org`, `${e}.repo_id`, places)} OR ${tellsUnit(e, places)})`;
}

/** What the run `r` was decided about may be told. Where a unit alone is visible, it must have read nothing: what it reads may be of another. */
export function tellsRun(r: string, places: VisibilityPlaces): string {
  return `(${tellsRepo(`${r}.org`, `${r}.repo_id`, places)} OR ${tellsUnitOfRun(r, places)})`;
}

const UNIT_OF = Object.entries(UNITS_OF_FAMILIES).map(([family, unit]) => `WHEN '${family}' THEN '/${unit}'`);

/** As the entry of a visibility has it: `12/pulls`. */
function unitOf(e: string): string {
  return `${e}.repo_id || CASE split_part(${e}.kind, '.', 1) ${UNIT_OF.join(' ')} END`;
}

function tellsUnit(e: string, places: VisibilityPlaces): string {
  return `(${e}.org, ${unitOf(e)}) IN (${pairs(places)})`;
}

function whereEvent(r: string, isTold: string): string {
  return `(${r}.lookups = '{}' AND EXISTS (SELECT 1 FROM events v WHERE v.id = ${r}.event_id AND ${isTold} OFFSET 0))`;
}

function tellsUnitOfRun(r: string, places: VisibilityPlaces): string {
  return whereEvent(r, tellsUnit('v', places));
}

/** The run `r` may be told by this one entry of a visibility. @param entry expression: `12` or `12/pulls` */
export function isOfEntry(r: string, entry: string): string {
  return `${r}.repo_id = split_part(${entry}, '/', 1) AND (${r}.repo_id = ${entry} OR ${whereEvent(r, `${unitOf('v')} = ${entry}`)})`;
}

const pairs = ({ orgs, repos }: VisibilityPlaces): string => `SELECT * FROM unnest(${texts(orgs)}, ${texts(repos)})`;

/** The number of the repository that the intent `i` acts on, out of its order key; null = it acts on something else. See `orderKeyOf` in `core/target.ts`. */
function repoOfOrderKey(i: string): string {
  return `CASE WHEN starts_with(${i}.order_key, ${i}.forge || '/repository/') THEN substr(${i}.order_key, length(${i}.forge) + 13) END`;
}

/** What the intent `i` acts on may be told; whether its run may be is another question. */
function tellsTarget(i: string, places: VisibilityPlaces): string {
  return tellsRepo(`${i}.org`, repoOfOrderKey(i), places);
}

/** Both what the intent `i` acts on and what it was decided about may be told: its parameters may be made of either. */
export function tellsIntent(i: string, places: VisibilityPlaces): string {
  return `(${tellsOrg(`${i}.org`, places.whole)} OR (${tellsTarget(i, places)}
    AND EXISTS (SELECT 1 FROM runs o WHERE o.id = ${i}.run_id AND (o.org, o.repo_id) IN (${pairs(places)}) OFFSET 0))
    OR EXISTS (SELECT 1 FROM runs o WHERE o.id = ${i}.run_id AND o.repo_id = ${repoOfOrderKey(i)} AND ${tellsUnitOfRun('o', places)} OFFSET 0))`;
}

/** All that the arrival `a` tells may be told. What it tells is not known before it is decided, and never of what makes no event. */
export function tellsArrival(a: string, places: VisibilityPlaces): string {
  const tellsOf = (which: string): string =>
    `EXISTS (SELECT 1 FROM arrival_events x JOIN events y ON y.id = x.event_id WHERE x.arrival_id = ${a}.id AND ${which} OFFSET 0)`;
  const isTold = `((y.org, y.repo_id) IN (${pairs(places)}) OR ${tellsUnit('y', places)})`;
  return `(${tellsOrg(`${a}.org`, places.whole)} OR (${tellsOf(isTold)} AND NOT ${tellsOf(`(${isTold}) IS NOT TRUE`)}))`;
}
