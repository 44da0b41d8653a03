import { describe, expect, it } from '@jest/globals';
import { actions } from '../../actions/index.js';
import { Secret } from '../../core/secret.js';
import type { ProposedItem } from '../../rules/language/revision.js';
import { effectKeyOf, planGathering, planIntents, readGathering, type Decision } from './plan-intents.js';
import { Encryptor, isSealed } from '../../core/encryptor.js';
import { because, saying } from '../../../test/builders/reasons.js';
import { textOf } from '../../core/reason.js';

const encryptor = new Encryptor(new Secret('ab'.repeat(32)));
const APP = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false, archived: true };
const label = (name: string): ProposedItem => ({ itemKey: name, params: { name, color: '#d73a4a' } });

function plan(over: Partial<Decision> = {}) {
  let n = 0;
  return planIntents(
    {
      forge: 'main',
      org: 'acme',
      rule: 'baseline',
      kind: 'rule',
      mode: 'live',
      revisionId: 'rev-1',
      cause: { kind: 'event', eventId: 'e1' },
      repo: APP,
      report: { rule: 'baseline', verdict: 'fired', reason: because('both conditions held'), trace: { seen: 1 } },
      steps: [{ stepId: 'labels', stepNo: 0, action: 'label.ensure', items: [label('bug'), label('feature')] }],
      lookups: { l: { missing: true } },
      decidedAt: new Date('2026-11-20T12:00:00Z'),
      ...over,
    },
    { actions, encryptor, newId: () => `id-${(n += 1)}`, account: 'forgehand' },
  );
}

const step = (action: string, params: ProposedItem['params'], itemKey = 'x'): Decision['steps'] => [
  { stepId: 's', stepNo: 0, action, items: [{ itemKey, params }] },
];

describe('pipeline/decide/plan-intents', () => {
  it('makes an open run and an intent per item, pinned to the repository', () => {
    const { run, intents } = plan();

    expect(run).toMatchObject({
      id: 'id-1',
      state: 'open',
      mode: 'live',
      reason: saying('both conditions held'),
      trace: { seen: 1 },
      lookups: { l: { missing: true } },
      cause: { kind: 'event', eventId: 'e1' },
    });
    expect(intents).toMatchObject([
      {
        runId: 'id-1',
        stepId: 'labels',
        stepNo: 0,
        itemKey: 'bug',
        action: 'label.ensure',
        target: { kind: 'repository', id: '7', owner: 'acme', name: 'app', private: false, archived: true },
        orderKey: 'main/repository/7',
      },
      { itemKey: 'feature' },
    ]);
  });

  it('makes the further steps of a verb right behind its first, each for the items that have what it needs', () => {
    const items = [
      { itemKey: '12 a', params: { number: '12', to: 'a', failed: 'conflict' } },
      { itemKey: '12 b', params: { number: '12', to: 'b' } },
    ];
    const before = { stepId: 'label', stepNo: 0, action: 'label.ensure', items: [label('conflict')] };
    const after = { ...before, stepId: 'later', stepNo: 2, items: [label('bug')] };
    const { intents } = plan({ steps: [before, { stepId: 'port', stepNo: 1, action: 'backport', items }, after] });

    expect(intents.map(({ stepNo, stepId, itemKey }) => [stepNo, stepId, itemKey].join(', '))).toEqual([
      '0, label, conflict',
      '1, port, 12 a',
      '1, port, 12 b',
      '2, port (2), 12 a',
      '2, port (2), 12 b',
      '3, port (3), 12 a',
      '4, later, bug',
    ]);
    expect(intents.map(({ action }) => action).slice(3, 6)).toEqual([
      'backport.open',
      'backport.open',
      'backport.label',
    ]);
  });

  it('writes down all of a decision with the run and with each intent', () => {
    const { run, intents } = plan({
      steps: [{ stepId: 'labels', stepNo: 3, action: 'label.ensure', items: [label('bug')] }],
    });
    const of = { forge: 'main', org: 'acme', rule: 'baseline', revisionId: 'rev-1' };
    const decidedAt = new Date('2026-11-20T12:00:00Z');

    expect(run).toEqual({
      ...of,
      id: 'id-1',
      kind: 'rule',
      cause: { kind: 'event', eventId: 'e1' },
      runKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      mode: 'live',
      state: 'open',
      reason: saying('both conditions held'),
      trace: { seen: 1 },
      lookups: { l: { missing: true } },
      decidedAt,
    });
    expect(intents).toEqual([
      {
        ...of,
        id: 'id-2',
        runId: 'id-1',
        stepId: 'labels',
        stepNo: 3,
        itemKey: 'bug',
        intentKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        action: 'label.ensure',
        params: { name: 'bug', color: '#d73a4a' },
        target: { kind: 'repository', id: '7', owner: 'acme', name: 'app', private: false, archived: true },
        orderKey: 'main/repository/7',
        effectKey: 'main | createLabel | repository 7 | bug',
        object: 'label bug',
        mode: 'live',
        plannedAt: decidedAt,
        countsFor: { rule: true, actor: null },
      },
    ]);
  });

  it('counts for the rule and for whoever caused it, where it writes', () => {
    const ann = { id: '3', login: 'ann' };

    expect(plan({ actor: ann }).intents[0]?.countsFor).toEqual({ rule: true, actor: ann });
    expect(plan({ kind: 'policy', actor: null }).intents[0]?.countsFor).toEqual({ rule: false, actor: null });
    expect(plan({ mode: 'dry-run', actor: ann }).intents[0]).not.toHaveProperty('countsFor');
  });

  it('asks for consent where a step does, unless nothing is written anyway', () => {
    const steps: Decision['steps'] = [
      { stepId: 's', stepNo: 0, action: 'label.ensure', items: [label('bug')], approval: true },
    ];

    expect(plan({ steps }).intents[0]?.approval).toBe('wanted');
    expect(plan({ steps, mode: 'dry-run' }).intents[0]).not.toHaveProperty('approval');
    expect(plan().intents[0]).not.toHaveProperty('approval');
  });

  it('hands on the limit of runs per hour of a rule that fired, and of no other', () => {
    expect(plan({ runsPerHour: 3 }).runsPerHour).toBe(3);
    for (const none of [{ runsPerHour: null }, {}]) expect(plan(none)).not.toHaveProperty('runsPerHour');
    expect(
      plan({ runsPerHour: 3, report: { rule: 'baseline', verdict: 'not-fired', reason: because(''), trace: null } }),
    ).not.toHaveProperty('runsPerHour');
  });

  it('leaves out of the target what is not known of a repository', () => {
    const { id, owner, name, full_name } = APP;

    expect(plan({ repo: { id, owner, name, full_name } }).intents[0]?.target).toStrictEqual({
      kind: 'repository',
      id,
      owner,
      name,
    });
  });

  it('writes the decision of a run that gathered under its id', () => {
    expect(plan({ runId: 'gathered' })).toMatchObject({
      run: { id: 'gathered' },
      intents: [{ runId: 'gathered' }, { runId: 'gathered' }],
    });
  });

  it('has one run for each event and repository, and one for each tick or plan and subject', () => {
    const keyOf = (cause: Decision['cause'], repo: Decision['repo'] = APP): string =>
      plan({ cause, repo, steps: [] }).run.runKey;
    const all = [
      keyOf({ kind: 'event', eventId: 'a' }),
      keyOf({ kind: 'event', eventId: 'a' }, null),
      keyOf({ kind: 'tick', tickId: 'a', subject: '7' }),
      keyOf({ kind: 'tick', tickId: 'b', subject: '7' }),
      keyOf({ kind: 'tick', tickId: 'a', subject: '' }),
      keyOf({ kind: 'apply', by: 'olga', plan: 'a', subject: '7' }),
      keyOf({ kind: 'apply', by: 'olga', plan: 'b', subject: '7' }),
      keyOf({ kind: 'apply', by: 'olga', plan: 'a', subject: '8' }),
    ];

    expect(new Set(all).size).toBe(all.length);
    expect(keyOf({ kind: 'tick', tickId: 'a', subject: '7' }, null)).toBe(
      keyOf({ kind: 'tick', tickId: 'a', subject: '7' }),
    );
  });

  it('knows an organization by its number where that is known, and by its name in small letters else', () => {
    const action = actions.get('org_variable.set');
    if (!action) throw new Error('no such action');
    const keyFor = (id: string | null): string =>
      effectKeyOf('main', action, { kind: 'organization', id, name: 'ACME' }, { name: 'x' });

    expect([keyFor('32'), keyFor(null)]).toEqual([
      'main | updateOrgVariable | organization 32 | X',
      'main | updateOrgVariable | organization acme | X',
    ]);
  });

  describe('a run that gathers', () => {
    const {
      report: _report,
      steps: _steps,
      lookups: _lookups,
      ...decision
    } = {
      forge: 'main',
      org: 'acme',
      rule: 'baseline',
      kind: 'rule' as const,
      mode: 'live' as const,
      revisionId: 'rev-1',
      cause: { kind: 'event' as const, eventId: 'e1' },
      repo: APP,
      report: null,
      steps: null,
      lookups: null,
      decidedAt: new Date('2026-11-20T12:00:00Z'),
    };
    const now = new Date('2026-11-20T11:00:00Z');
    const gathering = { key: 'main', windowMs: 30_400 };

    it('says what it waits for, and wants nothing yet', () => {
      const { run, intents, gathering: kept } = planGathering(decision, now, gathering, { newId: () => 'g' });

      expect([intents, kept]).toEqual([[], gathering]);
      expect(run).toMatchObject({
        id: 'g',
        state: 'gathering',
        reason: saying('waits up to 30 s for others of key "main" (coalesce)'),
        lookups: {},
        runKey: plan().run.runKey,
      });
      expect(run.trace).toEqual({ gathering: { key: 'main', repo: APP, now: now.toISOString() } });
    });

    it('reads what it is about from what was kept with it', () => {
      const keep = (repo: Decision['repo'], at: Date | null) =>
        readGathering(planGathering({ ...decision, repo }, at, gathering, { newId: () => 'g' }).run);

      expect(keep(APP, now)).toEqual({ repo: APP, now });
      expect(keep(null, null)).toEqual({ repo: null, now: null });
      for (const trace of [null, {}, { gathering: 'x' }]) expect(readGathering({ trace })).toBeNull();
    });
  });

  it('gives equal decisions equal keys, and different ones different keys', () => {
    const keys = (over: Partial<Decision> = {}) => [
      plan(over).run.runKey,
      ...plan(over).intents.map(({ intentKey }) => intentKey),
    ];
    const all = [
      keys(),
      keys({ cause: { kind: 'event', eventId: 'e2' } }),
      keys({ rule: 'other' }),
      keys({ org: 'other' }),
      keys({ forge: 'other' }),
      keys({ repo: { ...APP, id: '8' } }),
      keys({ cause: { kind: 'tick', tickId: 'e1', subject: '7' } }),
    ].flat();

    expect(keys()).toEqual(keys());
    expect(keys({ revisionId: 'rev-2', decidedAt: new Date(0) })).toEqual(keys());
    expect(new Set(all).size).toBe(all.length);
  });

  it('keys items by what they are, not by their place', () => {
    const [one, two] = [
      plan(),
      plan({
        steps: [{ stepId: 'labels', stepNo: 0, action: 'label.ensure', items: [label('feature'), label('bug')] }],
      }),
    ];

    expect(two.intents.map(({ intentKey }) => intentKey)).toEqual(
      one.intents.map(({ intentKey }) => intentKey).reverse(),
    );
  });

  it('gives a replay a run of its own, but no intent a second life', () => {
    const [first, replay] = [plan(), plan({ replayNo: 1 })];

    expect(replay.run.runKey).not.toBe(first.run.runKey);
    expect(replay.intents.map(({ intentKey }) => intentKey)).toEqual(first.intents.map(({ intentKey }) => intentKey));
  });

  it.each<[Decision['mode'], string]>([
    ['live', 'live'],
    ['dry-run', 'dry-run'],
    ['shadow', 'dry-run'],
  ])('a rule in mode %s makes a run in mode %s', (mode, expected) => {
    const { run, intents } = plan({ mode });

    expect([run.mode, ...new Set(intents.map((intent) => intent.mode))]).toEqual([expected, expected]);
  });

  it.each(['not-fired', 'error'] as const)(
    'records a rule that was a candidate and ended %s, with its reason',
    (verdict) => {
      const { run, intents } = plan({
        report: { rule: 'baseline', verdict, reason: because('condition "x" is false'), trace: [] },
      });

      expect([run.state, textOf(run.reason), intents]).toEqual([verdict, 'condition "x" is false', []]);
    },
  );

  it('ends a run at once that fired and wants nothing', () => {
    expect(plan({ steps: [] }).run.state).toBe('done');
  });

  it.each<[string, Decision['steps'], string, string]>([
    [
      'label',
      step('label.ensure', { name: ' bug ', color: '#000' }),
      'main | createLabel | repository 7 | bug',
      'main/repository/7',
    ],
    [
      'milestone',
      step('milestone.ensure', { title: ' 1.4 ' }),
      'main | createMilestone | repository 7 | 1.4',
      'main/repository/7',
    ],
    [
      'mirror',
      step('push_mirror.ensure', { remote_address: 'https://M.example.org:443/a.git/' }),
      'main | createPushMirror | repository 7 | https://m.example.org/a',
      'main/repository/7',
    ],
    [
      'organization variable',
      step('org_variable.set', { name: 'last', value: 'v' }),
      'main | updateOrgVariable | organization acme | LAST',
      'main/organization/acme',
    ],
    [
      'account variable',
      step('user_variable.create', { name: 'v', value: 'v' }),
      'main | createUserVariable | account forgehand | V',
      'main/account/forgehand',
    ],
    [
      'settings',
      step('user_settings.update', { full_name: 'x' }),
      'main | updateUserSettings | account forgehand | settings',
      'main/account/forgehand',
    ],
    [
      'repository',
      step('repo.create_for_user', { username: 'Ann', name: 'X' }),
      'main | adminCreateRepo | account forgehand | ann/x',
      'main/account/forgehand',
    ],
    [
      'release',
      step('release.update', { id: '12', name: 'x' }),
      'main | updateRelease | repository 7 | 12',
      'main/repository/7',
    ],
    [
      'branch',
      step('branch.create', { new_branch_name: 'r/1' }),
      'main | createBranch | repository 7 | r/1',
      'main/repository/7',
    ],
  ])('effect key and order key of a %s', (_, steps, effectKey, orderKey) => {
    expect(plan({ steps }).intents).toMatchObject([{ effectKey, orderKey }]);
  });

  it('seals values at once, keeps secrets as references, and drops what is null', () => {
    const canary = 'canary-value-81f0';
    const variable = plan({ steps: step('org_variable.set', { name: 'A', value: canary, description: null }) });
    const mirror = plan({
      steps: step('push_mirror.ensure', {
        remote_address: 'https://m.example.org/a',
        remote_password: { $secret: 'mirror_token' },
      }),
    });

    expect(JSON.stringify(variable)).not.toContain(canary);
    expect(isSealed(variable.intents[0]?.params['value'])).toBe(true);
    expect(variable.intents[0]?.params).not.toHaveProperty('description');
    expect(mirror.intents[0]?.params['remote_password']).toEqual({ $secret: 'mirror_token' });
  });

  it('keeps what an action does not know of as it is, and nothing of what is not given', () => {
    const { intents } = plan({
      steps: step('label.ensure', { name: 'bug', color: '#000', unheard_of: 'x', description: undefined as never }),
    });

    expect(intents[0]?.params).toStrictEqual({ name: 'bug', color: '#000', unheard_of: 'x' });
  });

  it.each([
    ['a repository', APP, { subject: '7', name: 'acme/app' }],
    ['the organization', null, { subject: '', name: 'acme' }],
  ])('hands on what the expectations found about %s, however it ended', (_, repo, about) => {
    const findings = {
      failing: [{ name: 'dead', severity: 'low' as const, message: 'no push in a year' }],
      looked: ['dead', 'old'],
    };
    const steps: Decision['steps'] = [];

    for (const verdict of ['fired', 'not-fired', 'error'] as const)
      expect(
        plan({ repo, steps, report: { rule: 'baseline', verdict, reason: because(''), trace: null, findings } }),
      ).toMatchObject({ findings: { ...findings, ...about } });
    const report = { rule: 'baseline', verdict: 'fired' as const, reason: because(''), trace: null, findings };
    expect(plan({ repo, steps: step('nope.do', {}), report })).toMatchObject({
      run: { state: 'error' },
      findings: { ...findings, ...about },
    });
    expect(plan()).not.toHaveProperty('findings');
  });

  it('lets through a fault of our own', () => {
    const broken = {
      name: 'broken',
      target: 'repository' as const,
      params: {},
      operations: ['createLabel'],
      object: () => null,
      names: () => [],
      keyOf: () => JSON.parse('{') as string,
    };
    const decision = {
      ...({} as Decision),
      forge: 'main',
      org: 'acme',
      rule: 'r',
      kind: 'rule' as const,
      mode: 'live' as const,
      revisionId: 'rev-1',
    };
    const made = (): unknown =>
      planIntents(
        {
          ...decision,
          cause: { kind: 'event', eventId: 'e1' },
          repo: APP,
          report: { rule: 'r', verdict: 'fired', reason: because(''), trace: null },
          steps: step('broken', {}),
          lookups: {},
          decidedAt: new Date(0),
        },
        { actions: new Map([['broken', broken]]), encryptor, newId: () => 'id', account: 'forgehand' },
      );

    expect(made).toThrow(SyntaxError);
  });

  it('seals a number as its text', () => {
    const { intents } = plan({ steps: step('org_variable.set', { name: 'A', value: 7 }) });

    expect(encryptor.unseal(intents[0]?.params['value'] as never).reveal()).toBe('7');
  });

  it.each<[string, Partial<Decision>, string]>([
    ['an action that there is not', { steps: step('nope.do', {}) }, 'there is no action nope.do'],
    ['a repository where there is none', { repo: null }, 'needs a repository'],
    [
      'a password in clear',
      { steps: step('push_mirror.ensure', { remote_address: 'https://m/a', remote_password: 'canary' }) },
      'must be a secret',
    ],
    ['a value that is no text', { steps: step('org_variable.set', { name: 'A', value: ['canary'] }) }, 'must be text'],
    [
      'two items of one key',
      { steps: [{ stepId: 's', stepNo: 0, action: 'label.ensure', items: [label('a'), label('a')] }] },
      'two items have the key a',
    ],
  ])('wants nothing at all when a step names %s', (_, over, reason) => {
    const { run, intents } = plan(over);

    expect([run.state, intents]).toEqual(['error', []]);
    expect(textOf(run.reason)).toContain(reason);
    expect(textOf(run.reason)).not.toContain('canary');
  });
});
