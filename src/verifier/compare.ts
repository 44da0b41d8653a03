import { PEOPLE, type Model, type ModelRepo, type IntentStatus } from './model.js';
import type { JsonObject, RepoState, Row, Snapshot, Variable } from './handover.js';
import { bare, type Write } from './wishes.js';

/** One thing that has to be at the forge (or was found there), as text. */
export interface Finding {
  readonly what: string;
  /** The rule that wants it, or `people`. */
  readonly by: string;
  readonly verdict: 'ok' | 'missing' | 'extra';
  readonly item: string;
}

type Expected = ReadonlyArray<{ readonly by: string; readonly item: string }>;

/** Everything that should be against everything that is: what is there twice is one too many. */
export function compareForge(expected: Model, actual: Snapshot): Finding[] {
  const repos = [...expected.repos.values()];
  const actualRepos = new Map(actual.repos.map((state) => [String(state.repo.full_name).toLowerCase(), state]));
  const each = (list: (repo: ModelRepo) => Expected): Expected =>
    repos.flatMap((repo) => list(repo).map(({ by, item }) => ({ by, item: `${nameOf(repo.info)}: ${item}` })));
  const eachActual = (list: (state: RepoState) => string[]): string[] =>
    [...actualRepos.values()].flatMap((state) => list(state).map((item) => `${nameOf(state.repo)}: ${item}`));
  return [
    ...match(
      'repositories',
      repos.map((repo) => ({ by: PEOPLE, item: nameOf(repo.info) })),
      [...actualRepos.values()].map((state) => nameOf(state.repo)),
    ),
    ...match(
      'labels',
      each((repo) => rows(repo.labels)),
      eachActual((state) => state.labels.map(show)),
    ),
    ...match(
      'milestones',
      each((repo) => rows(repo.milestones)),
      eachActual((state) => state.milestones.map(show)),
    ),
    ...match(
      'push mirrors',
      each((repo) => rows(repo.mirrors)),
      eachActual((state) => state.mirrors.map(show)),
    ),
    ...match(
      'branches',
      each((repo) => branches(repo, actualRepos.get(nameOf(repo.info).toLowerCase()))),
      eachActual((state) =>
        Object.entries(state.branches).map(([name, sha]) => `${name} at ${sha?.slice(0, 10) ?? 'nothing'}`),
      ),
    ),
    ...match(
      'releases',
      each((repo) => repo.releases.map(({ by, value }) => ({ by, item: release(value) }))),
      eachActual((state) => state.releases.map(release)),
    ),
    ...match(
      'organization variables',
      variables(expected.orgVariables, actual.orgVariables),
      Object.entries(actual.orgVariables).map(variable),
    ),
    ...match(
      'account variables',
      variables(expected.accountVariables, actual.accountVariables),
      Object.entries(actual.accountVariables).map(variable),
    ),
    ...match(
      'account settings',
      [...expected.accountSettings].map(([name, { by, value }]) => ({ by, item: `${name} = ${String(value)}` })),
      Object.entries(actual.accountSettings).map(([name, value]) => `${name} = ${String(value)}`),
    ),
  ];
}

/** Every write of the bot's account that the forge took, against those that the rules ask for: once each, and nothing else. */
export function compareWrites(
  expected: readonly Write[],
  actual: ReadonlyArray<{ method: string; path: string }>,
): Finding[] {
  const text = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
  return match(
    'writes of the bot',
    expected.map((write) => ({ by: write.by, item: text(write) })),
    actual.map(text),
  );
}

/** As multisets. */
function match(what: string, expected: Expected, actual: readonly string[]): Finding[] {
  const rest = new Map<string, number>();
  for (const item of actual) rest.set(item, (rest.get(item) ?? 0) + 1);
  const findings: Finding[] = expected.map(({ by, item }) => {
    const count = rest.get(item) ?? 0;
    if (count > 0) rest.set(item, count - 1);
    return { what, by, item, verdict: count > 0 ? 'ok' : 'missing' };
  });
  for (const [item, count] of rest)
    for (let n = 0; n < count; n += 1) findings.push({ what, by: '-', item, verdict: 'extra' });
  return findings;
}

function rows(list: readonly IntentStatus<Row>[]): Expected {
  return list.map(({ by, value }) => ({ by, item: show(value) }));
}

function show(row: Row): string {
  return Object.entries(row)
    .filter(([, value]) => value !== '' && value !== null && value !== false)
    .map(([name, value]) => `${name} ${String(name === 'address' ? bare(value) : value)}`)
    .join(', ');
}

/** A commit that no act told is taken as it is. */
function branches(repo: ModelRepo, state: RepoState | undefined): Expected {
  return [...repo.branches].map(([name, { by, value }]) => ({
    by,
    item: `${name} at ${(value ?? state?.branches[name])?.slice(0, 10) ?? 'nothing'}`,
  }));
}

function release(value: JsonObject): string {
  const notes = String(value.body ?? '').replace(/\r\n/g, '\n');
  return `${String(value.tag_name)} "${String(value.name)}"${value.draft === true ? ', draft' : ''}${value.prerelease === true ? ', prerelease' : ''}, notes ${JSON.stringify(notes)}`;
}

/** A description is expected where the forge keeps one. */
function variables(
  map: ReadonlyMap<string, IntentStatus<Variable>>,
  actual: Readonly<Record<string, Variable>>,
): Expected {
  return [...map].map(([name, { by, value }]) => ({
    by,
    item: variable([name, actual[name]?.description === null ? { ...value, description: null } : value]),
  }));
}

function variable([name, { value, description }]: readonly [string, Variable]): string {
  return `${name} = ${value}${description === '' || description === null ? '' : ` (${description})`}`;
}

function nameOf(repo: JsonObject): string {
  return String(repo.full_name);
}
