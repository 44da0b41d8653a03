// Checks deploy/monitoring: promtool, the runbooks that alerts name, and every expression of the board against a bot that runs.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import { freePort } from '../../test/services/processes.mjs';
import { DEPLOY, ROOT, expect, must, need } from './common.mjs';

const FOLDER = join(DEPLOY, 'monitoring');
const RULES = join(FOLDER, 'forgehand.rules.yaml');
const WHENCE = 'apt-get install prometheus brings it';
const LONG_MS = 600_000;
/** What makes the bot call its forge for each new issue. */
const RULE = `version: 1
org: acme
rules:
  - id: crash
    on: issue.opened
    if: event.issue.title.contains("crash")
    do: { issue.label: { number: "\${{ event.number }}", add: [kind/bug] } }
`;

export function monitoringChecks(scratch) {
  return [
    ['Prometheus rules are good ones and pass their tests', promtool],
    ['each alert names a section of the runbooks', runbooks],
    ['Prometheus scrapes the running bot, and each expression of the board returns data', () => scrapes(scratch)],
  ];
}

function promtool() {
  const command = need('promtool', WHENCE);
  must(command, ['check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yaml')]);
  must(command, ['test', 'rules', join(FOLDER, 'forgehand.test.yaml')]);
  return must(command, ['check', 'rules', '--lint=all', '--lint-fatal', RULES]).split('\n').at(-1).trim();
}

const rules = () => parse(readFileSync(RULES, 'utf8')).groups.flatMap((group) => group.rules);

function runbooks() {
  const alerts = rules().filter(({ alert }) => alert);
  for (const { alert, annotations, labels } of alerts) {
    const [file, anchor] = annotations.runbook.split('#');
    const headings = readFileSync(join(ROOT, file), 'utf8').match(/^#+ .*$/gm) ?? [];
    const anchors = headings.map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(anchors.includes(anchor), `${alert}: ${file} has no section #${anchor}`);
    expect(annotations.summary && labels.severity, `${alert} lacks a summary or a severity`);
  }
  return `${alerts.length} alerts`;
}

/** A sandbox forge with a bot of its own, which gets metrics and work; then Prometheus with the rules, and what the board asks. */
async function scrapes(scratch) {
  const prometheus = need('prometheus', WHENCE);
  const folder = join(scratch, 'monitoring');
  mkdirSync(folder, { recursive: true });
  const cli = join(ROOT, 'dist/cli/forgehand.js');
  if (!existsSync(cli)) must('npm', ['run', '--silent', 'build']);
  const forgehand = (...args) => must(process.execPath, [cli, ...args], { cwd: folder });
  const [webhooks, metrics, web] = [await freePort(), await freePort(), await freePort()];
  forgehand('init', '--sandbox', '--yes', '--no-start', '--port', String(webhooks), '--wait', '600');
  appendFileSync(join(folder, 'config/forgehand.yaml'), `metrics: { listen: ${metrics} }\n`);
  writeFileSync(join(folder, 'rules/acme/crash.yaml'), RULE);
  const config = parse(readFileSync(join(FOLDER, 'prometheus.yaml'), 'utf8'));
  const [job] = config.scrape_configs;
  delete job.authorization;
  job.static_configs = [{ targets: [`127.0.0.1:${metrics}`] }];
  config.rule_files = [RULES];
  config.global = { scrape_interval: '2s', evaluation_interval: '2s' };
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const bot = start(
    process.execPath,
    [cli, 'init', '--sandbox', '--yes', '--start', '--port', String(webhooks)],
    folder,
  );
  const args = [`--config.file=${join(folder, 'prometheus.yaml')}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
  const server = start(prometheus, [...args, `--web.listen-address=127.0.0.1:${web}`], folder);
  try {
    const exposed = await until('the bot answers /metrics', () => text(`http://127.0.0.1:${metrics}/metrics`), bot);
    const names = new Set(exposed.match(/^# TYPE (\S+)/gm).map((line) => line.slice(7)));
    const board = JSON.parse(readFileSync(join(FOLDER, 'forgehand.dashboard.json'), 'utf8'));
    const asked = board.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
    const all = [...asked.map(({ expr }) => expr), ...rules().map(({ expr }) => expr)].join('\n');
    // `or vector(0)` answers whatever the name of the metric is.
    for (const [name] of all.matchAll(/\b(?:forgehand|process|nodejs)_\w+/g))
      expect(names.has(name.replace(/_(bucket|count|sum)$/, '')), `no process has the metric ${name}`);
    let tries = 0;
    for (const { title, expr } of asked) {
      const query = encodeURIComponent(expr.replaceAll('$__rate_interval', '5m'));
      const ask = async () => {
        const answer = JSON.parse((await text(`http://127.0.0.1:${web}/api/v1/query?query=${query}`)) ?? '{}');
        if (answer.data?.result?.length > 0) return true;
        // A rate needs a change between two scrapes.
        forgehand('sandbox', 'act', 'issue.open', `title=The app crashes ${++tries}`);
        return null;
      };
      await until(`"${title}" returns data: ${expr}`, ask, bot);
    }
    return `${asked.length} expressions, ${names.size} metrics`;
  } finally {
    for (const one of [bot, server]) {
      one.child.kill('SIGTERM');
      await one.ended;
    }
  }
}

function start(command, args, cwd) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = { child, said: '', isOver: false, ended: undefined };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (started.said += part));
  started.ended = new Promise((resolve) => child.once('close', resolve)).then(() => (started.isOver = true));
  return started;
}

async function text(url) {
  const answer = await fetch(url).catch(() => null);
  return answer?.ok ? answer.text() : null;
}

async function until(what, ask, bot) {
  for (const end = Date.now() + LONG_MS; Date.now() < end && !bot.isOver; await wait(2_000)) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new Error(
    `not so within ${LONG_MS / 60_000} minutes: ${what}${bot.isOver ? `; the bot ended: ${bot.said.slice(-1_000)}` : ''}`,
  );
}
