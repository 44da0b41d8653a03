import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PlanDecision, RunReport, StatusReport } from '../../src/api/operations/answers.js';
import type { JobRun } from '../../src/housekeeping/jobs/job-runner.js';
import { reachBot } from '../../src/cli/reach-bot.js';
import type { Operator } from '../../src/core/operators.js';
import type { Intent } from '../../src/core/run.js';
import type { ApplyReport, KeptPlan } from '../../src/policies/policy-plan.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { byPath, type ByPath } from './support/by-path.js';
import { aForge, type TestForge } from './support/a-forge.js';

const RULES = `version: 1
org: acme
rules:
  - { id: release-label, on: repository.created, where: { repo: [acme/web] }, do: { label.ensure: { name: release, color: "#000001" }, approval: two-people } }
policies:
  - id: labels
    schedule: "0 0 29 2 *"
    approval: two-people
    subjects: { repos: [acme/app] }
    labels: [{ name: kind/bug, color: "#d73a4a" }]
`;

describe('integration/operators: two people', () => {
  let forge: TestForge;
  let bot: TestBot;
  let ann: ByPath;
  let bob: ByPath;
  let carl: ByPath;
  let olga: ByPath;

  /** A client of the control API with a token, on the socket. */
  async function withToken(token: string): Promise<ByPath> {
    process.env['FORGEHAND_OPERATOR_TOKEN'] = token;
    try {
      return byPath(await reachBot(bot.configFile));
    } finally {
      delete process.env['FORGEHAND_OPERATOR_TOKEN'];
    }
  }

  async function operator(name: string, scopes: string[], login: string): Promise<ByPath> {
    const { token } = await bot.reach.post<{ operator: Operator; token: string }>('/v1/operators', {
      name,
      scopes,
      login,
      expiresS: 86_400,
    });
    return withToken(token);
  }

  const acme = async () => (await bot.reach.get<StatusReport>('/v1/status')).rows[0];
  const plan = (who: ByPath): Promise<KeptPlan> => who.post<KeptPlan>('/v1/plans', { org: 'acme', policy: 'labels' });
  const approve = (who: ByPath, { hash }: KeptPlan, deny = false): Promise<PlanDecision> =>
    who.post<PlanDecision>(`/v1/plans/${hash}/approve`, { deny });
  const apply = (who: ByPath, { hash }: KeptPlan): Promise<ApplyReport> =>
    who.post<ApplyReport>(`/v1/plans/${hash}/apply`);

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    const env = { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook' };
    bot = await aBot({ config: acmeConfig(forge), files: { 'rules/r.yaml': RULES }, env });
    await forge.hook(`${bot.url}/webhooks/acme`, 'the secret of the hook');
    await forge.act('repository.create', { repo: 'acme/app' });
  });

  afterAll(async () => {
    for (const reach of [ann, bob, carl, olga]) await reach?.close();
    await bot?.close();
    await forge?.close();
  });

  it('describes the control API to programs', async () => {
    expect(await bot.reach.get('/v1/openapi.json')).toMatchObject({
      openapi: '3.1.0',
      paths: { '/v1/plans/{hash}/approve': { post: { operationId: 'decidePlan', 'x-scope': 'approve' } } },
    });
  });

  it('refuses the rules while fewer than two people could approve, and takes them by itself once there are two', async () => {
    const none = await acme();
    ann = await operator('ann', ['operate', 'approve'], 'ann-forge');
    // A second name for the same account of the forge is no second person.
    await operator('ann-laptop', ['approve'], 'Ann-Forge');
    carl = await operator('carl', ['read', 'operate'], 'carl-forge');
    bot.write('rules/r.yaml', `${RULES}\n`);
    await until(async () => ((await acme())?.heldBack ?? []).some((text) => text.includes('only one operator')));
    const one = await acme();
    bob = await operator('bob', ['approve'], 'bob-forge');
    await until(async () => (await acme())?.revision !== null);

    expect(none?.heldBack).toEqual([
      expect.stringMatching(
        /r\.yaml:4:\d+: approval: two-people takes two operators who may approve, and there is no operator/,
      ),
      expect.any(String),
    ]);
    expect(one?.revision).toBeNull();
    expect((await acme())?.heldBack).toEqual([]);
  });

  it('lets nobody approve or apply a plan alone, by whichever way, and lets two people do it together', async () => {
    const byOwner = await plan(bot.reach);
    await expect(approve(bob, byOwner)).rejects.toMatchObject({ code: 'REQUESTER_NOT_NAMED' });
    expect(await approve(bot.reach, byOwner, true)).toMatchObject({ plan: { state: 'denied' } });

    const made = await plan(ann);
    expect(made).toMatchObject({ needsApproval: true, twoPeople: true, madeBy: 'ann', state: 'open' });
    await expect(approve(ann, made)).rejects.toMatchObject({ code: 'APPROVER_IS_REQUESTER' });
    await expect(approve(bot.reach, made)).rejects.toMatchObject({ code: 'APPROVER_NOT_NAMED' });
    await expect(approve(carl, made)).rejects.toMatchObject({ code: 'SCOPE_MISSING' });
    const laptop = await operator('ann-laptop', ['approve', 'operate'], 'ann-forge');
    await expect(approve(laptop, made)).rejects.toMatchObject({ code: 'APPROVER_IS_REQUESTER' });
    const dora = await operator('dora', ['approve'], 'dora-forge');
    await bot.reach.post('/v1/operators/dora/revoke');
    await expect(approve(dora, made)).rejects.toMatchObject({ code: 'OPERATOR_REVOKED' });
    expect(await apply(ann, made)).toMatchObject({
      outcome: 'refused',
      reasons: [expect.stringContaining('waits for an approval')],
    });

    expect(await approve(bob, made)).toMatchObject({ decided: true, plan: { state: 'approved', decidedBy: 'bob' } });
    await expect(apply(bob, made)).rejects.toMatchObject({ code: 'SCOPE_MISSING' });
    const bobOperates = await operator('bob', ['operate'], 'bob-forge');
    await expect(apply(bobOperates, made)).rejects.toMatchObject({ code: 'APPROVER_IS_REQUESTER' });
    await expect(apply(bot.reach, made)).rejects.toMatchObject({ code: 'APPLIER_NOT_NAMED' });
    const { runs } = await bot.reach.post<{ runs: JobRun[] }>('/v1/housekeeping/policies.reconcile/run', {
      org: 'acme',
    });
    expect(runs.map(({ error, outcome }) => [error, outcome?.changes])).toEqual([[null, []]]);

    const report = await apply(ann, made);
    expect(report).toMatchObject({ outcome: 'applied', plan: { madeBy: 'ann', decidedBy: 'bob', appliedBy: 'ann' } });
    const { run } = await bot.reach.get<RunReport>(`/v1/runs/${report.runs[0]}`);
    expect(run.reason).toContain('requested by ann, approved by bob');
    for (const reach of [laptop, dora, bobOperates]) await reach.close();
  });

  it('lets who caused an effect not approve it, and keeps both names of the effect', async () => {
    await forge.act('repository.create', { repo: 'acme/web' });
    let waiting: Intent[] = [];
    await until(async () => (waiting = await bot.reach.rows<Intent>('/v1/approvals')).length === 1);
    const [intent] = waiting;
    const decide = (who: ByPath): Promise<{ intents: string[] }> => who.post(`/v1/approvals/${intent?.runId}`, {});

    olga = await operator('olga', ['approve'], 'olga');
    await expect(decide(olga)).rejects.toMatchObject({ code: 'APPROVER_IS_REQUESTER' });
    await expect(decide(bot.reach)).rejects.toMatchObject({ code: 'APPROVER_NOT_NAMED' });
    await expect(decide(carl)).rejects.toMatchObject({ code: 'SCOPE_MISSING' });

    expect(await decide(bob)).toEqual({ intents: [intent?.id] });
    const { intents } = await bot.reach.get<RunReport>(`/v1/runs/${intent?.runId}`);
    expect(intents).toMatchObject([
      { approval: 'given', approvalBy: 'bob', twoPeople: true, approvalBeside: 'requested by olga' },
    ]);
  });

  it('keeps tokens out of the log, and the names of callers in it', () => {
    const log = bot.log();

    expect(log).not.toMatch(/fho_[A-Za-z0-9_-]{43}/);
    expect(log).toMatch(/"order":"operators add","by":"socket:/);
    expect(log).toMatch(/"order":"apply","by":"ann"/);
    expect(log).toContain('"msg":"security.power_refused"');
  });
});
