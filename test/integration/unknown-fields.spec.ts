import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import { runCli } from '../../src/cli/run-cli.js';
import { newId } from '../../src/core/ids.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { feedIsRead } from './support/feed-is-read.js';
import { quietly } from './support/quietly.js';

const SECRET = 'the secret of the hook';
const rule = (id: string, on: string, condition: string): string => `
  - id: ${id}
    on: ${on}
    if: ${condition}
    do: {label.ensure: {name: "${id}-\${{ event.after.substring(0, 7) }}", color: "#00aabb"}}`;
const RULES = `version: 1
org: acme
rules:${[
  rule('docs', 'push.branch', `any_glob(event.files.added, ["docs/**"])`),
  rule('many', 'push.branch', `event.files_complete && event.files.added.size() > 5`),
  rule('before', 'push.branch', `event.before.size() == 40`),
  rule('no-before', 'push.branch', `"!has(event.before)"`),
].join('')}
  - {id: make-bug, on: push.branch, do: {label.ensure: {name: bug, color: "#d73a4a"}}}
  - id: bugs
    on: issue.opened
    if: '"bug" in event.labels && event.author == "olga"'
    do: {label.ensure: {name: "bug-\${{ event.number }}", color: "#00aabb"}}
`;

const MOST_ATTEMPTS = 5;

interface Delivery {
  readonly delivery: string;
  readonly event_type: string;
}

/** The forge drops its deliveries: polling sees each act first, and its rows leave most of it out. */
describe('integration/unknown-fields', () => {
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'begin', files: { 'a.txt': 'a' } }] });
    bot = await aBot({
      config: acmeConfig(forge, { org: { feed: { every_s: 6 }, lists: { every_s: 0 } } }),
      files: { 'rules/r.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
    });
    await forge.hook(`${bot.url}/webhooks/acme`, SECRET);
    await until(async () => (await bot.reach.get<StatusReport>('/v1/status')).forges[0]?.self === 'bot');
    await forge.control('/_sandbox/deliveries', { drop: { percent: 100 } });
    await feedIsRead(bot);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  const command = async (...args: string[]) => quietly(() => runCli([...args, '--config', bot.configFile]));
  /** Runs of the newest event that was decided since then, by rule. */
  const runsSince = async (since: string): Promise<Record<string, RunReport['run']>> => {
    const all = await bot.reach.rows<RunReport>('/v1/runs', { limit: 200 });
    const young = all.map(({ run }) => run).filter(({ id }) => id > since);
    const events = young.flatMap(({ cause }) => (cause.kind === 'event' ? [cause.eventId] : [])).sort();
    return Object.fromEntries(
      young.flatMap((run) =>
        run.cause.kind === 'event' && run.cause.eventId === events.at(-1) ? [[run.rule, run]] : [],
      ),
    );
  };
  const states = async (since: string): Promise<Record<string, string>> =>
    Object.fromEntries(Object.entries(await runsSince(since)).map(([name, { state }]) => [name, state]));
  const push = (files: readonly string[], commits = 1) =>
    forge.act('push', {
      repo: 'acme/app',
      commits: Array.from({ length: commits }, (_, n) => ({
        message: `work ${n}`,
        files: Object.fromEntries(files.map((name) => [`${name}${n}`, `${n} ${Math.random()}`])),
      })),
    });
  const tellNow = async (eventType: string): Promise<void> => {
    const url = `${forge.sandbox.url}/_sandbox/deliveries?event_type=${eventType}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${forge.sandbox.controlToken}` } });
    const { deliveries } = (await answer.json()) as { deliveries: Delivery[] };
    await forge.control('/_sandbox/deliveries', { clear: true });
    await forge.control('/_sandbox/deliveries', { duplicate: { delivery: String(deliveries.at(-1)?.delivery) } });
    await forge.control('/_sandbox/deliveries', { drop: { percent: 100 } });
  };

  it('reads the files of a push, and waits with the rest for the delivery, which decides once', async () => {
    // A delivery is waited for as long as two polls take; on a busy machine it may come later, which is what another test is about.
    let since = newId();
    for (let attempt = 1; attempt <= MOST_ATTEMPTS && (await states(since))['before'] !== 'done'; attempt += 1) {
      since = newId();
      await push([`docs/${attempt}/page-`]);
      await until(async () => (await states(since))['no-before'] !== undefined);
      const { before } = await runsSince(since);
      expect(before).toMatchObject({ state: 'gathering', code: 'run.unknown' });
      const explained = await command('explain', String(before?.id));
      expect(explained.text).toContain('event.before');

      await tellNow('push');
      await until(async () => (await states(since))['before'] !== 'gathering');
      await until(async () => !Object.values(await states(since)).includes('open'));
    }
    expect(await states(since)).toMatchObject({
      docs: 'done',
      before: 'done',
      'no-before': 'not-fired',
      many: 'not-fired',
    });
  });

  it('reads the files of all commits of a push that shows five of them', async () => {
    const since = newId();
    await push(['src/'], 7);
    await until(async () => (await states(since))['many'] === 'done');
    expect((await states(since))['docs']).toBe('not-fired');
  });

  it('ends as an error that names the field, with an alert, where no delivery comes', async () => {
    const since = newId();
    await push(['src/x-']);
    await until(async () => (await states(since))['before'] === 'error');

    const { before } = await runsSince(since);
    expect(before?.reason).toContain('event.before');
    await until(async () => (await states(since))['no-before'] === 'done');
    const { alerts } = await bot.reach.get<StatusReport>('/v1/status');
    expect(alerts.map(({ code }) => code)).toContain('rule.unknown');
  });

  it('reads the labels and the author of an issue', async () => {
    const since = newId();
    await forge.act('issue.open', { repo: 'acme/app', title: 'It crashes', labels: ['bug'] });
    await until(async () => (await states(since))['bugs'] === 'done');
  });
});
