import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplayReport, RunReport, StatusReport } from '../../../src/api/operations/answers.js';
import type { Act } from '../../../src/api/act-store.port.js';
import type { ErasureReport } from '../../../src/housekeeping/erase/person-erasure.js';
import type { ArrivalSummary } from '../../../src/pipeline/inbox-store.port.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import type { CommandResult } from '../support/forgehand.js';
import { untilStatus } from '../support/forgehand.js';
import { Outputs, secretsIn } from './outputs.js';

const RULES = `version: 1
org: acme
secrets: [mirror_password]
rules:
  - { id: bug-label, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
  - id: mirror
    on: repository.created
    where: { repo: [acme/app] }
    do: { push_mirror.ensure: { remote_address: "http://127.0.0.1:9418/acme/app.git", remote_username: mirror, remote_password: "\${{ secrets.mirror_password }}" } }
  - { id: last-push, on: push, do: { org_variable.set: { name: LAST_PUSH, value: "\${{ event.after }}" } } }
  - id: nightly
    schedule: "0 2 * * *"
    where: { repo: ["acme/*"] }
    do: { label.ensure: { name: nightly, color: "#000000" } }
    limits: { effects_per_run: 5 }
`;

interface Status extends StatusReport {
  running: boolean;
}

let forge: Forge;
let place: Place;
let bot: Bot;
let secrets: Record<string, string>;
const outputs = new Outputs();

const run = (...args: string[]): Promise<CommandResult> => outputs.run(place, ...args, '--config', place.configFile);
const json = <T>(...args: string[]): Promise<T> => outputs.json<T>(place, ...args, '--config', place.configFile);
const labelsOf = async (repo: string): Promise<string[]> =>
  ((await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)) ?? []).map(({ name }) => name).sort();

/** A bot that takes what was left out runs on with; its output is kept too. */
async function start(): Promise<void> {
  bot = await startBot(place);
}

async function stop(): Promise<void> {
  expect(await bot.stop()).toEqual({ code: 0, signal: null });
  outputs.add('the bot', bot.child.stdout + bot.child.stderr);
}

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  secrets = {
    'token of the forge': forge.botToken,
    'secret of the hook': 'canary-hook-9f27b1c4',
    'password of the mirror': 'canary-mirror-51e0aa73',
  };
  place = aPlace({
    config: acmeConfig(forge.apiUrl, {
      forge: { rate_per_s: 20 },
      org: { mirror_hosts: ['http://127.0.0.1:9418'], secrets: { mirror_password: { file: 'mirror-password' } } },
      log: { level: 'trace' },
    }),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: secrets['secret of the hook'] ?? '' },
  });
  place.write('mirror-password', secrets['password of the mirror'] ?? '', 0o600);
  await start();
  await forge.hook(bot.url, secrets['secret of the hook'] ?? '');
  // A rule that may not write is held back at once; this one loses its right after the bot looked at what its rules need.
  await run('doctor', '--fresh');
  leaveOwners();
});

function leaveOwners(): void {
  const { world } = forge.sandbox.parts;
  const owners = [...world.teams.values()].find(({ name }) => name === 'Owners');
  const self = world.userByName('bot');
  if (!owners || !self || !owners.members.delete(self.id)) throw new Error('the bot is no owner');
}

afterAll(async () => {
  await bot.kill();
  await forge.close();
  place.remove();
});

describe('e2e/commands on a running embedded bot', () => {
  it('start says where it listens, and answers health and readiness there', async () => {
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${bot.url}/readyz`)).status).toBe(200);
    expect(bot.child.stdout).toContain(join(place.dir, 'data/run/control.sock'));
  });

  it('status tells what runs', async () => {
    expect(await json<Status>('status')).toMatchObject({
      running: true,
      deployment: 'embedded',
      roles: ['all'],
      queueHealthy: true,
      paused: [],
      rows: [{ name: 'acme', revision: { rules: 4, policies: 0 }, heldBack: [] }],
      forges: [{ id: 'main', self: 'bot', reachable: true }],
    });
    expect(await run('status')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /embedded, roles all.*\nforge main: gitea .*, we are bot\n.*^acme on main: revision \w{12} \(4 rules, 0 policies/ms,
      ),
    });
  });

  it('audit says whether the chain of finished runs holds, and whether a head that one knows is in it', async () => {
    expect(await json('audit')).toEqual([expect.objectContaining({ org: 'acme', broken: null, known: null })]);
    expect(await run('audit')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok acme: \d+ links hold/) });
    expect(await run('audit', '--org', 'acme', '--known', `9:${'0'.repeat(64)}`)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is not in the chain'),
    });
    expect(await run('audit', '--known', 'nine')).toMatchObject({ code: 2 });
    expect(await json('audit', '--head')).toMatchObject({
      at: expect.stringMatching(/Z$/),
      heads: [{ org: 'acme', holds: true }],
    });
    expect(await run('audit', '--head')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d{4}-\S+Z acme (-|\d+:[0-9a-f]{64}) /),
    });
  });

  it('deliveries tells what arrived, newest first', async () => {
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app' });
    await untilStatus(place, ({ intents }) => intents.refused === 1 && intents.done === 2);

    const all = (await json<{ rows: ArrivalSummary[] }>('deliveries')).rows;

    expect(all.map(({ eventType, state, verdict, eventKinds }) => ({ eventType, state, verdict, eventKinds }))).toEqual(
      [
        { eventType: 'push', state: 'decided', verdict: 'signed', eventKinds: ['push'] },
        { eventType: 'repository', state: 'decided', verdict: 'signed', eventKinds: ['repository.created'] },
      ],
    );
    expect((await json<{ rows: ArrivalSummary[] }>('deliveries', '--org', 'ACME', '--limit', '1')).rows).toHaveLength(
      1,
    );
    expect((await json<Status>('status')).behind).toEqual([
      { state: 'refused', org: 'acme', rule: 'last-push', count: 1, byCommand: false },
    ]);
    expect((await run('status')).stdout).toContain(
      '  refused: acme/last-push 1 (npx forgehand runs --state failed --rule last-push)\n',
    );
    expect((await run('deliveries')).stdout).toMatch(/at \(UTC\).*\n.*push.*\n.*repository\.created/);
  });

  it('runs tells decisions and what came of them, and one in full', async () => {
    const reports = (await json<{ rows: RunReport[] }>('runs')).rows;
    const mirrored = reports.find(({ run: { rule } }) => rule === 'mirror');

    expect(reports.map(({ run: { rule, state } }) => `${rule} ${state}`).sort()).toEqual([
      'bug-label done',
      'last-push failed',
      'mirror done',
    ]);
    expect(
      (await json<{ rows: RunReport[] }>('runs', '--rule', 'mirror', '--state', 'done', '--org', 'acme')).rows.map(
        ({ run: { id } }) => id,
      ),
    ).toEqual([mirrored?.run.id]);
    expect((await json<{ rows: RunReport[] }>('runs', '--state', 'cancelled')).rows).toEqual([]);
    expect((await run('runs')).stdout).toMatch(/push_mirror\.ensure done/);
    expect(await json<RunReport>('runs', mirrored?.run.id ?? '')).toMatchObject({
      intents: [
        {
          action: 'push_mirror.ensure',
          state: 'done',
          attempts_made: [{ operation: 'createPushMirror', outcome: 'done' }],
        },
      ],
    });
    expect((await run('runs', mirrored?.run.id ?? '')).stdout).toMatch(
      /acme\/mirror {2}done.*\n.*intent .*\n.*attempt 1: add a push mirror/s,
    );
    expect(await run('runs', 'no-such-run')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'error there is no run no-such-run\n',
    });
  });

  it('retry revives a refused intent once its reason is gone', async () => {
    const [refused] = (await json<{ rows: RunReport[] }>('runs', '--rule', 'last-push')).rows;
    const [intent] = refused?.intents ?? [];
    expect(intent).toMatchObject({ state: 'refused', reason: expect.stringMatching(/403/) });

    await forge.control('POST', '/_sandbox/accounts', { login: 'bot', org: 'acme', team: 'Owners' });
    expect(await run('retry', intent?.id ?? '')).toMatchObject({
      code: 0,
      stdout: `intent ${intent?.id} is planned again\n`,
    });
    await untilStatus(place, ({ intents }) => intents.refused === 0 && intents.done === 3);

    expect(await forge.get('/orgs/acme/actions/variables/LAST_PUSH')).toMatchObject({ name: 'LAST_PUSH' });
    expect(await run('retry', intent?.id ?? '')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/neither dead nor refused/),
    });
    expect(await run('retry', 'no-such-intent', '--json')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/"retried": false/),
    });
  });

  it('replay evaluates an arrival again and does nothing twice', async () => {
    const [, created] = (await json<{ rows: ArrivalSummary[] }>('deliveries')).rows;
    const writes = forge.botWrites().length;

    expect(await json<ReplayReport>('replay', created?.id ?? '')).toMatchObject({
      arrivalId: created?.id,
      eventIds: [created?.eventId],
      newRuns: 0,
    });
    expect((await run('replay', created?.id ?? '')).stdout).toMatch(
      /^evaluated event .* again: 0 new runs\n {2}\S+ +kept +run .* of this event is done\n/,
    );
    expect(await run('replay', 'no-such-arrival')).toMatchObject({
      code: 3,
      stderr: 'error there is no arrival no-such-arrival\n',
    });
    expect(forge.botWrites()).toHaveLength(writes);
  });

  it('pause stops all writes, and resume takes them up again', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `repo-${n}`);
    // 40 repositories at 20 calls per second: writes are going on for a while.
    for (const name of names) await forge.act('repository.create', { repo: `acme/${name}` });
    const before = forge.botWrites().length;
    await until(() => forge.botWrites().length > before);

    expect(await run('pause')).toMatchObject({ code: 0, stdout: 'paused: everything\n' });
    // What was in hand ends; what is decided from now on waits.
    const held = await untilStatus(
      place,
      ({ backlog, intents }) => backlog.events === 0 && intents.claimed === 0 && intents.sent === 0,
    );
    const written = forge.botWrites().length;
    await forge.act('repository.create', { repo: 'acme/meanwhile' });
    await untilStatus(
      place,
      ({ backlog, intents }) => backlog.events === 0 && intents.planned === held.intents.planned + 1,
    );

    expect(held.paused).toMatchObject([{ org: null, rule: null }]);
    expect(held.intents.planned).toBeGreaterThan(0);
    expect(forge.botWrites()).toHaveLength(written);
    expect((await run('status')).stdout).toMatch(/paused: everything by /);

    expect(await run('resume')).toMatchObject({ code: 0, stdout: 'resumed: everything\n' });
    await until(
      async () => (await labelsOf(names.at(-1) ?? '')).length > 0 && (await labelsOf(names[0] ?? '')).length > 0,
    );
    await untilStatus(
      place,
      ({ intents }) => intents.planned === 0 && intents.claimed === 0 && intents.sent === 0 && intents.unknown === 0,
    );
    for (const name of names) expect({ name, labels: await labelsOf(name) }).toEqual({ name, labels: ['bug'] });
    expect(await run('resume')).toMatchObject({ code: 1, stdout: 'everything was not paused\n' });
  });

  it('pause of one rule leaves the others at work', async () => {
    expect(await json('pause', '--org', 'acme', '--rule', 'bug-label')).toEqual({ paused: true });
    await forge.act('repository.create', { repo: 'acme/partly' });
    const { after } = (await forge.act('push', { repo: 'acme/partly' })) as { after: string };
    await until(
      async () => (await forge.get<{ data: string }>('/orgs/acme/actions/variables/LAST_PUSH'))?.data === after,
    );

    expect(await labelsOf('partly')).toEqual([]);
    expect(await json('resume', '--org', 'acme', '--rule', 'bug-label')).toEqual({ resumed: true });
    await until(async () => (await labelsOf('partly')).includes('bug'));
    expect(await run('pause', '--org', 'nobody')).toMatchObject({
      code: 3,
      stderr: 'error the config has no organization nobody; it has acme\n',
    });
  });

  it('housekeeping run fires a schedule now', async () => {
    const { runs } = await json<{ tickId: string; runs: number }>('housekeeping', 'run', 'nightly', '--org', 'acme');
    expect(runs).toBeGreaterThanOrEqual(43);
    await until(
      async () => (await labelsOf('app')).includes('nightly') && (await labelsOf('partly')).includes('nightly'),
    );
    expect(await run('activity', '--rule', 'nightly', '--repo', 'acme/app')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/schedule +acme\/app +nightly +label\.ensure done/),
    });
    expect(await run('rules')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/acme\/nightly +live +0 2 \* \* \* +\d+ +0 +0 +0 +\d{4}-/),
    });
    expect(await run('rules', 'nightly')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/acme\/nightly.*\n.*fired \d+,[^]* 12 +schedule: /),
    });
    expect(await run('schedules', 'nightly')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/acme\/nightly +0 2 \* \* \* .* 02:00:00/),
    });
    expect(await run('housekeeping', 'run', 'monthly', '--org', 'acme')).toMatchObject({
      code: 3,
      stderr: 'error there is no rule or policy monthly in acme\n',
    });
  });

  it("housekeeping list tells the bot's own jobs, run does one of them now, and restore says what it needs", async () => {
    const { jobs } = await json<{ jobs: Array<{ job: string }> }>('housekeeping', 'list');
    expect(jobs.length).toBeGreaterThan(5);
    for (const { job } of jobs.slice(0, 3))
      expect((await run('housekeeping', 'run', job, '--dry-run')).stdout).toContain(job);

    expect(await run('housekeeping', 'restore', join(place.dir, 'no-such-archive.ndjson.gz'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the bot has no archive to restore from: set retention.archive'),
    });
  });

  it('status tells why a newer revision is held back', async () => {
    place.write(
      'rules/broken.yaml',
      'version: 1\norg: acme\nrules:\n  - { id: x, on: pushh, do: { label.ensure: { name: x } } }\n',
    );
    await untilStatus(place, ({ rows: orgs }) => (orgs[0]?.heldBack.length ?? 0) > 0);

    const { stdout } = await run('status');

    expect(stdout).toMatch(/\(4 rules, 0 policies/);
    expect(stdout).toMatch(/a newer revision is held back:\n.*broken\.yaml:4:\d+: there is no event kind "pushh"/);
    place.write('rules/broken.yaml', 'version: 1\norg: acme\nrules: []\n');
    await untilStatus(place, ({ rows: orgs }) => orgs[0]?.heldBack.length === 0);
  });

  it('reload follows the organizations of the config, and so does SIGHUP; a broken file changes nothing', async () => {
    place.write('rules-of-beta/r.yaml', 'version: 1\norg: beta\nrules: []\n');
    const file = place.write('orgs.d/beta.yaml', 'name: beta\nforge: main\nrules: { path: rules-of-beta }\n');

    expect(await run('reload')).toMatchObject({ code: 0, stdout: '1 organization added: beta\n' });
    expect(await json('reload')).toMatchObject({ here: { added: [], removed: [], changed: [], needsRestart: [] } });

    place.write('orgs.d/beta.yaml', 'name: beta\nfroge: main\nrules: { path: rules-of-beta }\n');
    bot.child.process.kill('SIGHUP');
    await until(() => bot.child.stdout.includes('config.not-reloaded'));
    expect(bot.child.stdout).toContain('orgs.d/beta.yaml:2:1: unknown key');
    expect(await run('reload')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('orgs.d/beta.yaml:2:1: unknown key \"froge\" (did you mean \"forge\"?)'),
    });

    rmSync(file);
    bot.child.process.kill('SIGHUP');
    const { rows: orgs } = await untilStatus(place, (status) => status.rows.length === 1);
    expect(orgs.map(({ name }) => name)).toEqual(['acme']);
  });

  it('start refuses to run on the same data twice', async () => {
    expect(await run('start')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error a bot already runs on this data/),
    });
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200);
  });

  it('start says which port is taken', async () => {
    const config = JSON.parse(readFileSync(place.configFile, 'utf8')) as { server: object; store: object };
    const port = Number(new URL(bot.url).port);
    const other = place.write(
      'other.yaml',
      JSON.stringify({ ...config, server: { host: '127.0.0.1', port }, store: { url: 'embedded:./other-data' } }),
    );

    const result = await outputs.run(place, 'start', '--config', other);

    expect(result).toMatchObject({
      code: 3,
      stderr: `error the webhook endpoint cannot listen on 127.0.0.1:${port}: the port is taken; stop the other program, or set server.port to another port\n`,
    });
  });

  it('erase takes a person out of what is stored, once, and says what it leaves alone', async () => {
    const counted = await json<ErasureReport>('erase', 'olga', '--dry-run');
    expect(counted.arrivals).toBeGreaterThan(0);
    expect(await json('erase', 'olga', '--dry-run')).toEqual(counted);

    expect(await run('erase', 'olga')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`erased texts of olga in ${counted.arrivals} bodies`),
      stderr: expect.stringContaining('backups'),
    });

    expect(await json('erase', 'olga')).toMatchObject({ arrivals: 0, events: 0, runs: 0 });
    expect(await run('audit')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok acme/) });
    expect(await run('erase', 'olga', '--forge', 'elsewhere')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('pass --forge with the forge of the account: main'),
    });
  });

  it('acts tells who did what, and how it ended', async () => {
    const acts = (await json<{ rows: Act[] }>('acts', '-n', '1000')).rows;

    expect(acts[0]).toMatchObject({
      by: expect.stringMatching(/^socket:/),
      byKind: 'socket',
      operation: 'erase',
      org: null,
      about: { login: 'olga', forge: 'elsewhere', dryRun: false },
      outcome: 'NO_SUCH_FORGE',
    });
    expect(acts[1]).toMatchObject({ operation: 'erase', about: { login: 'olga', dryRun: false }, outcome: 'done' });
    expect(acts.filter(({ org }) => org === 'acme').length).toBeGreaterThan(0);
    expect((await json<{ rows: Act[] }>('acts', '-n', '1', '--before', acts[0]?.id ?? '')).rows).toEqual([acts[1]]);
    expect(await run('acts', '--org', 'nobody')).toMatchObject({ code: 3, stderr: expect.stringContaining('acme') });
    expect(await run('acts')).toMatchObject({ code: 0, stdout: expect.stringMatching(/erase .*login olga/) });
  });

  // Last, for the doctor learns what the account may: rules that lack a right are held then, and their effects are not tried.
  it('commands that talk to it need no secret of its config', async () => {
    const bare = { ...place, env: {} };
    const commands = [
      'acts',
      'approve',
      'audit',
      'backtest labels --since 1h',
      'deliveries',
      'doctor --org acme',
      'erase nobody --dry-run',
      'explain --help',
      'findings',
      'gaps',
      'hook install --dry-run --all-events',
      'housekeeping list',
      'operators list',
      'plan',
      'promote',
      'release gone',
      'replay gone',
      'resolve gone --exists',
      'resume --rule gone',
      'retry gone',
      'runs',
      'status',
    ];
    const told = await Promise.all(
      commands.map(async (line) => {
        const { stdout, stderr } = await outputs.run(bare, ...line.split(' '), '--config', place.configFile);
        return [line, /FORGE_TOKEN|HOOK_SECRET|is not set/.test(stdout + stderr)];
      }),
    );

    expect(told.filter(([, asks]) => asks)).toEqual([]);
    expect((await outputs.run(bare, 'status', '--config', place.configFile)).code).toBe(0);
  });
});

describe('e2e/commands when no bot runs', () => {
  beforeAll(() => stop());

  it('the same commands open the store themselves', async () => {
    const [arrival] = (await json<{ rows: ArrivalSummary[] }>('deliveries', '--limit', '1')).rows;
    const [last] = (await json<{ rows: RunReport[] }>('runs', '--limit', '1')).rows;

    expect((await run('status')).stdout).toMatch(/^no bot is running; this is what the store says\n/);
    expect(await json<RunReport>('runs', last?.run.id ?? '')).toMatchObject({ run: { id: last?.run.id } });
    expect(await json<ReplayReport>('replay', arrival?.id ?? '')).toMatchObject({ newRuns: 0 });
    expect(await run('retry', last?.intents[0]?.id ?? '')).toMatchObject({ code: 1 });
    expect(await json('pause', '--org', 'acme')).toEqual({ paused: true });
    expect(await json<Status>('status')).toMatchObject({
      running: false,
      roles: [],
      startedAt: null,
      rows: [{ revision: { rules: 4 } }],
      paused: [{ org: 'acme', rule: null }],
    });
    expect(await json('resume', '--org', 'acme')).toEqual({ resumed: true });
    expect(await run('resume', '--org', 'acme')).toMatchObject({
      code: 1,
      stdout: 'organization acme was not paused\n',
    });
  });

  it('what housekeeping run planned is done by the next start', async () => {
    await forge.act('repository.create', { repo: 'acme/late' });
    const { runs } = await json<{ runs: number }>('housekeeping', 'run', 'nightly', '--org', 'acme');
    expect(runs).toBeGreaterThanOrEqual(44);
    expect(await labelsOf('late')).toEqual([]);

    await start();
    await until(async () => (await labelsOf('late')).includes('nightly'));
    await stop();
  });

  it('shows no stack trace and no secret anywhere', () => {
    outputs.prove(secrets);
  });

  it('keeps no secret in its data', () => {
    const files = readdirSync(join(place.dir, 'data'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const told = files.flatMap((entry) =>
      secretsIn(readFileSync(join(entry.parentPath, entry.name), 'latin1'), secrets).map(
        (name) => `${entry.name}: ${name}`,
      ),
    );

    expect(files.length).toBeGreaterThan(100);
    expect(told).toEqual([]);
  });
});
