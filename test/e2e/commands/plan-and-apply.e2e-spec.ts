import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GapReport } from '../../../src/api/operations/answers.js';
import type { KeptFinding } from '../../../src/policies/finding-store.port.js';
import type { ApplyReport, KeptPlan } from '../../../src/policies/policy-plan.js';
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
import { Outputs } from './outputs.js';

const RULES = `version: 1
org: acme
policies:
  - id: house-labels
    schedule: "0 0 29 2 *"
    approval: required
    subjects: { repos: ["acme/*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }]
    expect:
      described: { that: repo.description != "", severity: low, message: say what it is for }
`;

const MIRRORS = `version: 1
org: acme
policies:
  - id: mirrors
    schedule: "0 0 29 2 *"
    approval: required
    subjects: { repos: [acme/app] }
    push_mirrors: [{ remote_address: "https://mirror.example.org/\${{ repo.name }}.git", interval: 8h }]
`;

const NEW_POLICY = `version: 1
org: acme
policies:
  - id: new
    schedule: "0 0 29 2 *"
    subjects: { repos: ["acme/*"] }
    milestones: [{ title: backlog }]
`;

let forge: Forge;
let place: Place;
let bot: Bot;
const outputs = new Outputs();
const secret = 'canary-hook-5c30d2';

const run = (...args: string[]): Promise<CommandResult> => outputs.run(place, ...args, '--config', place.configFile);

/** Of a command whose exit code says something. */
async function told<T>(code: number, ...args: string[]): Promise<T> {
  const result = await run(...args, '--json');
  expect({ args, code: result.code, stderr: result.stderr }).toEqual({ args, code, stderr: '' });
  return JSON.parse(result.stdout) as T;
}

const labelsOf = async (repo: string): Promise<string[]> =>
  ((await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)) ?? []).map(({ name }) => name);

/** By the site's administrator, not by the bot. */
async function makeMirror(remote_address: string): Promise<void> {
  const { apiUrl, admin } = forge.sandbox;
  const authorization = `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`;
  const answer = await fetch(`${apiUrl}/repos/acme/app/push_mirrors`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ remote_address, interval: '24h' }),
  });
  expect(answer.ok).toBe(true);
}

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  place = aPlace({
    config: acmeConfig(forge.apiUrl, {
      forge: { rate_per_s: 200 },
      org: { mirror_hosts: ['mirror.example.org'], feed: { every_s: 0.5, grace_s: 0 }, trusted: false },
    }),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: secret },
  });
  for (const repo of ['app', 'web'])
    await forge.act('repository.create', { repo: `acme/${repo}`, description: repo === 'app' ? 'The app' : '' });
  // The feed tells times to the second, and what is told of the second in which the bot starts is news to it.
  await wait(1_100);
  bot = await startBot(place);
});

afterAll(async () => {
  await bot.kill();
  await forge.close();
  place.remove();
});

describe('e2e/commands: plan, approve, apply, findings, gaps', () => {
  it('plan tells what is to change and ends with 4; nothing is written', async () => {
    const plan = await told<KeptPlan>(4, 'plan');

    expect(plan.lines.map(({ repo, action, key }) => [repo?.name, action, key])).toEqual([
      ['acme/app', 'label.ensure', 'kind/bug'],
      ['acme/web', 'label.ensure', 'kind/bug'],
    ]);
    expect((await run('plan', '--policy', 'house-labels', '--all')).stdout).toMatch(
      /\+ label\.ensure kind\/bug[\s\S]*Plan .*: 2 calls/,
    );
    expect([await labelsOf('app'), forge.botWrites()]).toEqual([[], []]);
  });

  it('apply is refused before the approval, writes the lines after it, and nothing the second time', async () => {
    const { hash } = await told<KeptPlan>(4, 'plan', '--policy', 'house-labels');
    const short = hash.slice(0, 12);

    expect(await told<ApplyReport>(1, 'apply', short)).toMatchObject({
      outcome: 'refused',
      reasons: [expect.stringContaining('waits for an approval')],
    });
    expect((await run('approve')).stdout).toContain(short);
    const waiting = await told<{ plans: KeptPlan[]; rows: unknown[] }>(0, 'approve');
    expect(waiting).toMatchObject({ rows: [], next: null });
    expect(waiting.plans.map((plan) => [plan.needsApproval, plan.hash])).toContainEqual([true, hash]);
    const lines = (await run('approve', '--json', '--all')).stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as KeptPlan).hash)).toEqual(waiting.plans.map((plan) => plan.hash));
    expect(await run('approve', short)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`plan ${short} is approved`),
    });
    expect(await told<ApplyReport>(0, 'apply', short)).toMatchObject({
      outcome: 'applied',
      effects: [{ run: { state: 'done' } }, { run: { state: 'done' } }],
    });
    expect([await labelsOf('app'), await labelsOf('web')]).toEqual([['kind/bug'], ['kind/bug']]);

    const written = forge.botWrites().length;
    expect(await told<ApplyReport>(0, 'apply', short)).toMatchObject({ outcome: 'applied-before' });
    expect((await told<KeptPlan>(0, 'plan', '--policy', 'house-labels')).lines).toEqual([]);
    expect(forge.botWrites()).toHaveLength(written);
  });

  it('apply refuses a plan when a mirror was changed behind its back, names it, and writes nothing', async () => {
    place.write('rules/mirrors.yaml', MIRRORS);
    await until(async () => (await run('plan', '--policy', 'mirrors')).code === 4);
    const plan = await told<KeptPlan>(4, 'plan', '--policy', 'mirrors');
    const short = plan.hash.slice(0, 12);
    expect(await run('approve', short)).toMatchObject({ code: 0 });
    expect(plan.calls).toMatchObject({
      writes: { createPushMirror: 1 },
      runs: [{ policy: 'mirrors', repo: { name: 'acme/app' } }],
    });
    expect((await run('plan', '--policy', 'mirrors')).stdout).toMatch(
      /API calls of its runs, at most \d+: 1 write \(add a push mirror: 1\), \d+ reads? \(/,
    );
    await makeMirror('https://mirror.example.org/app.git');
    const written = forge.botWrites().length;

    const refused = await run('apply', short);

    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /nothing is written[\s\S]*acme\/app {2}push_mirror\.ensure https:\/\/mirror\.example\.org\/app\.git cannot be written any more: mirror to /,
      ),
    });
    expect(forge.botWrites()).toHaveLength(written);
  });

  it('findings names what does not hold, and ends with 1', async () => {
    expect(
      (await told<{ rows: KeptFinding[] }>(1, 'findings')).rows.map(({ subjectName, name, severity }) => [
        subjectName,
        name,
        severity,
      ]),
    ).toEqual([['acme/web', 'described', 'low']]);
    expect((await run('findings')).stdout).toContain('say what it is for');
    expect(await told(0, 'findings', '--severity', 'critical')).toMatchObject({ rows: [], open: 0 });
  });

  it('gaps tells the delivery that never came', async () => {
    await forge.act('push', { repo: 'acme/app' });
    await until(async () => (await told<GapReport>(0, 'gaps')).rows.length > 0);

    const { rows: gaps } = await told<GapReport>(0, 'gaps', '--org', 'acme');

    expect(gaps).toMatchObject([{ org: 'acme', kind: 'push', repo: 'acme/app', outcome: 'repaired' }]);
    expect((await run('gaps')).stdout).toMatch(/push .*acme\/app/);
  });

  it('a policy that is new to the store waits once for approve, and then works by itself', async () => {
    const milestonesOf = async (repo: string): Promise<string[]> =>
      ((await forge.get<Array<{ title: string }>>(`/repos/acme/${repo}/milestones`)) ?? []).map(({ title }) => title);
    const waiting = async (): Promise<string> =>
      /acme\/new +waits .*(\w{12})$/m.exec((await run('approve')).stdout)?.[1] ?? '';
    place.write('rules/new.yaml', NEW_POLICY);
    await until(async () => (await waiting()) !== '');
    const short = await waiting();
    expect(await milestonesOf('app')).toEqual([]);

    expect(await run('approve', short)).toMatchObject({ code: 0 });
    await until(async () => (await milestonesOf('app')).includes('backlog'));
    await forge.act('repository.create', { repo: 'acme/late', description: 'Made after the approval' });

    await until(async () => (await milestonesOf('late')).includes('backlog'));
  });

  it('shows no stack trace and no secret anywhere', () =>
    outputs.prove({ 'token of the forge': forge.botToken, 'secret of the hook': secret }));
});
