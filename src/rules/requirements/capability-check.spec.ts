import { aConfig } from '../../../test/builders/a-config.js';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { ForgeError } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import { silentLogger } from '../../core/logger.js';
import { textOf, type Reason } from '../../core/reason.js';
import { Secret } from '../../core/secret.js';
import { connectForge } from '../../forge/connected-forges.js';
import { buildForgeClient } from '../../forge/forge-client.js';
import { operationOf, type OperationName } from '../../forge/operations.js';
import { NOBODY } from '../../forge/probe.js';
import { aRevision } from '../../../test/builders/rule-environment.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { KnownFact } from '../../core/known-facts.port.js';
import { CapabilityCheck } from './capability-check.js';
import { ServerAccessReader } from '../../forge/server-access.js';

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
  const facts = new Map<string, KnownFact>();
  const known = {
    read: async (...key: string[]) => facts.get(key.join('/')) ?? null,
    write: async (...[forge, subject, kind, fact]: [string, string, string, Json]) =>
      void facts.set([forge, subject, kind].join('/'), { fact, learnedAt: clock.now() }),
  };
  const access = new ServerAccessReader(
    known,
    aConfig({ forges: [{ id: 'main', auth: { type: 'token', token: new Secret('0123456789abcdef') } }] }),
    clock,
  );
  const check = new CapabilityCheck(
    aConfig({ orgs: [{ forge: 'main', name: 'acme' }] }),
    { active: async () => ({ id: 'r', revision, loadedAt: new Date() }) },
    { get: () => connected },
    lookupCatalogue(),
    access,
    { raise: (key) => void alerts.push(`raise ${key}`), resolve: (key) => void alerts.push(`resolve ${key}`) },
    clock,
    silentLogger,
  );
  return { check, calls, alerts, clock, access };
}

const textOfHeld = (reason: Reason | null): string => (reason ? textOf(reason) : '');

describe('rules/requirements/capability-check', () => {
  it('tells which rules need what a forge of the 20 operations lacks, with the line', async () => {
    const { check, alerts } = await aWorld((name) => operationOf(name as never).n === undefined);

    await check.check();

    expect(check.lacking('acme').map(textOf)).toEqual([
      expect.stringMatching(/:8:7: notes needs getReleaseByTag for release\.by_tag, which this forge does not offer$/),
      expect.stringMatching(/:18:5: furniture needs listLabels for labels\.list, which this forge does not offer$/),
    ]);
    expect(alerts).toContain('raise rules.not-offered/acme');
  });

  it('takes a lookup that has another way for one that works', async () => {
    const { check } = await aWorld((name) => name === 'getFiles');

    await check.check();

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

    await check.check();

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

    await check.check();
    await check.check();

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

      await check.check();

      expect(check.held('acme').map(({ id }) => id)).toEqual(['notes']);
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

      await Promise.all([told.check.check(), refused.check.check()]);

      expect(textOfHeld(told.check.heldFor('acme', 'notes'))).toMatch(
        /notes needs createMilestone for milestone\.ensure, for which the token lacks write:issue$/,
      );
      expect(refused.check.held('acme').map(({ id }) => id)).toEqual(['notes', 'requests', 'blind']);
    });

    it('one whose right the account has nowhere in the organization', async () => {
      const { check } = await aWorld(() => false, [], lists(member));

      await check.check();

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

      await check.check();

      expect(check.held('acme')).toEqual([]);
    });

    it('until what was missing is there: it looks again when such a rule is woken, but not at once', async () => {
      let isOld = true;
      const { check, clock } = await aWorld((name) => isOld && name === 'getReleaseByTag');
      await check.check();
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
    await check.check();
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

  it('keeps what it learned of the forge and of the token', async () => {
    const { check, access } = await aWorld((name) => name === 'getReleaseByTag', ['all'], {
      getApiSettings: () => ({ default_paging_num: 30, max_response_items: 50 }),
    });

    await check.check();

    expect((await access.of('main'))?.footing).toMatchObject({
      product: 'unknown',
      self: { id: null, login: 'forgehand' },
      pages: { default: 30, most: 50 },
      scopes: ['all'],
      operations: { getReleaseByTag: 'missing', createLabel: 'there' },
    });
  });

  it('knows the scopes by the row of its token where no call describes it', async () => {
    const row = { id: '1', name: 'bot', token_last_eight: new Secret('89abcdef'), scopes: ['write:issue'] };
    const { check, access } = await aWorld((name) => name === 'getOwnToken', [], {
      listTokens: () => [row, { ...row, id: '2', token_last_eight: new Secret('00000000'), scopes: ['all'] }],
    });

    await check.check();

    expect((await access.of('main'))?.footing.scopes).toEqual(['write:issue']);
  });
});
