import { describe, expect, it } from '@jest/globals';
import { isEventKind } from '../core/event-kinds.js';
import { RIGHT_LEVELS } from '../core/rights.js';
import { isOperationName, isWrite, operationOf } from '../forge/operations.js';
import { Encryptor, isSecretReference } from '../core/encryptor.js';
import { resolveParams } from '../pipeline/execute/prepare-effect.js';
import { Secret } from '../core/secret.js';
import type { AnyAction } from './define-action.js';
import { actionCatalogue, actions } from './index.js';
import { readsOf } from './look-compare-write.js';
import { lookupCatalogue, lookups } from './lookups/index.js';

const encryptor = new Encryptor(new Secret('ab'.repeat(32)));
const all = [...actions.values()];
/** As examples write a secret. */
const SECRET = /^\$\{\{ secrets\.\w+ \}\}$/;
const CHAT = { $secret: 'chat' };

/** Of its write among the 20 operations. */
function numberOf({ operations: [write] }: AnyAction): number | undefined {
  return write && operationOf(write).n;
}

describe('actions/index', () => {
  it('has an action for each of the nine writing operations of the API document', () => {
    const written = all.flatMap((action) => numberOf(action) ?? []).sort((a, b) => a - b);

    expect(written).toEqual([1, 4, 6, 7, 13, 15, 17, 18, 20]);
  });

  it('grants operations 4 and 6, backports, deleting branches, protections, settings, approvals and topics only by a power', () => {
    const powers = all.filter((action) => action.power).map((action) => [numberOf(action), action.power]);

    expect(powers.map(([n, power]) => `${String(power)}${n === undefined ? '' : ` (${n})`}`).sort()).toEqual([
      'backport',
      'backport',
      'backport',
      'branch.delete',
      'protection.ensure',
      'repo.create_for_user (4)',
      'repository_settings.ensure',
      'review.approve',
      'topics.ensure',
      'user_settings.update (6)',
    ]);
  });

  it('approves and merges only what the forge itself confirms', () => {
    expect(all.filter(({ asksAct }) => asksAct).map(({ name }) => name)).toEqual([
      'review.approve',
      'backport',
      'backport.open',
      'backport.label',
      'pull_request.merge',
    ]);
  });

  it.each(all.map((action) => [action.name, action] as const))('%s is well made', (name, action) => {
    expect(name).toMatch(/^[a-z_]+(\.[a-z_]+)?$/);
    expect(action.summary).not.toBe('');
    expect(action.operations.slice(0, 1).map(isWrite)).toEqual(action.sends ? [] : [true]);
    for (const operation of [...action.operations, ...action.whereOffered])
      expect(isOperationName(operation)).toBe(true);
    for (const kind of action.raises) expect(isEventKind(kind)).toBe(true);
    expect(Object.keys(action.params)).toContain(action.naturalKey);
    const example = Object.fromEntries(
      Object.entries(action.example).map(([key, value]) => [key, SECRET.exec(String(value)) ? CHAT : value]),
    );
    expect(() => resolveParams(action, example, { chat: new Secret('x') }, encryptor)).not.toThrow();
    expect(action.keyOf(action.example)).not.toBe('');
  });

  it('needs nothing but the 20 operations for any action that writes by one of them', () => {
    for (const { operations } of all.filter((action) => numberOf(action) !== undefined))
      for (const operation of operations) expect(operationOf(operation).n).toEqual(expect.any(Number));
  });

  it.each(all.map((action) => [action.name, action] as const))(
    '%s says how it comes out of an unknown outcome, and which right it needs',
    (_, action) => {
      if (action.sends) expect(action.recover?.unread).toBeDefined();
      else expect(readsOf(action).map(isWrite)).toContain(false);
      expect(RIGHT_LEVELS.indexOf(action.right.level)).toBeGreaterThanOrEqual(RIGHT_LEVELS.indexOf('write'));
    },
  );

  it('a verb of several steps: rules write the first, which raises and needs what all of them do; each takes its parameters', () => {
    const catalogue = actionCatalogue();
    const verbs = all.filter(({ laterSteps }) => laterSteps);

    expect(verbs.map(({ name }) => name)).toEqual(['backport']);
    for (const verb of verbs)
      for (const { action, where } of verb.laterSteps ?? []) {
        expect(catalogue.has(action)).toBe(false);
        expect(actions.get(action)?.params).toBe(verb.params);
        expect(catalogue.get(verb.name)?.raises).toEqual(
          expect.arrayContaining([...(actions.get(action)?.raises ?? [])]),
        );
        expect(where === undefined || where in verb.params).toBe(true);
      }
    expect(catalogue.get('backport')?.requires).toEqual(
      expect.arrayContaining(['applyPatch', 'createPull', 'createComment', 'addIssueLabels']),
    );
  });

  it('tells the compiler of rules what it must know', () => {
    const label = actionCatalogue().get('label.ensure');
    const mirror = actionCatalogue().get('push_mirror.ensure');
    const variable = actionCatalogue().get('org_variable.set');

    expect(label).toMatchObject({
      naturalKey: 'name',
      target: 'repository',
      requires: ['createLabel'],
      operations: ['createLabel', 'listLabels', 'listOrgLabels', 'updateLabel'],
    });
    expect(label?.checkConstant?.('color', 'red')).toContain('colour');
    expect(label?.checkConstant?.('color', '#d73a4a')).toBeNull();
    expect(mirror?.params['remote_password']).toMatchObject({ secret: true, required: false });
    expect(mirror?.checkConstant?.('interval', '')).toContain('duration');
    expect(variable?.params['value']).toMatchObject({ sealed: true, required: true });
    expect(variable?.checkConstant?.('value', '')).toContain('empty');
  });

  it('gives one effect key to two ways of writing the same object', () => {
    const key = (name: string, params: Record<string, string>): string | undefined => actions.get(name)?.keyOf(params);

    expect(key('label.ensure', { name: ' bug ' })).toBe(key('label.ensure', { name: 'bug' }));
    expect(key('milestone.ensure', { title: ' 1.4' })).toBe(key('milestone.ensure', { title: '1.4' }));
    expect(key('org_variable.set', { name: 'a_b' })).toBe(key('org_variable.set', { name: 'A_B' }));
    expect(key('user_variable.create', { name: 'a_b' })).toBe(key('user_variable.create', { name: 'A_B' }));
    expect(key('push_mirror.ensure', { remote_address: 'https://M.example.org/a.git' })).toBe(
      key('push_mirror.ensure', { remote_address: 'https://m.example.org:443/a' }),
    );
    expect(key('repo.create_for_user', { username: 'Ann', name: 'App' })).toBe(
      key('repo.create_for_user', { username: 'ann', name: 'app' }),
    );
    expect(key('label.ensure', { name: 'Bug' })).not.toBe(key('label.ensure', { name: 'bug' }));
  });

  it('marks no parameter as both a secret and sealed', () => {
    for (const { params } of all)
      for (const { facts } of Object.values(params)) expect(facts.secret && facts.sealed).toBeFalsy();
    expect(isSecretReference({ $secret: 'x' })).toBe(true);
  });
});

describe('actions/lookups/index', () => {
  it('offers the reads that rules may ask for', () => {
    expect([...lookupCatalogue().keys()].sort()).toEqual([
      'actor.rights',
      'branch.get',
      'comments.list',
      'feed.list',
      'files.read',
      'hooks.list',
      'issue.get',
      'issue.reactions',
      'issues.list',
      'jobs.mine',
      'jobs.of_attempt',
      'labels.list',
      'milestones.list',
      'org_variable.get',
      'package.get',
      'protection.get',
      'pull_request.commits',
      'pull_request.files',
      'pull_request.get',
      'pull_request.reviews',
      'pull_requests.of_commit',
      'push_mirrors.list',
      'release.by_tag',
      'releases.list',
      'repo.get',
      'runs.list',
      'status.get',
      'tasks.list',
      'team.members',
      'tokens.list',
    ]);
  });

  it('reads only', () => {
    for (const { operations, whereOffered } of lookups.values()) {
      for (const operation of [...operations, ...whereOffered]) {
        expect(isOperationName(operation)).toBe(true);
        expect(isWrite(operation)).toBe(false);
      }
    }
  });

  it('reaches every reading operation of the API document, with the actions', () => {
    const used = [...lookups.values()].flatMap(({ operations }) => operations.map((name) => operationOf(name).n));

    expect([...new Set(used)].filter((n) => n !== undefined).sort((a, b) => a - b)).toEqual([
      2, 3, 5, 8, 9, 10, 11, 12, 14, 16, 19,
    ]);
  });
});
