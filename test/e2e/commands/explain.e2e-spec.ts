import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import type { DecisionExplanation, EventExplanation, RunExplanation } from '../../../src/insight/explanation.js';
import type { ArrivalSummary } from '../../../src/pipeline/inbox-store.port.js';
import { acmeConfig } from '../support/acme-config.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import type { CommandResult } from '../support/forgehand.js';
import { untilRows } from '../support/forgehand.js';
import { Outputs } from './outputs.js';

const RULES = `version: 1
org: acme
rules:
  - id: label-new
    on: repository.created
    where: {repo: "acme/*"}
    lookup:
      labels: {use: labels.list}
    if:
      is_empty: lookups.labels.size() == 0
      not_a_fork: "!repo.fork"
    do: {label.ensure: {name: bug, color: "#d73a4a"}}
  - id: not-this-one
    on: repository.created
    where: {repo: acme/web}
    do: {label.ensure: {name: web, color: "#000000"}}
  - id: seldom
    on: repository.created
    if:
      by_cleo: event.actor.login == "cleo"
    do: {label.ensure: {name: cleo, color: "#ffffff"}}
`;

let forge: Forge;
let place: Place;
let bot: Bot;
let secrets: Record<string, string>;
let eventId: string;
let runs: RunReport[];
let isForgeOpen = false;
const outputs = new Outputs();

const run = (...args: string[]): Promise<CommandResult> => outputs.run(place, ...args, '--config', place.configFile);
const json = <T>(...args: string[]): Promise<T> => outputs.json<T>(place, ...args, '--config', place.configFile);
const runOf = (rule: string): RunReport | undefined => runs.find((report) => report.run.rule === rule);

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  isForgeOpen = true;
  secrets = { 'token of the forge': forge.botToken, 'secret of the hook': 'canary-hook-9f27b1c4' };
  place = aPlace({
    config: acmeConfig(forge.apiUrl, { forge: { rate_per_s: 20 } }),
    files: { 'rules/labels.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: secrets['secret of the hook'] ?? '' },
  });
  bot = await startBot(place);
  await forge.hook(bot.url, secrets['secret of the hook'] ?? '');
  await forge.act('repository.create', { repo: 'acme/app' });
  await untilRows<RunReport>(place, '/v1/runs?shadow=false&limit=20', (answer) => {
    runs = answer;
    return runOf('label-new')?.run.state === 'done' && runOf('seldom') !== undefined;
  });
  const deliveries = (await json<{ rows: ArrivalSummary[] }>('deliveries')).rows;
  eventId = deliveries.find(({ eventKinds }) => eventKinds.includes('repository.created'))?.eventId ?? '';
});

afterAll(async () => {
  await bot.kill();
  await closeForge();
  place.remove();
});

async function closeForge(): Promise<void> {
  if (isForgeOpen) await forge.close();
  isForgeOpen = false;
}

function explains(): void {
  it('a run: conditions with what they saw, the read in short, and what the forge answered', async () => {
    const report = runOf('label-new');
    const explained = await json<RunExplanation>('explain', report?.run.id ?? '');

    expect(explained).toMatchObject({
      about: 'run',
      event: {
        id: eventId,
        kind: 'repository.created',
        repo: 'acme/app',
        arrivals: expect.arrayContaining([expect.objectContaining({ source: 'webhook' })]),
      },
      place: { file: 'rules/labels.yaml', line: 4, col: 5 },
      conditions: [
        { name: 'is_empty', state: 'true', place: { line: 10 } },
        { name: 'not_a_fork', state: 'true', seen: { 'repo.fork': false } },
      ],
      lookups: [{ name: 'labels', use: 'labels.list', answer: 'empty list' }],
      intents: [
        {
          action: 'label.ensure',
          itemKey: 'bug',
          state: 'done',
          attempts: [{ n: 1, operation: 'createLabel', outcome: 'done' }],
        },
      ],
    });
    expect((await run('explain', report?.intents[0]?.id ?? '')).stdout).toMatch(
      /acme\/label-new {2}done.*event {4}repository\.created in acme\/app.*> label\.ensure bug {2}done.*attempt 1: create a label, .* done/s,
    );
  });

  it('a run that did not fire: the line to look at', async () => {
    const { stdout, code } = await run('explain', runOf('seldom')?.run.id ?? '');

    expect(code).toBe(0);
    expect(stdout).toMatch(/look at {2}rules\/labels\.yaml:20:7 {2}by_cleo: event\.actor\.login == "cleo"\n/);
    expect(stdout).toMatch(/false {2}by_cleo .*\n +event\.actor\.login = "olga"\n/);
  });

  it('why a rule did not take the event, and every rule in a line, nearest first', async () => {
    expect(await json<DecisionExplanation>('explain', '--event', eventId, '--rule', 'not-this-one')).toMatchObject({
      verdict: 'rejected',
      filters: [
        {
          filter: 'repo',
          wanted: ['acme/web'],
          seen: 'acme/app',
          place: { file: 'rules/labels.yaml', line: 15, col: 19 },
        },
      ],
    });
    expect(
      (await json<EventExplanation>('explain', '--event', eventId)).rules.map(({ rule, verdict }) => [rule, verdict]),
    ).toEqual([
      ['label-new', 'fired'],
      ['not-this-one', 'rejected'],
      ['seldom', 'not-fired'],
    ]);
  });

  it('nothing that is not there, and not two things at once', async () => {
    expect(await run('explain', 'nope')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no run, intent, event or arrival nope'),
    });
    expect(await run('explain')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('pass the id of a run or an effect, or --event'),
    });
    expect(await run('explain', 'x', '--rule', 'y')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--rule and --revision need --event'),
    });
  });
}

describe('e2e/commands: explain, over a running bot', explains);

describe('e2e/commands: explain, without a bot and without a forge', () => {
  beforeAll(async () => {
    expect(await bot.stop()).toEqual({ code: 0, signal: null });
    await closeForge();
  });

  explains();

  it('shows no secret and no stack trace', () => outputs.prove(secrets));
});
