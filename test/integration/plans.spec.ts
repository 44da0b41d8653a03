import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PlanDecision, RunReport } from '../../src/api/operations/answers.js';
import { runCli } from '../../src/cli/run-cli.js';
import type { ScheduleStatus } from '../../src/housekeeping/schedule-status.js';
import type { ApplyReport, KeptPlan } from '../../src/policies/policy-plan.js';
import { callsMade, sumOf } from '../../src/core/call-counts.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const NEVER = 'schedule: "0 0 29 2 *"';

const RULES = `version: 1
org: acme
secrets: [mirror_token]
policies:
  - id: mirrors
    ${NEVER}
    approval: required
    subjects: { repos: ["*"] }
    push_mirrors:
      - { remote_address: "https://mirror.example.org/\${{ repo.name }}.git", remote_username: bot, remote_password: "\${{ secrets.mirror_token }}", interval: 8h }
  - id: labels
    ${NEVER}
    approval: required
    subjects: { repos: ["*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }, { name: kind/docs, color: "#0075ca" }]
  - id: capped
    ${NEVER}
    subjects: { repos: ["*"] }
    limits: { effects_per_plan: 1 }
    milestones: [{ title: backlog }, { title: later }]
  - id: narrow
    ${NEVER}
    subjects: { repos: ["*"] }
    limits: { effects_per_run: 1 }
    labels: [{ name: narrow/1, color: "#000001" }, { name: narrow/2, color: "#000002" }]
  - id: costed
    ${NEVER}
    approval: required
    subjects: { repos: ["*"] }
    labels: [{ name: cost/1, color: "#000001" }, { name: cost/2, color: "#000002" }, { name: cost/3, color: "#000003" }]
    milestones: [{ title: cheap }, { title: dear }]
`;

const CORE = `version: 1
org: acme
policies:
  - id: labels
    ${NEVER}
    approval: required
    assume_absent: true
    subjects: { repos: ["*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }]
  - id: backlog
    ${NEVER}
    subjects: { repos: ["*"] }
    milestones: [{ title: backlog }]
`;

async function aWorld(
  profile: 'gitea' | 'core',
  rules: string,
  over: object = {},
): Promise<{ forge: TestForge; bot: TestBot }> {
  const forge = await aForge({ org: 'acme', profile });
  const bot = await aBot({
    config: acmeConfig(forge, {
      org: { mirror_hosts: ['mirror.example.org'], secrets: { mirror_token: { env: 'MIRROR_TOKEN' } }, ...over },
      ratePerS: 500,
    }),
    files: { 'rules/r.yaml': rules },
    env: { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook', MIRROR_TOKEN: 'mirror token' },
  });
  await forge.hook(`${bot.url}/webhooks/acme`, 'the secret of the hook');
  for (const repo of ['acme/app', 'acme/web']) await forge.act('repository.create', { repo });
  // A new revision reconciles each of its policies once. Where that came late, it would take the place of plans that a test has in hand.
  const policies = rules.split('\nrules:')[0]?.match(/^  - id: /gm)?.length ?? 0;
  const reconciled = (): number => (bot.log().match(/"tick\.decided"/g) ?? []).length;
  await until(async () => reconciled() >= policies);
  return { forge, bot };
}

/** Calls of the bot that change something, as `POST /path`. */
const writes = (forge: TestForge, since = 0): string[] =>
  forge
    .botCalls()
    .slice(since)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);

const planOf = (bot: TestBot, policy: string): Promise<KeptPlan> =>
  bot.reach.post<KeptPlan>('/v1/plans', { org: 'acme', policy });
const apply = (bot: TestBot, { hash }: KeptPlan): Promise<ApplyReport> =>
  bot.reach.post<ApplyReport>(`/v1/plans/${hash}/apply`);
const approve = (bot: TestBot, { hash }: KeptPlan): Promise<PlanDecision> =>
  bot.reach.post<PlanDecision>(`/v1/plans/${hash}/approve`);

async function done(bot: TestBot, { runs }: ApplyReport): Promise<RunReport[]> {
  let reports: RunReport[] = [];
  await until(async () => {
    reports = await Promise.all(runs.map((id) => bot.reach.get<RunReport>(`/v1/runs/${id}`)));
    return reports.every(({ run }) => run.state !== 'open');
  });
  return reports;
}

describe('integration/plans', () => {
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    ({ forge, bot } = await aWorld('gitea', RULES));
    await until(async () => (await bot.reach.rows<RunReport>('/v1/runs', { rule: 'mirrors', limit: 50 })).length >= 2);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('writes nothing of a policy that wants an approval, whatever woke it', async () => {
    const runs = await bot.reach.rows<RunReport>('/v1/runs', { rule: 'mirrors', limit: 50 });

    expect(
      runs.filter(({ run }) => run.reason.includes('waits for an approval: forgehand approve')).length,
    ).toBeGreaterThan(0);
    expect(runs.every(({ intents }) => intents.length === 0)).toBe(true);
    expect(writes(forge)).not.toContainEqual(expect.stringContaining('push_mirrors'));
  });

  it('makes a plan line by line, is applied after its approval only, and then writes exactly these lines', async () => {
    const plan = await planOf(bot, 'mirrors');

    expect(plan.lines.map(({ repo, operation, key, does }) => [repo?.name, operation, key, does])).toEqual([
      ['acme/app', 'createPushMirror', 'https://mirror.example.org/app.git', 'write'],
      ['acme/web', 'createPushMirror', 'https://mirror.example.org/web.git', 'write'],
    ]);
    expect(plan.lines[0]?.fields).toContainEqual({
      field: 'remote_password',
      before: { is: 'absent' },
      after: 'secrets.mirror_token',
    });
    expect(await apply(bot, plan)).toMatchObject({
      outcome: 'refused',
      code: 'plan.not-approved',
      reasons: [expect.stringContaining('waits for an approval')],
    });

    const before = forge.botCalls().length;
    expect(await approve(bot, plan)).toMatchObject({ decided: true, plan: { state: 'approved' } });
    const report = await apply(bot, plan);
    const runs = await done(bot, report);

    expect(report).toMatchObject({
      outcome: 'applied',
      plan: { state: 'applied', appliedBy: expect.any(String), decidedBy: expect.any(String) },
    });
    expect(runs.every(({ run }) => run.state === 'done' && run.cause.kind === 'apply')).toBe(true);
    expect(writes(forge, before).sort()).toEqual(
      plan.lines.map(({ repo }) => `POST /api/v1/repos/${repo?.name}/push_mirrors`).sort(),
    );
  });

  it('says before how many calls it will need, and no more are made: each write, and at least half of all', async () => {
    const plan = await planOf(bot, 'costed');
    await approve(bot, plan);
    const before = forge.botCalls().length;

    const runs = await done(bot, await apply(bot, plan));

    const made = callsMade(runs.flatMap(({ intents }) => intents.map(({ result }) => result)));
    const { reads, writes: planned, runs: byRun } = plan.calls;
    const predicted = { ...reads, ...planned };
    expect(planned).toEqual({ createLabel: 6, createMilestone: 4 });
    expect(byRun.map(({ repo }) => repo?.name)).toEqual(['acme/app', 'acme/web']);
    expect(writes(forge, before)).toHaveLength(sumOf(planned));
    expect(Object.entries(made).filter(([operation, count]) => count > (predicted[operation] ?? 0))).toEqual([]);
    expect(made).toMatchObject(planned);
    // Steps of one run that happen to read the same share that call: how many do depends on the moment.
    expect(sumOf(made)).toBeGreaterThanOrEqual(sumOf(predicted) / 2);
    // What is told is what was asked: nothing was sent beside it.
    expect(forge.botCalls().slice(before).length).toBeGreaterThanOrEqual(sumOf(made));
  });

  it('is empty the second time, and applying again writes nothing', async () => {
    const [first] = await bot.reach.get<KeptPlan[]>('/v1/plans', { state: 'applied', limit: 1 });
    const before = forge.botCalls().length;
    const again = await planOf(bot, 'mirrors');

    expect(again.lines).toEqual([]);
    expect(first && (await apply(bot, first))).toMatchObject({ outcome: 'applied-before' });
    expect(writes(forge, before)).toEqual([]);
  });

  it('refuses to apply when a mirror was changed behind its back, and names it', async () => {
    const plan = await planOf(bot, 'labels');
    const mirrors = await planOf(bot, 'mirrors');
    await approve(bot, plan);
    expect(mirrors.lines).toEqual([]);
    const [there] = await forge.get<Array<{ remote_name: string }>>('/repos/acme/app/push_mirrors');
    await asAdmin(forge, 'DELETE', `/repos/acme/app/push_mirrors/${there?.remote_name ?? ''}`);
    const whole = await bot.reach.post<KeptPlan>('/v1/plans', { org: 'acme', policy: 'mirrors' });
    await approve(bot, whole);
    await asAdmin(forge, 'POST', '/repos/acme/app/push_mirrors', {
      remote_address: 'https://mirror.example.org/app.git',
      interval: '24h',
    });
    const before = forge.botCalls().length;
    const report = await apply(bot, whole);

    expect(report).toMatchObject({ outcome: 'refused', code: 'plan.drifted' });
    expect(report.drift).toMatchObject([
      { line: { repo: { name: 'acme/app' }, action: 'push_mirror.ensure', key: 'https://mirror.example.org/app.git' } },
    ]);
    expect(writes(forge, before)).toEqual([]);
  });

  it('refuses the yes to a plan that does not hold any more', async () => {
    const plan = await planOf(bot, 'labels');
    await asAdmin(forge, 'POST', '/repos/acme/app/labels', { name: 'kind/bug', color: '#00aabb' });
    const before = forge.botCalls().length;

    const { decided, applied } = await approve(bot, plan);

    expect([decided, applied?.outcome, applied?.code]).toEqual([false, 'refused', 'plan.drifted']);
    expect(applied?.drift).toMatchObject([{ line: { repo: { name: 'acme/app' }, key: 'kind/bug' } }]);
    expect(applied?.reasons[0]).toContain('make a new plan');
    expect(writes(forge, before)).toEqual([]);
    const labels = await forge.get<Array<{ id: number; name: string }>>('/repos/acme/app/labels');
    const made = labels.find(({ name }) => name === 'kind/bug');
    await asAdmin(forge, 'DELETE', `/repos/acme/app/labels/${made?.id}`);
  });

  it('gives up a plan over its cap as a whole: no call is made', async () => {
    const before = forge.botCalls().length;
    const plan = await planOf(bot, 'capped');

    expect(plan.overCaps).toEqual(['capped wants 4 effects, its cap is 1 (effects_per_plan)']);
    expect(plan.overCapReasons).toEqual([
      { code: 'plan.over-cap.effects', params: { policy: 'capped', effects: 4, cap: 1 } },
    ]);
    expect(await apply(bot, plan)).toMatchObject({
      outcome: 'refused',
      code: 'plan.over-cap.effects',
      reasons: plan.overCaps,
    });
    expect(writes(forge, before)).toEqual([]);
  });

  it('tells pipelines by its exit code whether there is something to change', async () => {
    const config = `${bot.dir}/forgehand.yaml`;
    const codes = [
      await quietly(() => runCli(['plan', '--config', config, '--policy', 'labels', '--all'])),
      await quietly(() => runCli(['plan', '--config', config, '--policy', 'capped', '--json'])),
    ];

    expect(codes.map(({ code }) => code)).toEqual([4, 1]);
    expect(codes[0]?.text).toContain('+ label.ensure kind/bug');
    expect(codes[0]?.text).toMatch(/Plan .*: 4 calls; 2 subjects looked at/);
    const { code, text } = await quietly(() => runCli(['plan', '--config', config, '--policy', 'labels']));
    expect(code).toBe(4);
    expect(text).toContain('+ labels: label.ensure ×4 in 2 repositories (kind/bug, kind/docs)');
    expect(text).toMatch(/Plan .*: 4 calls; 2 subjects looked at/);
  });

  it('tells pipelines by its exit code that something could not be decided, and people how much', async () => {
    const told = (policy: string) =>
      quietly(() => runCli(['plan', '--config', `${bot.dir}/forgehand.yaml`, '--policy', policy]));

    expect(await told('narrow')).toEqual({
      code: 1,
      text: expect.stringMatching(
        /Not decided\n(.*wants 2 effects.*\n){2}\nNothing else to change: 2 subjects looked at, 2 not decided\.\n$/,
      ),
    });

    // What this one wants was applied above.
    forge.tap.answer = ({ path }) => (path.includes('/repos/acme/web/labels') ? { status: 403, body: '{}' } : null);
    const closed = await told('costed');
    forge.tap.answer = () => null;
    expect(closed).toEqual({
      code: 1,
      text: expect.stringMatching(
        /Not decided\n.*\(acme\/web\): .*403.*\n\nNothing else to change: 2 subjects looked at, 1 not decided\.\n$/,
      ),
    });
  });
});

describe('integration/plans: a forge that lists no labels', () => {
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    ({ forge, bot } = await aWorld('core', CORE));
    await until(async () => (await bot.reach.rows<RunReport>('/v1/runs', { rule: 'labels', limit: 50 })).length >= 2);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('says that it cannot be read, writes once, and never again', async () => {
    let plan = await planOf(bot, 'labels');
    // Such a forge tells its repositories by the feed, which is asked once a second at most.
    await until(async () => plan.lines.length === 2 || ((plan = await planOf(bot, 'labels')), false));
    expect(plan.lines[0]?.fields[0]).toEqual({
      field: 'name',
      before: { is: 'not-readable', last: null },
      after: 'kind/bug',
    });

    await approve(bot, plan);
    const before = forge.botCalls().length;
    await done(bot, await apply(bot, plan));
    const first = writes(forge, before);
    await apply(bot, plan);
    const again = await planOf(bot, 'labels');

    expect(first.sort()).toEqual(['POST /api/v1/repos/acme/app/labels', 'POST /api/v1/repos/acme/web/labels']);
    expect(again.lines).toEqual([]);
    expect(writes(forge, before)).toHaveLength(2);
  });

  it('tells of a policy that cannot work there, with its place, and refuses to apply it', async () => {
    const plan = await planOf(bot, 'backlog');
    const whole = await bot.reach.post<KeptPlan>('/v1/plans', { org: 'acme' });

    const reason = expect.stringMatching(
      /r\.yaml:\d+:\d+: backlog needs listMilestones for .*, which this forge does not offer$/,
    );
    expect(plan).toMatchObject({ lines: [], notes: [], subjects: 0, heldBack: [{ policy: 'backlog', reason }] });
    expect(await apply(bot, plan)).toMatchObject({
      outcome: 'refused',
      code: 'plan.policy-held',
      reasons: [expect.stringMatching(/^backlog is held back: .*does not offer$/)],
    });
    expect(whole.heldBack).toEqual(plan.heldBack);
    const told = await quietly(() => runCli(['plan', '--config', `${bot.dir}/forgehand.yaml`, '--policy', 'backlog']));
    expect(told).toEqual({ code: 1, text: expect.stringMatching(/Held back\n.*backlog .*needs listMilestones/) });
  });

  it('shows what was written last, and when, where the policy wants something else by now', async () => {
    bot.write('rules/r.yaml', CORE.replace('#d73a4a', '#000000'));
    let plan: KeptPlan | undefined;
    await until(async () => ((plan = await planOf(bot, 'labels')), plan.lines.length > 0));

    // A label cannot be changed by any call of this forge: it is told, never "no change".
    expect(plan?.lines.map(({ does }) => does)).toEqual(['cannot', 'cannot']);
    expect(plan?.lines[0]?.reason).toContain('made before with other settings');
  });
});

describe('integration/plans: policies that are new to the store', () => {
  const NEW = `version: 1
org: acme
policies:
  - id: backlog
    ${NEVER}
    subjects: { repos: ["*"] }
    milestones: [{ title: backlog }]
  - id: labels
    ${NEVER}
    approval: required
    subjects: { repos: ["*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }, { name: kind/docs, color: "#0075ca" }]
  - id: quiet
    ${NEVER}
    mode: dry-run
    subjects: { repos: ["*"] }
    milestones: [{ title: quiet }]
rules:
  - id: greet
    on: repository.created
    do: { label.ensure: { name: hello, color: "#00ff00" } }
`;
  let forge: TestForge;
  let bot: TestBot;

  const milestonesOf = async (repo: string): Promise<string[]> =>
    (await forge.get<Array<{ title: string }>>(`/repos/acme/${repo}/milestones`)).map(({ title }) => title);
  const labelsOf = async (repo: string): Promise<string[]> =>
    (await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)).map(({ name }) => name);
  const runsOf = (rule: string): Promise<RunReport[]> => bot.reach.rows<RunReport>('/v1/runs', { rule, limit: 50 });
  const whyNot = async (rule: string): Promise<ScheduleStatus['why']> =>
    (await bot.reach.get<{ rows: ScheduleStatus[] }>('/v1/schedules', { rule })).rows.flatMap(({ why }) => why);

  beforeAll(async () => {
    ({ forge, bot } = await aWorld('gitea', NEW, { trusted: false }));
    await until(async () => (await runsOf('backlog')).filter(({ run }) => run.state === 'not-fired').length >= 2);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('holds such a policy as a plan that says so, and holds neither rules nor a dry run', async () => {
    await until(async () => (await labelsOf('web')).includes('hello'));
    const held = (await runsOf('backlog')).filter(({ intents }) => intents.length === 0);
    const plan = await planOf(bot, 'backlog');

    expect(new Set(held.map(({ run }) => run.code))).toContain('run.held.new-policy');
    expect(held[0]?.run.reason).toMatch(/the policy is new here and waits once: forgehand approve \w{12}/);
    expect((await runsOf('labels')).map(({ run }) => run.code)).toContain('run.held.approval');
    expect((await runsOf('quiet')).some(({ intents }) => intents.some(({ mode }) => mode === 'dry-run'))).toBe(true);
    expect(plan).toMatchObject({ needsApproval: true, newPolicies: ['backlog'] });
    expect(await apply(bot, plan)).toMatchObject({ outcome: 'refused', code: 'plan.not-approved' });
    expect((await Promise.all(['app', 'web'].map(milestonesOf))).flat()).toEqual([]);
    const shown = await quietly(() => runCli(['plan', '--config', `${bot.dir}/forgehand.yaml`, '--policy', 'backlog']));
    expect(shown.text).toContain('New in this store: backlog.');
  });

  it('schedules name the plan that waits, and the command', async () => {
    await bot.reach.post('/v1/orgs/acme/schedules/backlog/run');

    const why = await whyNot('backlog');
    expect(why).toEqual([
      { code: 'schedule.approval', text: expect.stringMatching(/forgehand approve [0-9a-f]{12}$/) },
    ]);
    const short = why[0]?.text.slice(-12) ?? '';
    expect(await bot.reach.get(`/v1/plans/${short}`)).toMatchObject({ plan: { state: 'open', policy: 'backlog' } });
  });

  it('applies its plan with the approval, and lets it work by itself from then on', async () => {
    const plans = await bot.reach.get<KeptPlan[]>('/v1/plans', { state: 'open', limit: 50 });
    // The schedule of a new revision may have looked between the two repositories: its plan is out of date.
    const waiting = plans.find(
      ({ madeBy, newPolicies, about, subjects }) =>
        madeBy === 'schedule' && newPolicies?.includes('backlog') && (about !== null || subjects === 2),
    );
    expect(waiting && (await approve(bot, waiting))).toMatchObject({ applied: { outcome: 'applied' } });

    await forge.act('repository.create', { repo: 'acme/late' });
    await until(async () => (await milestonesOf('late')).includes('backlog'));

    expect((await planOf(bot, 'backlog')).newPolicies).toBeUndefined();
    expect(await labelsOf('late')).not.toContain('kind/bug');
    expect(await milestonesOf('late')).toEqual(['backlog']);
    expect(await whyNot('backlog')).toEqual([]);
  });

  const waitingOf = async (policy: string): Promise<KeptPlan[]> =>
    (await bot.reach.get<KeptPlan[]>('/v1/plans', { state: 'open', limit: 50 })).filter(
      (plan) => plan.madeBy === 'schedule' && plan.policy === policy,
    );

  it('puts what a schedule wants now in the place of a plan that is out of date, and says which', async () => {
    const [outdated] = (await waitingOf('labels')).filter(({ about }) => about !== null);
    const repo = outdated?.lines[0]?.repo?.name ?? '';
    await asAdmin(forge, 'POST', `/repos/${repo}/labels`, { name: 'kind/bug', color: '#d73a4a' });

    const decision = outdated && (await approve(bot, outdated));
    const [next] = (await waitingOf('labels')).filter(({ about }) => about?.join() === outdated?.about?.join());

    expect(outdated?.lines.map(({ key }) => key)).toEqual(['kind/bug', 'kind/docs']);
    expect(decision?.applied).toMatchObject({ outcome: 'refused', code: 'plan.drifted' });
    expect(decision?.applied?.reasons[0]).toContain(`forgehand approve ${next?.hash.slice(0, 12)}`);
    expect(next?.lines.map(({ key }) => key)).toEqual(['kind/docs']);
    const taken = next && (await approve(bot, next));
    expect(taken).toMatchObject({ applied: { outcome: 'applied' } });
    // The next plan is made of what is there then.
    if (taken?.applied) await done(bot, taken.applied);
  });

  it('leaves no plan of a schedule open once a person applied the same policy', async () => {
    expect(await waitingOf('labels')).not.toEqual([]);
    const whole = await bot.reach.post<KeptPlan>('/v1/plans', { org: 'acme' });
    await approve(bot, whole);

    expect(await apply(bot, whole)).toMatchObject({ outcome: 'applied' });
    expect(await waitingOf('labels')).toEqual([]);
    const open = await bot.reach.get<KeptPlan[]>('/v1/plans', { state: 'open', limit: 50 });
    expect(open.filter(({ madeBy }) => madeBy === 'schedule')).toEqual([]);
  });
});

async function asAdmin(forge: TestForge, method: string, path: string, body?: object): Promise<void> {
  const { apiUrl, admin } = forge.sandbox;
  const authorization = `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`;
  const answer = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

async function quietly(work: () => Promise<number>): Promise<{ code: number; text: string }> {
  const written: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = ((chunk: string | Uint8Array) => (written.push(String(chunk)), true)) as typeof write;
  try {
    return { code: await work(), text: written.join('') };
  } finally {
    process.stdout.write = write;
  }
}
