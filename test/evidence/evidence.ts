import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../services/with-services.mjs';

/** What was measured at one commit towards one goal; `evidence/GOAL.json` keeps those that count. */
export interface EvidenceRun {
  /** Abbreviated hash; several where one run's figures come from several builds. */
  readonly commit: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** Null where chance has no part in it, or the seed was not kept. */
  readonly seed: string | null;
  readonly machine: string;
  /** One run in place of the goal's many. */
  readonly isNightly?: true;
  /** In words; null for a figure that has no aim. */
  readonly wanted: string | null;
  readonly measured: string;
  /** Null where nothing is wanted. */
  readonly met: boolean | null;
  /** Rows that the run gives to tables of docs/evidence.md, a text for each column. */
  readonly rows: Readonly<Partial<Record<TableName, readonly (readonly string[])[]>>>;
}

export interface Evidence {
  readonly goal: GoalName;
  readonly runs: readonly EvidenceRun[];
}

/** In the order in which their rows stand in a table that they share. */
export const GOALS = [
  'G1',
  'G2',
  'G3',
  'G5',
  'G6',
  'G2-settle-60',
  'storm',
  'bull-peer',
  'recovery',
  'start',
  'G4',
  'G13',
  'G14',
  'power',
  'fuzz',
  'contract',
  'simulation',
  'mutation',
  'ten-passes',
] as const;
export type GoalName = (typeof GOALS)[number];

const BAD = ['lost', 'doubled', 'phantom', 'stuck'];

/** Columns of the tables that come from evidence, by the name that the page's marker bears. */
export const TABLES = {
  effects: [
    'goal',
    'deployment, profile',
    'runs',
    'seeds',
    'what was done to it',
    'in a call',
    'effects',
    ...BAD,
    'waiting',
  ],
  'effects-settle-60': ['profile', 'kills', 'in a call', 'effects', ...BAD, 'waiting'],
  storm: ['what was done to it', 'effects', ...BAD],
  'bull-peer': ['run', 'seed', 'kills', 'in a call', 'effects wanted', 'lost', 'doubled', 'wrongly failed'],
  recovery: ['what', 'load', 'deployment', 'median', 'slowest'],
  start: ['role', 'processor time'],
  'lost-webhooks': [
    'deliveries',
    'facts that rows can show',
    'dropped',
    'sent while the bot was down',
    'gaps listed',
    'of which `down`, `unknown`',
    'missed',
    'doubled',
    'injected and not listed',
    'listed and not injected',
  ],
  schedules: [
    'zones',
    'changes of a clock',
    'moments by the oracle',
    'wrong patterns',
    'downtimes',
    'jumps of a clock',
    'restarts',
    'ticks wanted',
    'missing',
    'too many',
    'decided twice',
  ],
  overload: [
    'run',
    'commit, date',
    'load',
    'deliveries stored',
    'answers p50, p99',
    'told to wait',
    'effects',
    'memory',
    "other organization's first call, p95: alone, in the flood, as long again after it",
  ],
  'overload-goals': ['goal', 'wanted, at most', 'embedded', 'distributed'],
  'power-cuts': ['version', 'cuts', 'writes and names dropped', 'lost', 'doubled', 'stores that did not open'],
  simulation: ['seeds', 'kills', 'kill points hit', 'invariants broken', 'processor time', 'time (goal: 300 s)'],
  mutation: ['file', 'killed', 'survived', 'no test', 'timeout', 'noticed'],
  'ten-passes': ['pass', 'tier', 'passed', 'failed', 'skipped', 'time'],
} as const satisfies Record<string, readonly string[]>;
export type TableName = keyof typeof TABLES;

export const FOLDER = join(ROOT, 'evidence');
export const fileOf = (goal: GoalName): string => join(FOLDER, `${goal}.json`);

/** @throws Error where a file is not named after its goal */
export function readEvidence(): Evidence[] {
  const found = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name): Evidence => {
      const evidence = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Evidence;
      if (`${evidence.goal}.json` !== name) throw new Error(`evidence/${name} is about ${evidence.goal}`);
      return evidence;
    });
  return found.sort((a, b) => GOALS.indexOf(a.goal) - GOALS.indexOf(b.goal));
}

/** Between each pair of markers what the evidence says, all else as it is. @throws Error for a marker of no known table */
export function renderPage(page: string, evidence: readonly Evidence[]): string {
  return page.replace(
    /^<!-- table (\S+) -->\n[^]*?<!-- end -->$/gm,
    (_found, name: string) => `<!-- table ${name} -->\n${tableOf(name, evidence)}\n<!-- end -->`,
  );
}

/** Names of the tables of a page, in its order. */
export function tablesIn(page: string): string[] {
  return [...page.matchAll(/^<!-- table (\S+) -->$/gm)].map(([, name = '']) => name);
}

function tableOf(name: string, evidence: readonly Evidence[]): string {
  if (!isTable(name)) throw new Error(`there is no table ${name}; there are ${Object.keys(TABLES).join(', ')}`);
  const columns = TABLES[name];
  const rows = evidence.flatMap(({ runs }) => runs.flatMap((run) => run.rows[name] ?? []));
  const wrong = rows.find((row) => row.length !== columns.length);
  if (wrong) throw new Error(`a row of ${name} has ${wrong.length} cells, ${columns.length} are wanted: ${wrong[0]}`);
  if (rows.length === 0) return 'Not run at this version; nothing is claimed.';
  const line = (cells: readonly string[]): string =>
    `|${cells.map((cell) => (cell === '' ? ' |' : ` ${cell} |`)).join('')}`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

function isTable(name: string): name is TableName {
  return Object.hasOwn(TABLES, name);
}
