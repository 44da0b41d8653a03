import { readFileSync } from 'node:fs';
import { matchOperation } from './match-operation.js';
import type { OperationName } from '../../src/forge/operations.js';
import { operationNames, operationOf } from '../../src/forge/operations.js';
import { offers, profileOf } from '../../src/sandbox/profiles.js';
import type { Profile, ProfileName } from '../../src/sandbox/profiles.js';
import type { Story } from './story.js';
import { isExchange } from './story.js';

/** The recorded servers, by the profile that plays each. */
export const SERVERS = [
  ['Gitea 1.27', 'gitea-1.27', 'gitea'],
  ['Gitea 1.26', 'gitea-1.26', 'gitea@1.26'],
  ['Gitea 1.24', 'gitea-1.24', 'gitea@1.24'],
  ['Forgejo 15', 'forgejo-15', 'forgejo'],
] as const satisfies readonly (readonly [string, string, ProfileName])[];

const SPEC = 'src/sandbox/resources/extended.spec.ts';

/** Sources whose comments say what a piece of data means. */
const COMMENTED = ['profile.ts', 'quirks.ts', 'telling-style.ts', 'deliveries/delivery-request.ts'].map(
  (file) => `src/sandbox/${file}`,
);

/** The text between two markers of the page replaced by another one. */
export function withSection(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/forges.md has no section ${name}`);
  return `${page.slice(0, from + start.length)}\n${text}\n${page.slice(to)}`;
}

/**
 * Every section that is derived, in place.
 * @param root of the repository
 * @param stories the full recordings
 * @throws Error when the stories have fewer steps than the page counts
 */
export function renderPage(page: string, root: string, stories: readonly Story[]): string {
  const differences = differenceTable(commentsIn(COMMENTED.map((file) => readFileSync(`${root}/${file}`, 'utf8'))));
  const operations = operationTable(stories, readFileSync(`${root}/${SPEC}`, 'utf8'));
  const [before, now] = [recordedSteps(page), recordedSteps(operations)];
  if (now < before)
    throw new Error(
      `docs/forges.md counts ${before} recorded steps, and these recordings have ${now}. ` +
        'Set FORGEHAND_RECORDINGS to the folder of the full recordings, or leave the page to a maintainer who has them. ' +
        'If recordings went on purpose, empty the section "operations" of the page first',
    );
  return [
    ['differences', differences],
    ['fields', fieldTable()],
    ['operations', operations],
  ].reduce((text, [name = '', section = '']) => withSection(text, name, section), page);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

const SERVER_HEADS = SERVERS.map(([head]) => head);
const profiles = SERVERS.map(([, , name]) => profileOf(name));

/** Operation x server: how many recorded steps hold it there. */
export function operationTable(stories: readonly Story[], spec: string): string {
  const recorded = SERVERS.map(([, server]) =>
    stepsByOperation(stories.filter((story) => story.name.startsWith(`${server}/`))),
  );
  const inSpec = operationsIn(spec);
  const rows = operationNames.map((name) => {
    const { n, method, path } = operationOf(name);
    const cells = profiles.map((profile, at) => cellOf(offers(profile, name, undefined), recorded[at]?.get(name) ?? 0));
    return [
      n === undefined ? '' : String(n),
      `\`${name}\``,
      `${method} \`${path}\``,
      ...cells,
      inSpec.has(name) ? 'yes' : '',
    ];
  });
  return table(['op', 'operation', 'request', ...SERVER_HEADS, 'spec'], rows);
}

/** `12`: offered, held by twelve recorded steps. `–3`: not there, which three recorded steps show. */
function cellOf(isOffered: boolean, steps: number): string {
  const count = steps === 0 ? '' : String(steps);
  return isOffered ? count || '·' : `–${count}`;
}

/** The steps that a table of operations counts, of all servers. */
export function recordedSteps(text: string): number {
  const rows = text.split('\n').filter((line) => /^\| \d* ?\| `\w+` \|/.test(line));
  const cells = rows.flatMap((line) => line.split(' | ').slice(3, 3 + SERVERS.length));
  return cells.reduce((sum, cell) => sum + Number(/\d+$/.exec(cell)?.[0] ?? 0), 0);
}

function stepsByOperation(stories: readonly Story[]): Map<OperationName, number> {
  const counts = new Map<OperationName, number>();
  for (const step of stories.flatMap((story) => story.steps)) {
    if (!isExchange(step) || step.isSilent) continue;
    const name = matchOperation(step.request.method, step.request.path);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Operations that a spec asks for, by the methods and paths in its text. */
function operationsIn(spec: string): Set<OperationName> {
  const found = [...spec.matchAll(/'(GET|POST|PUT|PATCH|DELETE)',\s*(?:(\w+),|['`]([^'`]*))/g)];
  const names = found.map(({ 1: method = '', 2: variable, 3: path = '', index }) => {
    const filled = path.replace(/\$\{(\w+)\}/g, (_, name: string) => valueOf(name, spec, index));
    return matchOperation(method, variable === undefined ? filled : valueOf(variable, spec, index));
  });
  return new Set(names.filter((name) => name !== undefined));
}

/** What a constant that stands above holds, with `1` for what is filled in. */
function valueOf(name: string, spec: string, before: number): string {
  const all = [...spec.slice(0, before).matchAll(new RegExp(`const ${name} = ['\`]([^'\`]*)`, 'g'))];
  return (all.at(-1)?.[1] ?? '').replace(/\$\{[^}]*\}/g, '1');
}

/** `/** text *\/ key: type` of an interface: key -> text. */
export function commentsIn(sources: readonly string[]): Map<string, string> {
  const comments = new Map<string, string>();
  for (const source of sources) {
    for (const [, text = '', key = ''] of source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+):/g)) {
      comments.set(key, text.replace(/\s*\n\s*\*?\s*/g, ' ').trim());
    }
  }
  return comments;
}

/** Parts of a profile that have tables of their own, or say who it is. */
const APART = ['name', 'coreOnly', 'missing', 'shapes'];

function differenceTable(comments: ReadonlyMap<string, string>): string {
  const flat = profiles.map((profile) => flatten(profile as unknown as Record<string, unknown>, ''));
  const keys = [...new Set(flat.flatMap((one) => [...one.keys()]))];
  const rows = keys.flatMap((key) => {
    const values = flat.map((one) => one.get(key) ?? '');
    if (new Set(values).size === 1) return [];
    const [inner = '', outer = ''] = key.split('.').reverse();
    return [[`\`${key}\``, comments.get(inner) ?? comments.get(outer) ?? '', ...values]];
  });
  return table(
    ['data', 'meaning', ...SERVER_HEADS],
    rows.map((row) => row.map(escaped)),
  );
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|');
}

function flatten(value: Record<string, unknown>, prefix: string): Map<string, string> {
  const leaves = Object.entries(value)
    .filter(([key]) => prefix !== '' || !APART.includes(key))
    .flatMap(([key, inner]): [string, string][] => {
      const isGroup = typeof inner === 'object' && inner !== null && !Array.isArray(inner) && !(inner instanceof Set);
      return isGroup
        ? [...flatten(inner as Record<string, unknown>, `${prefix}${key}.`)]
        : [[`${prefix}${key}`, shown(inner)]];
    });
  return new Map(leaves);
}

function shown(value: unknown): string {
  const items = value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : undefined;
  if (items) return items.length === 0 ? 'none' : items.map(String).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === '' ? '(empty)' : String(value);
}

/** Field x server, for the fields that not every server shows. */
function fieldTable(): string {
  const shapes = [
    ...new Set(profiles.flatMap((profile) => Object.keys(profile.shapes))),
  ] as (keyof Profile['shapes'])[];
  const rows = shapes.flatMap((shape) => {
    const ofShape = profiles.map((profile) => profile.shapes[shape] ?? {});
    const fields = [
      ...new Set(
        ofShape.flatMap((one) => [
          ...(one.without ?? []),
          ...Object.keys(one.named ?? {}),
          ...Object.keys(one.fixed ?? {}),
        ]),
      ),
    ];
    return fields.map((field) => [shape, `\`${field}\``, ...ofShape.map((one) => fieldCell(one, field))]);
  });
  return table(['object', 'field', ...SERVER_HEADS], rows);
}

function fieldCell(
  { without = [], named = {}, fixed = {} }: NonNullable<Profile['shapes'][keyof Profile['shapes']]>,
  field: string,
): string {
  if (without.includes(field)) return '–';
  if (named[field] !== undefined) return `as \`${named[field]}\``;
  return field in fixed ? `always ${JSON.stringify(fixed[field])}` : 'yes';
}
