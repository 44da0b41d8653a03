import { aConfig } from '../../../test/builders/a-config.js';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/services/until.js';
import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { ForgeError } from '../../core/errors.js';
import { silentLogger } from '../../core/logger.js';
import { textOf, type Reason } from '../../core/reason.js';
import { Secret } from '../../core/secret.js';
import { connectForge } from '../../forge/connected-forges.js';
import { buildForgeClient } from '../../forge/forge-client.js';
import { operationOf, type OperationName } from '../../forge/operations.js';
import { NOBODY } from '../../forge/probe.js';
import { aRevision } from '../../../test/builders/rule-environment.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { CapabilityCheck } from './capability-check.js';
import { Looks } from '../../forge/looks.js';
import { OrgAccessReader } from '../../forge/org-access.js';
import { ServerAccessReader } from '../../forge/server-access.js';
import { InMemoryKnownFacts } from '../../../test/fakes/in-memory-known-facts.js';

const RULES = `version: 1
org: acme
rules:
  - id: notes
    on: [release.published]
    lookup:
      line: {use: branch.get, on_missing: none, with: {branch: main}}
      before: {use: release.by_tag, on_missing: none, with: {tag: v1}}
    if: {first: lookups.before == null && lookups.line != null}
    do: {milestone.ensure: {title: a}}
  - id: requests
    on: [push]
    lookup: {asked: {use: files.read, with: {files: [a]}}}
    if: {some: lookups.asked.size() > 0}
    do: {milestone.ensure: {title: b}}
  - {id: off, disabled: not here, on: [push], do: {issue.label: {number: "1", add: [a]}}}
policies:
  - id: furniture
    subjects: {repos: ["*"]}
    labels: [{name: a, color: "#ff0000"}]
  - id: blind
    assume_absent: true
    subjects: {repos: ["*"]}
    milestones: [{title: a}]
`;

const revision = aRevision(RULES, { actions: actionCatalogue(), lookups: lookupCatalogue() });

type Answers = Partial<Record<OperationName, (args: Readonly<Record<string, unknown>>) => object | undefined>>;

/** A forge without some routes, connected; `calls` are what it was asked. */
async function aWorld(lacks: (name: string) => boolean, scopes: string[] = [], answers: Answers = {}) {
  const clock = new ManualClock();
  const calls: string[] = [];
  const alerts: string[] = [];
  const client = buildForgeClient((name) => async (args) => {
    calls.push(name);
    if (name === 'getOwnToken' && scopes.length > 0) return { scopes };
    const answer = answers[name]?.(args);
    if (answer instanceof Error) throw answer;
    if (answer !== undefined) return answer;
    if (lacks(name))
      throw new ForgeError('not-offered', `${name}: this forge does not offer the operation`, {
        operation: name,
        status: 404,
      });
    throw new ForgeError('refused', `${name}: refused with status 404`, { operation: name, status: 404 });
  });
  const connected = await connectForge(client, { username: 'forgehand' });
  calls.length = 0;
  const config = aConfig({
    forges: [{ id: 'main', auth: { type: 'token', token: new Secret('0123456789abcdef') } }],
    orgs: [{ forge: 'main', name: 'acme' }],
  });
  const looks = new Looks(new InMemoryKnownFacts(clock), clock);
  const access = new ServerAccessReader(looks, config, clock);
  const numbers = { look: async () => ({ is: 'ours' as const, pinned: '1', number: '1', calledNow: null }) };
  const check = new CapabilityCheck(
    config,
    { active: async () => ({ id: 'r', revision, loadedAt: new Date() }) },
    { get: () => ({ ...connected, credential: 'main' }) },
    lookupCatalogue(),
    access,
    new OrgAccessReader(looks, access, { unguarded: () => null }, numbers, config),
    { raise: (key) => void alerts.push(`raise ${key}`), resolve: (key) => void alerts.push(`resolve ${key}`) },
    clock,
    silentLogger,
  );
  return { check, calls, alerts, clock, access };
}

const textOfHeld = (reason: Reason | null): string => (reason ? textOf(reason) : '');

describe('rules/requirements/capability-check', () => {
  it('knows nothing of a forge whose token this process does not have, and starts', async () => {
    const clock = new ManualClock();
    const looks = new Looks(new InMemoryKnownFacts(clock), clock);
    const auth = { type: 'token', token: Secret.withheld('not for a process of the role web') } as const;

    const access = new ServerAccessReader(looks, aConfig({ forges: [{ id: 'main', auth }] }), clock);

    expect((await access.read('main')).server.look).toBeNull();
  });

  it('tells which rules need what a forge of the 20 operations lacks, with the line', async () => {
    const { check, alerts } = await aWorld((name) => operationOf(name as never).n === undefined);

    await check.activated('acme');

    expect(check.lacking('acme').map(textOf)).toEqual([
      expect.stringMatching(/:8:7: notes needs getReleaseByTag for release\.by_tag, which this forge does not offer$/),
      expect.stringMatching(/:18:5: furniture needs listLabels for labels\.list, which this forge does not offer$/),
    ]);
    expect(alerts).toContain('raise rules.not-offered/acme');
  });

  it('goes on after a look that failed for a reason of its own, such as a store that is closed meanwhile', async () => {
    let isClosed = true;
    const closed = { getBranch: () => (isClosed ? new TypeError('the store is closed') : undefined) };
    const { check } = await aWorld((name) => operationOf(name as never).n === undefined, [], closed);

    await check.connected('main');
    isClosed = false;
    await check.activated('acme');

    expect(check.lacking('acme')).toHaveLength(2);
    await expect(check.idle()).resolves.toBeUndefined();
  });

  it('takes a lookup that has another way for one that works', async () => {
    const { check } = await aWorld((name) => name === 'getFiles');

    await check.activated('acme');

    expect(check.lacking('acme').map(textOf)).toEqual([]);
  });

  it.each([
    ['all of them', ['all'], []],
    ['enough', ['write:repository', 'write:issue', 'read:organization', 'read:user', 'read:misc'], []],
    [
      'too few',
      ['read:repository', 'write:issue', 'read:organization'],
      ['the token lacks read:user, write:repository'],
    ],
    ['what the forge does not tell', [], []],
  ])('tells which scopes the token lacks, with %s', async (_what, scopes, lacking) => {
    const { check } = await aWorld(() => false, scopes);

    await check.activated('acme');

    expect(check.lacking('acme').map(textOf)).toEqual(lacking);
  });

  it('asks for each operation once, only for those that the rules need, and only of an owner whom nobody can be', async () => {
    const asked: Array<[string, unknown]> = [];
    const note = (name: string) => (args: Readonly<Record<string, unknown>>) =>
      void asked.push([name, args.owner]) as undefined;
    const answers = Object.fromEntries(
      [
        'getBranch',
        'getContents',
        'getFiles',
        'getFilesByQuery',
        'getReleaseByTag',
        'listLabels',
        'createMilestone',
        'createLabel',
      ].map((name) => [name, note(name)]),
    );
    const { check, calls } = await aWorld(() => false, [], answers);

    await check.activated('acme');
    await check.activated('acme');

    expect([...asked].sort()).toEqual(
      ['createLabel', 'createMilestone', 'getBranch', 'getContents', 'getFiles', 'getReleaseByTag', 'listLabels'].map(
        (name) => [name, NOBODY],
      ),
    );
    expect(calls.filter((name) => name.startsWith('update') || name.startsWith('delete'))).toEqual([]);
  });

  describe('holds back', () => {
    const role = (name: string): ForgeError =>
      new ForgeError('refused', name, { operation: name, status: 403, forgeMessage: 'Must be an organization owner' });
    const lists = (answers: Record<string, object>): Answers =>
      Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, () => answer]));
    const team = {
      id: '9',
      name: 'helpers',
      permission: 'none',
      units_map: { 'repo.code': 'write', 'repo.issues': 'read' },
    };
    const member = {
      listOrgHooks: role('listOrgHooks'),
      listOrgTeams: [team],
      listTeamMembers: [{ id: '7', login: 'forgehand' }],
      listOrgRepos: [],
    };

    it('a rule or policy whose operation is missing, and no other', async () => {
      const { check } = await aWorld((name) => name === 'getReleaseByTag');

      await check.activated('acme');

      expect(check.heldRules('acme').map(({ id }) => id)).toEqual(['notes']);
      expect(textOfHeld(check.heldFor('acme', 'notes'))).toMatch(
        /notes needs getReleaseByTag for release\.by_tag, which this forge does not offer$/,
      );
      expect(check.heldFor('acme', 'requests')).toBeNull();
    });

    it('one for which the token has no scope, as its scopes or the forge itself tell', async () => {
      const [told, refused] = [
        await aWorld(() => false, ['write:repository', 'read:issue', 'read:user', 'read:organization']),
        await aWorld(() => false, [], {
          createMilestone: () =>
            new ForgeError('refused', 'no', {
              operation: 'createMilestone',
              status: 403,
              forgeMessage: 'token does not have at least one of required scope(s): [write:issue]',
            }),
        }),
      ];

      await Promise.all([told.check.activated('acme'), refused.check.activated('acme')]);

      expect(textOfHeld(told.check.heldFor('acme', 'notes'))).toMatch(
        /notes needs createMilestone for milestone\.ensure, for which the token lacks write:issue$/,
      );
      expect(refused.check.heldRules('acme').map(({ id }) => id)).toEqual(['notes', 'requests', 'blind']);
    });

    it('one whose right the account has nowhere in the organization', async () => {
      const { check } = await aWorld(() => false, [], lists(member));

      await check.activated('acme');

      expect(textOfHeld(check.heldFor('acme', 'requests'))).toMatch(
        /requests needs write on issues or pulls for milestone\.ensure, which the bot does not have: its account has write on code at most$/,
      );
    });

    it.each([
      ['write on issues of a team', { listOrgTeams: [{ ...team, units_map: { 'repo.issues': 'write' } }] }],
      ['the owners team', { listOrgTeams: [{ ...team, permission: 'owner' }] }],
      [
        'a collaborator who may push',
        {
          listOrgTeams: [],
          listOrgRepos: [
            { id: '1', name: 'a', full_name: 'acme/a', permissions: { admin: false, push: true, pull: true } },
          ],
        },
      ],
      ['an owner, who is shown the hooks', { listOrgHooks: [], listOrgTeams: [] }],
      ['nobody knows: the teams are not shown', { listOrgTeams: role('listOrgTeams') }],
    ])('nothing where it may be allowed: %s', async (_what, answers) => {
      const { check } = await aWorld(() => false, [], lists({ ...member, ...answers }));

      await check.activated('acme');

      expect(check.heldRules('acme')).toEqual([]);
    });

    it('until what was missing is there: it looks again when such a rule is woken, but not at once', async () => {
      let isOld = true;
      const { check, clock } = await aWorld((name) => isOld && name === 'getReleaseByTag');
      await check.activated('acme');
      isOld = false;

      check.heldFor('acme', 'notes');
      await check.idle();
      const soon = check.heldFor('acme', 'notes');
      clock.advance(60_000);
      check.heldFor('acme', 'notes');
      await check.idle();

      expect(soon).not.toBeNull();
      expect(check.heldFor('acme', 'notes')).toBeNull();
      expect(check.lacking('acme').map(textOf)).toEqual([]);
    });
  });

  it('looks again when somebody asks what is missing, but not at once: a webhook may have been made', async () => {
    const hooks: object[] = [];
    const { check, clock, alerts } = await aWorld(() => false, [], { listOrgHooks: () => [...hooks] });
    await check.activated('acme');
    hooks.push({ id: '1', active: true, events: ['push', 'release'] });

    check.lacking('acme');
    await check.idle();
    const soon = check.lacking('acme').map(textOf);
    clock.advance(60_000);
    check.lacking('acme');
    await check.idle();

    expect(soon).toEqual([expect.stringContaining('no active hook'), expect.stringContaining('no active hook')]);
    expect(check.lacking('acme')).toEqual([]);
    expect(alerts.at(-1)).toBe('resolve rules.not-offered/acme');
  });

  describe('of many organizations', () => {
    const ORGS = Array.from({ length: 30 }, (_, n) => `org-${n}`);

    /** Three processes on one store. `asked` are all their calls, with the organization. */
    async function aDeployment(token = '0123456789abcdef', shared?: { clock: ManualClock; known: InMemoryKnownFacts }) {
      const clock = shared?.clock ?? new ManualClock();
      const known = shared?.known ?? new InMemoryKnownFacts(clock);
      const asked: Array<[string, unknown]> = [];
      const active = new Map(ORGS.map((org) => [org, revision]));
      const config = aConfig({
        forges: [{ id: 'main', auth: { type: 'token', token: new Secret(token) } }],
        orgs: ORGS.map((name) => ({ forge: 'main', name })),
      });
      const roles = await Promise.all(
        ['worker', 'scheduler', 'console'].map(async () => {
          const client = buildForgeClient((name) => async (args, options) => {
            asked.push([name, args['org']]);
            await setImmediate();
            if (name === 'getOwnToken') return { scopes: ['all'] };
            if (name === 'listOrgHooks') {
              options?.onReply?.({ status: 200, totalCount: 1 } as never);
              return [{ id: '1', active: true, events: ['push', 'release'] }];
            }
            throw new ForgeError('refused', `${name}: refused with status 404`, { operation: name, status: 404 });
          });
          const connected = await connectForge(client, { username: 'forgehand' });
          const looks = new Looks(known, clock);
          const access = new ServerAccessReader(looks, config, clock);
          const numbers = { look: async () => ({ is: 'ours' as const, pinned: '1', number: '1', calledNow: null }) };
          return new CapabilityCheck(
            config,
            { active: async (org) => ({ id: org, revision: active.get(org) ?? revision, loadedAt: new Date() }) },
            { get: () => ({ ...connected, credential: 'main' }) },
            lookupCatalogue(),
            access,
            new OrgAccessReader(looks, access, { unguarded: () => null }, numbers, config),
            { raise: () => {}, resolve: () => {} },
            clock,
            silentLogger,
          );
        }),
      );
      asked.length = 0;
      const start = async (): Promise<unknown> =>
        Promise.all(roles.flatMap((role) => [...ORGS.map((org) => role.activated(org)), role.connected('main')]));
      const count = (name: string): number => asked.filter(([one]) => one === name).length;
      return { start, asked, count, clock, known, active, roles };
    }

    it('asks once about what is of the forge and once for the webhooks of each, however many processes begin', async () => {
      const { start, asked, count } = await aDeployment();

      await start();

      expect(count('listOrgHooks')).toBe(ORGS.length);
      expect(new Set(asked.filter(([name]) => name === 'listOrgHooks').map(([, org]) => org))).toEqual(new Set(ORGS));
      const ofForge = asked.filter(([name]) => name !== 'listOrgHooks').map(([name]) => name);
      expect(ofForge.filter((name, at) => ofForge.indexOf(name) !== at)).toEqual(['getBranch']);
      expect(ofForge.length).toBeLessThan(ORGS.length);
    });

    it('asks nothing at the next start, and everything under another token', async () => {
      const first = await aDeployment();
      await first.start();
      const again = await aDeployment(undefined, first);
      const renewed = await aDeployment('fedcba9876543210', first);

      await again.start();
      await renewed.start();

      expect(again.asked).toEqual([]);
      expect(renewed.count('listOrgHooks')).toBe(ORGS.length);
      expect(renewed.count('createLabel')).toBe(1);
    });

    it('asks for a new revision about operations that nobody asked about, and after an hour for its own webhooks', async () => {
      const { start, asked, active, clock, roles } = await aDeployment();
      await start();
      const before = new Set(asked.splice(0).map(([name]) => name));
      const more = `${RULES}  - {id: mirrors, subjects: {repos: ["*"]}, labels: [{name: b, color: "#00ff00"}]}\n`;
      active.set('org-7', aRevision(more, { actions: actionCatalogue(), lookups: lookupCatalogue() }));
      const other = RULES.replace('{milestone.ensure: {title: b}}', '{issue.comment: {key: a, number: "1", body: a}}');
      active.set('org-8', aRevision(other, { actions: actionCatalogue(), lookups: lookupCatalogue() }));

      await Promise.all(roles.map((role) => role.activated('org-7')));
      const known = asked.splice(0);
      await Promise.all(roles.map((role) => role.activated('org-8')));
      const unknown = asked.splice(0);
      clock.advance(3_600_001);
      await Promise.all(roles.map((role) => role.activated('org-8')));

      expect(known).toEqual([]);
      expect(unknown.length).toBeGreaterThan(0);
      expect(unknown.filter(([name, org]) => before.has(name) || org !== undefined)).toEqual([]);
      expect(new Set(unknown.map(([name]) => name)).size).toBe(unknown.length);
      expect(asked).toEqual([['listOrgHooks', 'org-8']]);
    });

    it('judges again, without a call, when a call is answered otherwise', async () => {
      const { start, asked, roles } = await aDeployment();
      await start();
      asked.length = 0;
      const [worker, scheduler] = roles;

      worker?.answered('main', 'getReleaseByTag', 'missing');
      await until(() => worker?.heldRules('org-29').length === 1);

      expect(ORGS.every((org) => worker?.heldFor(org, 'notes') !== null)).toBe(true);
      await scheduler?.judgeAll(ORGS);
      expect(scheduler?.heldRules('org-3').map(({ id }) => id)).toEqual(['notes']);
      expect(asked).toEqual([]);
    });

    it('asks again about what is missing for the organization alone whose rule is woken', async () => {
      const { start, asked, roles, clock } = await aDeployment();
      await start();
      const [worker] = roles;
      worker?.answered('main', 'getReleaseByTag', 'missing');
      await until(() => worker?.heldRules('org-29').length === 1);
      asked.length = 0;
      clock.advance(60_000);

      worker?.heldFor('org-4', 'notes');
      worker?.heldFor('org-4', 'notes');
      await worker?.idle();

      expect(asked.filter(([name]) => name === 'getReleaseByTag')).toHaveLength(1);
      expect(asked.flatMap(([, org]) => (org === undefined ? [] : [org]))).toEqual(['org-4']);
      expect(worker?.heldRules('org-4')).toEqual([]);
    });
  });

  it('keeps what it learned of the forge and of the token', async () => {
    const { check, access } = await aWorld((name) => name === 'getReleaseByTag', ['all'], {
      getApiSettings: () => ({ default_paging_num: 30, max_response_items: 50 }),
    });

    await check.activated('acme');

    const { server, operations } = await access.read('main');
    expect(server.look?.seen).toMatchObject({
      product: 'unknown',
      self: { id: null, login: 'forgehand' },
      pages: { default: 30, most: 50 },
      scopes: ['all'],
    });
    expect(operations.look?.seen).toMatchObject({ getReleaseByTag: { is: 'missing' }, createLabel: { is: 'there' } });
  });

  it('knows the scopes by the row of its token where no call describes it', async () => {
    const row = { id: '1', name: 'bot', token_last_eight: new Secret('89abcdef'), scopes: ['write:issue'] };
    const { check, access } = await aWorld((name) => name === 'getOwnToken', [], {
      listTokens: () => [row, { ...row, id: '2', token_last_eight: new Secret('00000000'), scopes: ['all'] }],
    });

    await check.activated('acme');

    expect((await access.read('main')).server.look?.seen.scopes).toEqual(['write:issue']);
  });
});
