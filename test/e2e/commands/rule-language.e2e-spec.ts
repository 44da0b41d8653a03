import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { RunReport } from '../../../src/api/operations/answers.js';
import type { BacktestReport } from '../../../src/insight/backtest/backtest-report.js';
import type { RunExplanation } from '../../../src/insight/explanation.js';
import type { FixturesReport } from '../../../src/insight/fixtures/run-fixtures.js';
import { sarifErrors } from '../../builders/sarif-schema.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import type { CommandResult } from '../support/forgehand.js';
import { untilRows } from '../support/forgehand.js';
import { Outputs } from './outputs.js';

const HEAD = 'version: 1\norg: acme\n';
const RULES = `${HEAD}rules:
  - id: label-new
    on: repository.created
    if: {is_no_fork: "!repo.fork"}
    do: {label.ensure: {name: bug, color: "#d73a4a"}}
  - id: quiet
    mode: shadow
    on: repository.created
    do: {label.ensure: {name: quiet, color: "#000000"}}
  - id: gathered
    on: push
    coalesce: {key: "\${{ repo.full_name }}", window: 20h}
    do: {label.ensure: {name: pushed, color: "#ffffff"}}
`;
/** As they are to be: another condition, and one rule less. */
const NEXT = `${HEAD}rules:
  - id: label-new
    on: repository.created
    if: {is_web: repo.name == "web"}
    do: {label.ensure: {name: bug, color: "#d73a4a"}}
`;
const BROKEN = `${HEAD}rules:
  - id: wrong
    on: push
    if: event.brnch == "main"
    do: {label.ensure: {name: bug, colour: "#d73a4a"}}
`;
const FIXTURES = `${HEAD}tests:
  - name: a new repository gets its label
    event: {kind: repository.created, actor: ann, repo: acme/app}
    expect: {label-new: {label.ensure: {name: bug, color: "#d73a4a"}}}
`;

let forge: Forge;
let place: Place;
const outputs = new Outputs();
const secrets: Record<string, string> = {};

const run = (...args: string[]): Promise<CommandResult> => outputs.run(place, ...args);
const withConfig = (...args: string[]): Promise<CommandResult> => run(...args, '--config', place.configFile);
const json = <T>(...args: string[]): Promise<T> => outputs.json<T>(place, ...args, '--config', place.configFile);

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  Object.assign(secrets, { 'token of the forge': forge.botToken, 'secret of the hook': 'canary-hook-9f27b1c4' });
  place = aPlace({
    config: acmeConfig(forge.apiUrl, {
      forge: { rate_per_s: 20 },
      org: { rules: { path: 'rules', shadow: { path: 'next' } }, promotion: { min_decisions: 2 } },
    }),
    files: {
      'rules/rules.yaml': RULES,
      'next/rules.yaml': NEXT,
      'broken/rules.yaml': BROKEN,
      'tested/rules.yaml': RULES,
      'tested/a.test.yaml': FIXTURES,
    },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: secrets['secret of the hook'] ?? '' },
  });
});

afterAll(async () => {
  await forge.close();
  place.remove();
});

describe('e2e/commands: rules, before any bot runs', () => {
  it('check tells the same problems as text, as JSON and as valid SARIF', async () => {
    const check = (format: string): Promise<CommandResult> =>
      withConfig('check', '--rules', 'broken', '--format', format);
    const [text, asJson, sarif] = await Promise.all([check('text'), check('json'), check('sarif')]);
    const told = [...text.stdout.matchAll(/^error \S*broken\/rules\.yaml:(\d+):(\d+): /gm)].map(([, line, col]) => [
      Number(line),
      Number(col),
    ]);
    const { orgs } = JSON.parse(asJson.stdout) as { orgs: Array<{ problems: Array<{ line: number; col: number }> }> };
    const log = JSON.parse(sarif.stdout) as {
      runs: Array<{
        results: Array<{
          locations: Array<{ physicalLocation: { region: { startLine: number; startColumn: number } } }>;
        }>;
      }>;
    };
    const regions = log.runs[0]?.results.map(({ locations }) => locations[0]?.physicalLocation.region);

    expect([text.code, asJson.code, sarif.code]).toEqual([1, 1, 1]);
    expect(told).toEqual([
      [6, 15],
      [7, 36],
    ]);
    expect(orgs[0]?.problems.map(({ line, col }) => [line, col])).toEqual(told);
    expect(regions?.map((region) => [region?.startLine, region?.startColumn])).toEqual(told);
    expect(sarifErrors(log)).toEqual([]);
  });

  it('schema is a JSON Schema that takes the good rules and refuses the broken ones', async () => {
    const [rules, config] = await Promise.all([run('schema'), run('schema', '--config')]);
    const validate = new Ajv({ strict: false }).compile(JSON.parse(rules.stdout) as object);

    expect(JSON.parse(rules.stdout)).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
    expect([validate(parse(RULES)), validate(parse(BROKEN))]).toEqual([true, false]);
    expect(Object.keys((JSON.parse(config.stdout) as { properties: object }).properties)).toEqual(
      expect.arrayContaining(['forges', 'orgs', 'store']),
    );
  });

  it('test passes, fails and refuses, each with its exit code; coverage and JUnit tell more', async () => {
    place.write('failing/rules.yaml', RULES);
    place.write('failing/a.test.yaml', FIXTURES.replace('d73a4a', '000000'));
    place.write('refused/rules.yaml', BROKEN);
    const [good, asJson, failing, refused] = await Promise.all([
      run('test', 'tested', '--coverage', '--junit', 'junit.xml'),
      run('test', 'tested', '--json'),
      run('test', 'failing'),
      run('test', 'refused'),
    ]);

    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 test in 1 file: all passed\n.*label-new +is_no_fork +1 +- +never false/s),
    });
    expect(readFileSync(join(place.dir, 'junit.xml'), 'utf8')).toMatch(/<testsuites.*tests="1".*failures="0"/s);
    expect(JSON.parse(asJson.stdout) as FixturesReport).toMatchObject({
      failed: 0,
      problems: [],
      results: [{ failures: [] }],
    });
    expect(failing).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^failed failing\/a\.test\.yaml:6:\d+: .*color: expected "#000000", got "#d73a4a"/),
    });
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringMatching(/^error refused\/rules\.yaml:6:15: /) });
  });

  it('test --watch runs again when a file changes, and ends with a signal', async () => {
    place.write('watched/rules.yaml', RULES);
    place.write('watched/a.test.yaml', FIXTURES);
    const child = new Child([FORGEHAND, 'test', 'watched', '--watch'], place.env, place.dir);
    await child.line((line) => (line.startsWith('1 test in 1 file: all passed') ? true : undefined));
    await until(() => child.stderr.includes('watching'));
    const failed = child.line((line) => (line.startsWith('failed watched/a.test.yaml') ? true : undefined));
    place.write('watched/a.test.yaml', FIXTURES.replace('d73a4a', '000000'));
    await failed;

    expect(await child.end('SIGINT')).toEqual({ code: 1, signal: null });
    outputs.add('test --watch', child.stdout + child.stderr);
  });
});

describe('e2e/commands: rules, tried on what a bot stored', () => {
  let bot: Bot;
  let runs: RunReport[] = [];
  const named = (rule: string, state: string): RunReport | undefined =>
    runs.find(({ run: one }) => one.rule === rule && one.state === state);

  beforeAll(async () => {
    bot = await startBot(place);
    await forge.hook(bot.url, secrets['secret of the hook'] ?? '');
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app' });
    await untilRows<RunReport>(place, '/v1/runs?shadow=false&limit=20', (answer) => {
      runs = answer;
      return Boolean(
        named('label-new', 'done') &&
        named('quiet', 'done') &&
        named('gathered', 'coalesced') &&
        named('gathered', 'gathering'),
      );
    });
  });

  afterAll(async () => {
    await bot.kill();
  });

  it('explain tells a shadow run, a coalesced one and one that still gathers', async () => {
    const explain = (rule: string, state: string): Promise<RunExplanation> =>
      json<RunExplanation>('explain', named(rule, state)?.run.id ?? '');
    const [quiet, coalesced, gathering] = await Promise.all([
      explain('quiet', 'done'),
      explain('gathered', 'coalesced'),
      explain('gathered', 'gathering'),
    ]);
    const text = await withConfig('explain', named('gathered', 'coalesced')?.run.id ?? '');

    expect(quiet).toMatchObject({
      run: { mode: 'dry-run' },
      event: { kind: 'repository.created', repo: 'acme/app' },
      intents: [{ action: 'label.ensure', itemKey: 'quiet' }],
    });
    expect(coalesced).toMatchObject({
      run: { state: 'coalesced', coalescedInto: named('gathered', 'gathering')?.run.id },
      event: { kind: 'push' },
      intents: [],
    });
    expect(gathering).toMatchObject({ run: { state: 'gathering' }, event: { kind: 'push' }, intents: [] });
    expect(text).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(named('gathered', 'gathering')?.run.id ?? 'no run'),
    });
    expect(await forge.get('/repos/acme/app/labels')).toMatchObject([{ name: 'bug' }]);
  });

  it('backtest tells what other rules would have made of it, the same each time; runs --shadow what they make of it now', async () => {
    const args = ['backtest', '--since', '1d', '--rules', 'next'];
    const [first, second, text] = await Promise.all([
      json<BacktestReport>(...args),
      json<BacktestReport>(...args),
      withConfig(...args),
    ]);
    const { rows: shadow } = await json<{
      rows: Array<{ org: string; rules: Array<{ rule: string; decided: number; differ: number }> }>;
    }>('runs', '--shadow');

    expect(first).toMatchObject({
      org: 'acme',
      rules: expect.arrayContaining([
        expect.objectContaining({
          rule: 'label-new',
          would: expect.objectContaining({ fired: 0 }),
          did: expect.objectContaining({ fired: 1 }),
        }),
      ]),
    });
    expect(second.hash).toBe(first.hash);
    expect(text).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/label-new +0 +1 .*1 fired, and would not:.*is_web.*hash /s),
    });
    expect(shadow).toMatchObject([{ org: 'acme', rules: [{ rule: 'label-new', decided: 1, differ: 1 }] }]);
  });

  it('try tells what rules would make of a live issue, and writes nothing', async () => {
    await forge.act('issue.open', { repo: 'acme/app', title: 'It is slow' });
    const rule = (more: string): string =>
      `${HEAD}rules:\n  - {id: sort, on: issue.opened, if: {${more}}, do: {issue.label: {number: "\${{ event.number }}", add: [bug]}}}\n`;
    place.write('fires.yaml', rule(`is_slow: event.issue.title.contains("slow")`));
    place.write('typo.yaml', rule(`is_slow: event.isue.title == ""`));
    const on = ['--on', 'acme/app#1'];

    expect(await withConfig('try', 'fires.yaml', ...on)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /issue\.opened on acme\/app#1.*\nsort {2}fired .*is_slow.*would write {2}issue\.label/s,
      ),
    });
    expect(await json('try', 'fires.yaml', ...on, '--as', 'issue.closed')).toMatchObject({
      event: { kind: 'issue.closed' },
      rules: [{ rule: 'sort', verdict: 'rejected', effects: [] }],
    });
    expect(await withConfig('try', 'typo.yaml', ...on)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error typo\.yaml:4:\d+: /),
    });
    expect(await withConfig('try', 'fires.yaml', '--on', 'acme/app#9')).toMatchObject({ code: 3 });
    expect(await forge.get('/repos/acme/app/issues/1/labels')).toEqual([]);
  });

  it('test record makes a fixture of an event that passes', async () => {
    const { event } = await json<RunExplanation>('explain', named('label-new', 'done')?.run.id ?? '');
    place.write('recorded/rules.yaml', RULES);
    const recorded = await withConfig('test', 'record', event?.id ?? '', '--out', 'recorded/app.test.yaml');

    expect(recorded).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^recorded\/app\.test\.yaml: .*label-new/),
    });
    expect(readFileSync(join(place.dir, 'recorded/app.test.yaml'), 'utf8')).toContain('repository.created');
    expect(await run('test', 'recorded')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 test in 1 file: all passed/),
    });
  });

  it('promote asks for evidence, and lets a shadow rule write once there is enough', async () => {
    expect(await withConfig('promote', 'quiet')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error .*it made 1 decision since its stage began, 2 are wanted/),
    });
    await forge.act('repository.create', { repo: 'acme/web' });
    await untilRows<RunReport>(place, '/v1/runs?rule=quiet&shadow=false&limit=20', (answer) => answer.length === 2);

    expect(await withConfig('promote', 'quiet')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^acme\/quiet is live now; promoted by .*\nevidence: was shadow; 2 decisions, 2 fired, 0 written, 0 errors\n/,
      ),
    });
    await forge.act('repository.create', { repo: 'acme/lib' });
    await until(async () =>
      ((await forge.get<Array<{ name: string }>>('/repos/acme/lib/labels')) ?? []).some(({ name }) => name === 'quiet'),
    );
  });

  it('shows no stack trace and no secret anywhere', () => outputs.prove(secrets));
});
