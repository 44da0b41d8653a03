import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryReport, RunReport, StatusReport } from '../../src/api/operations/answers.js';
import type { ScheduleStatus } from '../../src/housekeeping/schedule-status.js';
import { runCli } from '../../src/cli/run-cli.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { quietly } from './support/quietly.js';

const RULES = `version: 1
org: acme
rules:
  - id: labels
    on: repository.created
    do:
      - { label.ensure: { name: bug, color: "#d73a4a" } }
      - { label.ensure: { name: docs, color: "#d73a4b" } }
      - { label.ensure: { name: help, color: "#d73a4c" } }
  - { id: seldom, on: repository.created, if: { by_cleo: event.actor.login == "cleo" }, do: { label.ensure: { name: cleo, color: "#ffffff" } } }
  - { id: on-push, on: push, if: { by_cleo: event.actor.login == "cleo" }, do: { label.ensure: { name: pushed, color: "#ffffff" } } }
  - id: nightly
    schedule: "0 2 * * *"
    where: { repo: [acme/app] }
    do: { label.ensure: { name: nightly, color: "#000000" } }
    limits: { effects_per_run: 5 }
`;

describe('integration/lists: what happened, as people read it', () => {
  let forge: TestForge;
  let bot: TestBot;

  const runs = (query: Record<string, string | number> = {}) => bot.reach.rows<RunReport>('/v1/runs', query);
  const deliveries = (query: Record<string, string | number> = {}) =>
    bot.reach.rows<DeliveryReport>('/v1/deliveries', query);
  const command = async (...args: string[]) => quietly(() => runCli([...args, '--config', bot.configFile]));
  const runOf = async (rule: string): Promise<RunReport> => {
    const [run] = await runs({ rule });
    if (!run) throw new Error(`${rule} did not run`);
    return run;
  };

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    const env = { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook' };
    bot = await aBot({ config: acmeConfig(forge), files: { 'rules/r.yaml': RULES }, env });
    await forge.hook(`${bot.url}/webhooks/acme`, 'the secret of the hook');
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app' });
    await until(async () => {
      const states = (await runs()).map(({ run }) => `${run.rule} ${run.state}`);
      return states.includes('labels done') && states.includes('on-push not-fired');
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('runs have repository, person and counted effects; those that changed nothing are left out for people', async () => {
    expect(await runOf('labels')).toMatchObject({
      about: { event: 'repository.created', repo: 'acme/app', person: 'olga', schedule: null },
      effects: [{ action: 'label.ensure', state: 'done', count: 3 }],
    });
    expect((await runOf('on-push')).about).toMatchObject({ event: 'push', subject: 'branch main' });

    expect((await runs({ changed: 'true' })).map(({ run }) => run.rule)).toEqual(['labels']);
    const { text } = await command('runs');
    expect(text).toMatch(/acme\/labels +acme\/app +olga +done +label\.ensure ×3 done\n/);
    expect(text).not.toContain('seldom');
    expect(text).toContain('--all');
    expect((await command('runs', '--all')).text).toMatch(/acme\/seldom +acme\/app +olga +not-fired +.*by_cleo/);
    const notFired = (await command('runs', '--state', 'not-fired')).text;
    expect([notFired.includes('acme/on-push'), notFired.includes('acme/seldom')]).toEqual([true, true]);
    const all = (await runs()).map(({ run }) => run.id);
    const page = JSON.parse((await command('runs', '--json', '--limit', '1')).text) as {
      rows: RunReport[];
      next: string;
    };
    expect([page.rows.map(({ run }) => run.id), page.next]).toEqual([all.slice(0, 1), all[0]]);
    const second = (await command('runs', '--json', '--limit', '1', '--before', page.next)).text;
    expect((JSON.parse(second) as { rows: RunReport[] }).rows.map(({ run }) => run.id)).toEqual(all.slice(1, 2));
    const lines = (await command('runs', '--json', '--all')).text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as RunReport).run.id)).toEqual(all);
  });

  it('deliveries say what came of them, and leave out what changed nothing', async () => {
    const [pushed, created] = (await deliveries()).filter(({ source }) => source === 'webhook');

    expect(created).toMatchObject({
      about: { repo: 'acme/app', person: 'olga' },
      rules: ['labels'],
      effects: [{ action: 'label.ensure', count: 3 }],
    });
    expect(pushed).toMatchObject({ about: { subject: 'branch main' }, rules: [], effects: [] });
    const { text } = await command('deliveries');
    expect(text).toMatch(/hook acme +repository\.created +acme\/app +olga +decided +labels: label\.ensure ×3 done/);
    expect(text).not.toContain('branch main');
    expect((await command('deliveries', '--all')).text).toContain('acme/app branch main');
  });

  it('one run is one view, whichever command asks', async () => {
    const { run } = await runOf('seldom');
    const { text } = await command('runs', run.id.slice(-8));

    expect((await command('explain', run.id)).text).toBe(text);
    expect(text).toMatch(/look at {2}\S+r\.yaml:10:\d+ .*by_cleo/);
    expect(text).not.toMatch(/\{"/);
    expect(JSON.parse((await command('runs', run.id, '--json')).text)).toMatchObject({ run: { trace: {} }, about: {} });
  });

  it('a revision has one id everywhere, which commands take', async () => {
    const { rows: orgs } = await bot.reach.get<StatusReport>('/v1/status');
    const { run } = await runOf('labels');
    const short = run.revisionId.slice(0, 12);

    expect(orgs[0]?.revision?.id).toBe(run.revisionId);
    for (const words of [
      ['status'],
      ['runs', run.id],
      ['doctor'],
      ['housekeeping', 'run', 'rules.reload', '--dry-run'],
    ])
      expect((await command(...words)).text).toMatch(new RegExp(`revision ${short}\\b`));
    const eventId = run.cause.kind === 'event' ? run.cause.eventId : '';
    expect((await command('explain', '--event', eventId, '--revision', short)).text).toContain(`revision ${short} `);
  });

  it('go on from page to page', async () => {
    const all = (await runs()).map(({ run }) => run.id);
    const paged: string[] = [];
    for (let before: string | undefined; paged.length < all.length; before = paged.at(-1)) {
      const page = await runs({ limit: 1, ...(before === undefined ? {} : { before }) });
      paged.push(...page.map(({ run }) => run.id));
    }
    expect(paged).toEqual(all);
    const [first, second] = await deliveries({ limit: 2 });
    expect(await deliveries({ limit: 1, before: (first?.id ?? '').slice(-8) })).toEqual([second]);
    expect((await command('runs', '--all', '--limit', '1')).text).toContain(`--before ${all[0]?.slice(-8)}`);
  });

  it('take the end of an id wherever an id is taken', async () => {
    const { run, intents } = await runOf('labels');
    const [delivery] = (await deliveries()).filter(({ eventKinds }) => eventKinds.includes('repository.created'));
    const short = (id = ''): string => id.slice(-8);

    expect((await bot.reach.get<RunReport>(`/v1/runs/${short(run.id)}`)).run.id).toBe(run.id);
    for (const id of [run.id, intents[0]?.id, delivery?.id, delivery?.eventId ?? ''])
      expect(await bot.reach.get('/v1/explain', { id: short(id) })).toEqual(
        await bot.reach.get('/v1/explain', { id: id ?? '' }),
      );
    expect(await bot.reach.post(`/v1/deliveries/${short(delivery?.id)}/replay`)).toMatchObject({
      arrivalId: delivery?.id,
    });
    expect(await bot.reach.get(`/v1/history/${short(delivery?.id)}`)).toMatchObject({
      events: [{ id: delivery?.eventId }],
    });
    await expect(bot.reach.get(`/v1/runs/${run.id.slice(0, 4)}`)).rejects.toMatchObject({ code: 'AMBIGUOUS_ID' });
  });

  it('a misspelt rule gets a suggestion', async () => {
    const [{ eventId = '' } = {}] = (await deliveries()).filter(({ eventKinds }) => eventKinds.includes('push'));

    for (const words of [
      ['runs', '--rule', 'nightyl'],
      ['schedules', 'nightyl'],
      ['promote', 'nightyl', '--to', 'live'],
      ['housekeeping', 'run', 'nightyl', '--org', 'acme', '--dry-run'],
      ['explain', '--event', `${eventId}`, '--rule', 'nightyl'],
    ])
      expect((await command(...words)).text).toContain('(did you mean nightly?)');
    expect((await command('schedules', 'seldom')).text).toContain('seldom has no schedule');
  });

  it('schedules say what comes next and why nothing came; a dry run says what would, and leaves nothing', async () => {
    const schedules = async () => (await bot.reach.get<{ rows: ScheduleStatus[] }>('/v1/schedules')).rows;
    const before = await schedules();
    expect(before).toMatchObject([{ org: 'acme', id: 'nightly', kind: 'rule', last: null, runs: [] }]);
    expect(before[0]?.why.map(({ code }) => code)).toEqual(['schedule.new']);
    expect(before[0]?.next).toMatch(/T02:00:00\.000Z$/);

    const calls = forge.botCalls().filter(({ method }) => method !== 'GET').length;
    expect((await command('housekeeping', 'run', 'nightly', '--org', 'acme', '--dry-run')).text).toBe(
      'nightly: it would make 1 run; nothing was stored or done\n  acme/app  label.ensure nightly\n',
    );
    expect(await schedules()).toEqual(before);
    expect(await runs({ rule: 'nightly' })).toEqual([]);
    expect(forge.botCalls().filter(({ method }) => method !== 'GET')).toHaveLength(calls);

    await bot.reach.post('/v1/pause', { rule: 'nightly' });
    expect((await schedules())[0]?.why.map(({ code }) => code)).toEqual(['schedule.paused', 'schedule.new']);
    expect((await command('schedules', 'nightly')).text).toMatch(
      /acme\/nightly +0 2 \* \* \* UTC +- .* 02:00:00 +its effects are paused by /,
    );
    await bot.reach.post('/v1/resume', { rule: 'nightly' });
  });

  it('tell of a tick its repository, its occurrence and when the next one is', async () => {
    await bot.reach.post('/v1/orgs/acme/schedules/nightly/run');
    await until(async () => (await runOf('nightly')).run.state === 'done');

    const { about } = await runOf('nightly');
    expect(about).toMatchObject({ event: null, repo: 'acme/app', person: null });
    expect(about.schedule?.next).toMatch(/T02:00:00\.000Z$/);
    expect(about.schedule?.at).not.toBeNull();
    expect((await command('runs')).text).toMatch(
      /acme\/nightly +acme\/app +schedule +done +label\.ensure done: label nightly created/,
    );
    const { text } = await command('runs', (await runOf('nightly')).run.id);
    expect(text).toMatch(
      /cause +schedule, occurrence [-\d]+ [:\d]+ UTC, next [-\d]+ 02:00:00 UTC \(tick .*\)\n +in +acme\/app\n/,
    );
  });
});
