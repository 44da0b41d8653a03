// npm run bench -- backtest: how long it takes to try 50 rules on 10,000 stored events whose lookups were recorded.
import { loadavg } from 'node:os';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { JsonObject } from '../../src/core/json.js';
import { parseJson, stringifyJson } from '../../src/core/json.js';
import { Backtest } from '../../src/insight/backtest/backtest.js';
import type { BacktestReport } from '../../src/insight/backtest/backtest-report.js';
import type { HistoryRun, HistoryAnswer } from '../../src/insight/history-store.port.js';
import { readHistory } from '../../src/insight/read-history.js';
import { askKey } from '../../src/pipeline/decide/answer-lookups.js';
import { acmeRevision, aRepository, BOT, theRules } from '../../test/builders/a-life.js';

const EVENTS = Number(process.env['EVENTS'] ?? 10_000);
const RULES = 50;
const PAGE = Math.min(500, EVENTS);
const GOAL_S = 60;

const KINDS = ['tag.created', 'push', 'release.published', 'issue.opened'] as const;

/** Each rule listens to two of four kinds, and its filters pass all of them; a third each ask nothing, one branch, and two things. */
function ruleText(n: number): string {
  const line = '      line: {use: branch.get, with: {branch: "release/${{ minor(event.tag) }}"}, on_missing: none}';
  const fence = '      fence: {use: protection.get, with: {name: "release/*"}, on_missing: none}';
  const lookups = [[], [line], [line, fence]][n % 3] ?? [];
  return [
    `  - id: rule-${n}`,
    `    on: [${KINDS[n % 4]}, ${KINDS[(n + 1) % 4]}]`,
    '    where: {repo: ["acme/app-*"], archived: false}',
    ...(lookups.length > 0 ? ['    lookup:', ...lookups] : []),
    '    if:',
    `      is_version: event.tag.matches("^v[0-9]+[.][0-9]+[.][0-9]+$")`,
    `      not_left_out: "!(repo.name in ['app-${n}', 'app-${n + 1}'])"`,
    `      touches: event.files.exists(f, f.startsWith('src/${n % 10}/'))`,
    ...(lookups.length > 0 ? ['      absent: lookups.line == null || lookups.line.commit.message.size() > 0'] : []),
    ...(lookups.length > 1 ? ['      free: lookups.fence == null'] : []),
    `    do: {milestone.ensure: {title: "\${{ next_minor(event.tag) }} of ${n}"}}`,
  ].join('\n');
}

function anEvent(n: number): ForgeEvent {
  const at = new Date(Date.UTC(2026, 9, 1) + n * 60_000);
  const tag = `v${n % 40}.${n % 7}.${n % 3}`;
  const files = Array.from({ length: 20 }, (_, index) => `src/${index % 9}/file-${index}.ts`);
  const id = `event-${String(n).padStart(6, '0')}`;
  return {
    id,
    forge: 'main',
    org: 'acme',
    kind: KINDS[n % 4] ?? 'push',
    source: 'webhook',
    factKey: id,
    factAt: at,
    actor: { id: '3', login: 'ann' },
    repo: aRepository(n % 200),
    data: { tag, ref: `refs/tags/${tag}`, files },
    storedAt: at,
  };
}

/** What the journal holds about it: the answers of each rule that asked. */
function runsOf({ id, data, storedAt }: ForgeEvent): HistoryRun[] {
  const [, minor] = /^v(\d+\.\d+)/.exec(String(data['tag'])) ?? [];
  const line = {
    value: { name: `release/${minor}`, commit: { id: 'c'.repeat(40), message: 'a message' } },
    asked: askKey({ use: 'branch.get', params: { branch: `release/${minor}` } }),
  };
  const fence = { missing: true, asked: askKey({ use: 'protection.get', params: { name: 'release/*' } }) };
  return Array.from({ length: RULES }, (_, n): HistoryRun => {
    const lookups: JsonObject = n % 3 === 0 ? {} : n % 3 === 1 ? { line } : { line, fence };
    return {
      id: `run-${id}-${n}`,
      rule: `rule-${n}`,
      kind: 'rule',
      revisionId: 'rev',
      mode: 'live',
      state: 'not-fired',
      reason: 'one was false',
      code: 'run.not-fired',
      parameters: {},
      lookups,
      decidedAt: storedAt,
      eventId: id,
      intents: [],
    };
  });
}

function pages(): string[] {
  const texts: string[] = [];
  for (let from = 0; from < EVENTS; from += PAGE) {
    const events = Array.from({ length: PAGE }, (_, n) => anEvent(from + n));
    const page: HistoryAnswer = { events, runs: events.flatMap(runsOf), next: null, bot: BOT };
    texts.push(stringifyJson(page));
  }
  return texts;
}

interface Trial {
  readonly report: BacktestReport;
  /** On the clock. */
  readonly seconds: number;
  /** Of the processor, garbage and all; the time on the clock would tell what else the machine did. */
  readonly cpu: number;
  readonly reading: number;
}

function trial(texts: readonly string[], rules: string): Trial {
  const began = performance.now();
  const from = process.cpuUsage();
  const backtest = new Backtest({
    revision: acmeRevision(rules),
    rules: theRules,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
  });
  let reading = 0;
  for (const text of texts) {
    const readingFrom = process.cpuUsage();
    const page = readHistory(parseJson(text));
    reading += secondsOf(readingFrom);
    backtest.add(page, page.bot);
  }
  const report = backtest.report({ org: 'acme', since: new Date(0), until: new Date(), notes: [] });
  return { report, seconds: (performance.now() - began) / 1000, cpu: secondsOf(from), reading };
}

function secondsOf(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000_000;
}

const rules = `version: 1\norg: acme\nrules:\n${Array.from({ length: RULES }, (_, n) => ruleText(n)).join('\n')}\n`;
console.error(`making ${EVENTS} events with ${EVENTS * RULES} runs …`);
const texts = pages();
const first = trial(texts, rules);
const second = trial(texts, rules);
const { report } = first;
console.log(
  `${report.events} events, ${report.decisions} decisions, ${report.rules.reduce((sum, { would }) => sum + would.fired, 0)} would fire, ${report.rules.reduce((sum, { would }) => sum + would.unknown, 0)} unknown`,
);
const megabytes = texts.reduce((sum, { length }) => sum + length, 0) / 1e6;
for (const { cpu, seconds, reading } of [first, second])
  console.log(
    `${cpu.toFixed(1)} s of the processor (${seconds.toFixed(1)} s on the clock, load ${loadavg()[0]?.toFixed(1)}), of which ${reading.toFixed(1)} s read ${megabytes.toFixed(0)} MB of history`,
  );
console.log(
  `hash ${report.hash}${report.hash === second.report.hash ? ', the same twice' : ` and ${second.report.hash}: NOT THE SAME`}`,
);
const slower = Math.max(first.cpu, second.cpu);
console.log(
  `goal backtest (processor time): wanted ${GOAL_S} s, measured ${slower.toFixed(1)} s, ${slower <= GOAL_S ? 'met' : 'missed'}`,
);
if (report.hash !== second.report.hash) process.exitCode = 1;
