import { describe, expect, it } from '@jest/globals';
import { acmeRevision } from '../../test/builders/a-life.js';
import { PlannerRig } from '../../test/builders/planner-rig.js';
import { ForgeError } from '../core/errors.js';
import { FolderSource } from '../rules/sources/folder-source.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import type { Revision } from '../rules/language/revision.js';

const policies = (...texts: string[]): Revision =>
  acmeRevision(
    `version: 1\norg: acme\npolicies:\n${texts.map((text) => `  - {subjects: {repos: ["*"]}, ${text}}`).join('\n')}\n`,
  );

const LABEL = 'id: labels, labels: [{name: bug, color: "#ff0000"}]';

describe('policies/planner, where one repository fails', () => {
  it.each([
    ['an error of the forge', 500],
    ['a refusal', 403],
  ])('plans the others and names it: %s', async (_, status) => {
    const rig = new PlannerRig(policies(LABEL));
    rig.breaks('web', status);

    const plan = await rig.planner.plan('acme', null, 'ada');

    expect(plan.lines.map(({ repo }) => repo?.name)).toEqual(['acme/app', 'acme/lib']);
    expect(plan.notes).toEqual([
      expect.objectContaining({ policy: 'labels', repo: 'acme/web', reason: expect.stringContaining(String(status)) }),
    ]);
    expect((await rig.planner.apply(plan.hash, 'ada')).outcome).toBe('applied');
    expect(rig.recorded.flatMap(({ intents }) => intents)).toHaveLength(2);
    expect(rig.found).toEqual(rig.recorded);
  });

  it('is the error of the whole forge where nothing answers', async () => {
    const away = new ForgeError('not-sent', 'no connection', { operation: 'listLabels', detail: 'connection' });
    const rig = new PlannerRig(policies(LABEL));
    for (const { name } of rig.repositories) rig.broken.set(name, away);

    await expect(rig.planner.plan('acme', null, 'ada')).rejects.toThrow('no connection');
  });

  it('is the error of the whole forge where three in a row give no answer, and goes past a single one', async () => {
    const silent = new ForgeError('unknown', 'no complete answer', { operation: 'listLabels', detail: 'deadline' });
    const rig = new PlannerRig(policies(LABEL), ['a', 'b', 'c', 'd']);
    rig.broken.set('b', silent);
    expect((await rig.planner.plan('acme', null, 'ada')).notes.map(({ repo }) => repo)).toEqual(['acme/b']);

    for (const name of ['a', 'b', 'c']) rig.broken.set(name, silent);
    await expect(rig.planner.plan('acme', null, 'ada')).rejects.toThrow('no complete answer');
  });

  it.each(['starters', 'organization', 'examples', 'acme'])(
    'goes past it with each policy of config/rules/%s',
    async (folder) => {
      const result = loadRules(await new FolderSource(`config/rules/${folder}`).read(), {
        org: 'acme',
        actions: actionCatalogue(),
        lookups: lookupCatalogue(),
        powers: new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? [])),
        secrets: new Set(['mirror_token', 'dev_chat']),
        engine: new CelEngine(),
        checkTypes: true,
      });
      if (!result.ok) throw new Error(JSON.stringify(result.problems));
      const ofRepositories = result.revision.policies.filter(({ program }) => program.scope === 'repository');
      expect(ofRepositories.length).toBeGreaterThan(0);
      for (const { id } of ofRepositories) {
        const rig = new PlannerRig(result.revision);
        for (const name of ['listTopics', 'getBranchProtection'] as const)
          rig.forge.answer(name, async () => ({ topics: [] }) as never);
        const whole = await rig.planner.plan('acme', id, 'ada');
        rig.breaks('web', 500);
        const plan = await rig.planner.plan('acme', id, 'ada');

        expect({ id, notes: plan.notes.map(({ repo }) => repo) }).toEqual({ id, notes: ['acme/web'] });
        expect(plan.lines).toEqual(whole.lines.filter(({ repo }) => repo?.name !== 'acme/web'));
      }
    },
  );
});

describe('policies/planner, approvals', () => {
  it.each([
    ['an error of the forge', 500],
    ['a refusal', 403],
  ])(
    'a yes while a repository cannot be read leaves the plan open, and the same yes works later: %s',
    async (_, status) => {
      const rig = new PlannerRig(policies(LABEL), undefined, false);
      await rig.pass('labels');
      const [hash = ''] = rig.waiting;
      rig.breaks('web', status);

      const first = await rig.planner.decide(hash, 'approved', 'ada');
      const open = await rig.plans.list({ state: 'open', limit: 5 });
      rig.breaks('web', null);
      const second = await rig.planner.decide(hash, 'approved', 'ada');

      expect(first).toMatchObject({
        decided: false,
        plan: { state: 'open' },
        applied: {
          outcome: 'refused',
          code: 'plan.unread',
          reasons: [expect.stringContaining('acme/web cannot be read now')],
        },
      });
      expect(open.map((plan) => plan.hash)).toEqual([hash]);
      expect(second).toMatchObject({ decided: true, plan: { state: 'applied' }, applied: { outcome: 'applied' } });
      expect(second.applied?.runs).toHaveLength(3);
    },
  );

  it('a yes that ended before it was carried out is carried out by the next one', async () => {
    const rig = new PlannerRig(policies(LABEL), undefined, false);
    await rig.pass('labels');
    const [hash = ''] = rig.waiting;
    await rig.plans.decide((await rig.plans.find(hash))?.id ?? '', 'approved', 'ada');

    expect(await rig.planner.decide(hash, 'approved', 'ada')).toMatchObject({ applied: { outcome: 'applied' } });
    expect(await rig.planner.decide(hash, 'approved', 'ada')).toMatchObject({ decided: false, applied: null });
  });

  it('says that a repository is no subject any more', async () => {
    const rig = new PlannerRig(policies(LABEL));
    const plan = await rig.planner.plan('acme', null, 'ada');
    rig.repositories.splice(1, 1);

    const report = await rig.planner.apply(plan.hash, 'ada');

    expect(report).toMatchObject({
      outcome: 'refused',
      drift: [{ line: { repo: { name: 'acme/web' } }, told: 'is no subject any more (gone or archived)' }],
    });
  });

  it.each([
    ['archived', { archived: true }, 'is no subject any more (gone or archived)'],
    ['left out by the policy', { topics: [] }, 'is no subject any more (its policy leaves it out)'],
    ['renamed', { name: 'site', full_name: 'acme/site' }, 'is in a repository that is called acme/site now'],
  ])('says what became of a repository: %s', async (_, change, told) => {
    const rig = new PlannerRig(
      acmeRevision(`version: 1\norg: acme\npolicies:\n  - {subjects: {repos: ["*"], topics: [product]}, ${LABEL}}\n`),
    );
    rig.forge.addRepository('site', { id: '9' });
    const plan = await rig.planner.plan('acme', null, 'ada');
    Object.assign(rig.repositories[1] ?? {}, change);

    expect((await rig.planner.apply(plan.hash, 'ada')).drift.map((one) => one.told)).toEqual([told]);
  });

  it('says of a line that the plan has not why it is there now', async () => {
    const rig = new PlannerRig(policies(LABEL), ['app', 'web', 'lib', 'new']);
    const [later] = rig.repositories.splice(3, 1);
    rig.breaks('web', 403);
    const plan = await rig.planner.plan('acme', null, 'ada');
    rig.breaks('web', null);
    if (later)
      rig.repositories.push({ ...later, created_at: new Date(rig.clock.now().getTime() + 60_000).toISOString() });

    const { drift } = await rig.planner.apply(plan.hash, 'ada');

    expect(drift.map(({ line, told }) => [line.repo?.name, told])).toEqual([
      ['acme/web', 'could not be decided when the plan was made, and is not as wanted'],
      ['acme/new', 'is in a repository that is new since the plan was made'],
    ]);
  });
});

describe('policies/planner, policies that contradict each other through expressions', () => {
  const one = 'id: own, labels: [{name: "${{ repo.name }}", color: "#ff0000"}]';
  const other = 'id: house, labels: [{name: app, color: "#00ff00"}]';

  it('show both lines in a plan of both, and nothing of it is written', async () => {
    const rig = new PlannerRig(policies(one, other), ['app']);

    const plan = await rig.planner.plan('acme', null, 'ada');

    expect(plan.lines.map(({ policy, key }) => [policy, key])).toEqual([
      ['own', 'app'],
      ['house', 'app'],
    ]);
    expect(plan.overCaps).toEqual(['own and house want label.ensure app in acme/app in two ways (color): say it once']);
    expect((await rig.planner.apply(plan.hash, 'ada')).code).toBe('plan.contradiction');
  });

  it('do not undo each other by turns', async () => {
    const rig = new PlannerRig(policies(one, other), ['app']);
    const [first] = await rig.pass('own');

    const [second] = await rig.pass('house');

    expect(first?.intents).toHaveLength(1);
    expect(second).toMatchObject({ intents: [], run: { state: 'error', reason: { code: 'run.held.cap' } } });
  });

  it.each([
    ['the same colour, written otherwise', one, 'id: house, labels: [{name: app, color: "#F00"}]'],
    [
      'other settings of one object',
      'id: own, milestones: [{title: "${{ repo.name }}", state: open}]',
      'id: house, milestones: [{title: app, description: x}]',
    ],
  ])('agree: %s', async (_, first, second) => {
    const rig = new PlannerRig(policies(first, second), ['app']);

    expect((await rig.planner.plan('acme', null, 'ada')).overCaps).toEqual([]);
  });

  it.each([
    ['labels', 'labels: [{name: "${{ repo.name }}", color: "#ff0000"}], removed_labels: [app]'],
    ['milestones', 'milestones: [{title: "${{ repo.name }}"}], removed_milestones: [app]'],
  ])('are an error within one policy that makes and takes away one thing: %s', async (section, says) => {
    const rig = new PlannerRig(policies(`id: own, ${says}`), ['app', 'web']);

    const plan = await rig.planner.plan('acme', null, 'ada');

    expect(plan.notes).toEqual([
      expect.objectContaining({
        repo: 'acme/app',
        reason: expect.stringContaining(`"app" is in ${section} and in removed_${section}`),
      }),
    ]);
    expect(plan.lines.map(({ repo, key }) => [repo?.name, key])).toEqual([['acme/web', 'web']]);
  });

  it('write nothing in a pass of one policy whose steps disagree', async () => {
    const rig = new PlannerRig(
      policies(
        'id: own, labels: [{name: app, color: "#ff0000"}], fix: [{use: label.ensure, with: {name: "${{ repo.name }}", color: "#00ff00"}}]',
      ),
      ['app'],
    );

    const [run] = await rig.pass('own');

    expect(run).toMatchObject({ intents: [], run: { state: 'error', reason: { code: 'run.held.cap' } } });
  });

  it('are an error within one policy, also where one of both is as it stands', async () => {
    const rig = new PlannerRig(
      policies('id: own, labels: [{name: "${{ repo.name }}", color: "#ff0000"}, {name: app, color: "#00ff00"}]'),
      ['app'],
    );
    rig.forge.repositories.get('acme/app')?.labels.push({ id: '1', name: 'app', color: 'ff0000' });

    const plan = await rig.planner.plan('acme', null, 'ada');

    expect(plan.lines).toEqual([]);
    expect(plan.notes).toEqual([
      expect.objectContaining({ reason: expect.stringContaining('labels names "app" twice') }),
    ]);
  });
});
