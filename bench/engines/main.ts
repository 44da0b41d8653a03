// npm run bench -- engines: our CEL engine beside the other library behind the same port, over the expressions of the example rules.
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Environment } from '@marcbachmann/cel-js';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ExpressionEngine } from '../../src/rules/language/expression-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { expressionsOf } from '../../src/rules/language/propose/expressions-of.js';
import { CelJsEngine } from '../../test/builders/cel-js-engine.js';
import { pushEvent } from '../rules/workload.js';
import { goalLine, median, short } from '../support/figures.js';
import { readOptions } from '../support/options.js';

const HELP = `npm run bench -- engines [options]

  --rounds N        rounds; ratios are taken within each and their median is told (default 5)
  --ms N            milliseconds of each measurement in each round (default 200)
`;

const VARIABLES = ['event', 'repo', 'org', 'now', 'vars', 'lookups', 'item', 'bot', 'config', 'stats', 'secrets'];
const FIVE = [
  'event.branch == "release/1.4"',
  'size(event.commits) <= 20',
  '!event.head_commit.message.startsWith("Merge ")',
  'event.commits.all(c, size(c.message) < 4000)',
  'repo.name.matches("^[a-z0-9-]+$") && !repo.archived',
];
/** A pattern that takes a backtracking engine time without end; short enough here for it to end. */
const HOSTILE = 'vars.text.matches("^(a+)+$")';
const HOSTILE_TEXT = `${'a'.repeat(26)}!`;

interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly ours: () => void;
  readonly theirs: () => void;
  /** It is so many at once; the figure is for one of them. */
  readonly of?: number;
  /** Runs once in a round: it takes too long for more. */
  readonly isOnce?: true;
}

async function main(): Promise<number> {
  const { rounds, ms } = readOptions(HELP, { rounds: 5, ms: 200 });
  const load = loadavg()[0] ?? NaN;
  const all = measurements();
  const took = new Map(all.map(({ name }) => [name, [] as Array<readonly [ours: number, theirs: number]>]));
  for (let round = 0; round <= rounds; round += 1) {
    console.error(round === 0 ? 'warming up ...' : `round ${round} of ${rounds} ...`);
    for (const { name, ours, theirs, isOnce, of = 1 } of all) {
      const pair = [timeOf(ours, isOnce ? 0 : ms) / of, timeOf(theirs, isOnce ? 0 : ms) / of] as const;
      if (round > 0) took.get(name)?.push(pair);
    }
  }
  console.log(
    `${availableParallelism()} cores, node ${process.versions.node}, load ${load.toFixed(1)} at the start and ${(loadavg()[0] ?? NaN).toFixed(1)} at the end`,
  );
  console.log('| what | ours µs | the other µs | ours by the other |');
  console.log('|---|---|---|---|');
  for (const { name, unit } of all) {
    const pairs = took.get(name) ?? [];
    const [ours, theirs, ratio] = [
      median(pairs.map(([a]) => a)),
      median(pairs.map(([, b]) => b)),
      median(pairs.map(([a, b]) => a / b)),
    ];
    console.log(
      `| ${name}, ${unit} | ${short(ours)} | ${short(theirs)} | ${ratio < 0.01 ? ratio.toExponential(0) : short(ratio)} |`,
    );
  }
  const hostile = median((took.get(all.at(-1)?.name ?? '') ?? []).map(([ours]) => ours / 1000));
  console.log(goalLine({ name: 'engines-hostile-pattern (ms, at most)', wanted: { atMost: 10 }, measured: hostile }));
  return 0;
}

function measurements(): Measured[] {
  const sources = expressionsOfExamples();
  const engines: Record<'ours' | 'theirs', ExpressionEngine> = { ours: new CelEngine(), theirs: new CelJsEngine() };
  const bare = new Environment({ unlistedVariablesAreDyn: true });
  const plain = sources.filter(
    (source) =>
      !/\b(?:glob|age|date|quarter|minor|next_minor|section|parse_yaml|repo_of|slug)\(|\.replace\(/.test(source),
  );
  const { event, data } = dataOf();
  const bound = Object.fromEntries(
    (['ours', 'theirs'] as const).map((side) => [
      side,
      Object.freeze(Object.fromEntries(Object.entries(data).map(([name, value]) => [name, engines[side].bind(value)]))),
    ]),
  ) as Record<'ours' | 'theirs', Readonly<Record<string, unknown>>>;
  const five = {
    ours: FIVE.map((source) => engines.ours.compile(source, VARIABLES)),
    theirs: FIVE.map((source) => engines.theirs.compile(source, VARIABLES)),
  };
  const hostile = {
    ours: engines.ours.compile(HOSTILE, VARIABLES),
    theirs: engines.theirs.compile(HOSTILE, VARIABLES),
  };
  return [
    {
      name: `compiling the ${plain.length} expressions of the example rules`,
      unit: 'each (ours with its checks)',
      ours: () => plain.forEach((source) => engines.ours.compile(source, VARIABLES)),
      theirs: () => plain.forEach((source) => bare.parse(source)),
      of: plain.length,
    },
    {
      name: 'five conditions over a push, bound before',
      unit: 'all five',
      ours: () => five.ours.forEach((one) => one.evaluate(bound.ours)),
      theirs: () => five.theirs.forEach((one) => one.evaluate(bound.theirs)),
    },
    {
      name: 'an event bound and the five conditions',
      unit: 'all of it',
      ours: () => decideFresh(engines.ours, five.ours, data, event),
      theirs: () => decideFresh(engines.theirs, five.theirs, data, event),
    },
    {
      name: `a hostile pattern over ${HOSTILE_TEXT.length} letters`,
      unit: 'once',
      ours: () => void hostile.ours.evaluate(bound.ours),
      theirs: () => void hostile.theirs.evaluate(bound.theirs),
      isOnce: true,
    },
  ];
}

function decideFresh(
  engine: ExpressionEngine,
  five: ReadonlyArray<{ evaluate(bindings: Readonly<Record<string, unknown>>): unknown }>,
  data: Readonly<Record<string, unknown>>,
  event: object,
): void {
  const bindings = Object.freeze(
    Object.fromEntries(
      Object.entries({ ...data, event: { ...event } }).map(([name, value]) => [name, engine.bind(value)]),
    ),
  );
  for (const one of five) one.evaluate(bindings);
}

function dataOf(): { event: object; data: Record<string, unknown> } {
  const { data, repo, actor, kind } = pushEvent();
  const event = { ...data, kind, actor, repo };
  return {
    event,
    data: {
      event,
      repo,
      org: { name: 'acme' },
      now: new Date('2026-11-20T12:00:00Z'),
      vars: { text: HOSTILE_TEXT },
      lookups: {},
      item: null,
      bot: { login: 'forgehand' },
      config: {},
      stats: {},
      secrets: null,
    },
  };
}

function expressionsOfExamples(): string[] {
  const folders = ['config/rules/acme', 'config/rules/examples'];
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => !name.endsWith('.test.yaml'))
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(`${folder}/${name}`, 'utf8') })),
  );
  const powers = new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? []));
  const loaded = loadRules(files, {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers,
    secrets: new Set(['mirror_token', 'dev_chat']),
    engine: new CelEngine(),
  });
  if (!loaded.ok)
    throw new Error(loaded.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n'));
  return [
    ...new Set(
      [...loaded.revision.rules, ...loaded.revision.policies].flatMap(({ program }) =>
        expressionsOf(program).map(({ expression }) => expression.compiled.source),
      ),
    ),
  ];
}

/** Processor microseconds of one call: the time on the clock would also tell what else the machine does. At least one call. */
function timeOf(work: () => void, ms: number): number {
  const end = performance.now() + ms;
  const before = process.cpuUsage();
  let calls = 0;
  do {
    work();
    calls += 1;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

process.exitCode = await main();
