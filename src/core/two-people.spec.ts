import { describe, expect, it } from '@jest/globals';
import type { ControlCaller } from './operators.js';
import { TwoPeople, type TwoPeopleAct } from './two-people.js';

const operator = (name: string, login: string | null = null): ControlCaller => ({
  kind: 'operator',
  name,
  login,
  scopes: ['read', 'approve'],
  grants: null,
});
const SOCKET: ControlCaller = {
  kind: 'socket',
  name: 'socket:forgehand',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};
const CONFIG_TOKEN: ControlCaller = {
  kind: 'config-token',
  name: 'config-token',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};

const KNOWN = [
  { name: 'ann', login: 'ann-forge' },
  { name: 'ann-laptop', login: 'Ann-Forge' },
  { name: 'bob', login: 'bob-forge' },
];

const two = (authors: string[] = []) => new TwoPeople({ list: async () => KNOWN }, { of: async () => authors });
const act = (over: Partial<TwoPeopleAct> = {}): TwoPeopleAct => ({
  requester: null,
  actor: null,
  revisionId: 'r1',
  ...over,
});

describe('core/two-people', () => {
  it.each([
    [
      'the operator who asked for it',
      operator('ann', 'ann-forge'),
      act({ requester: 'ann' }),
      [],
      'APPROVER_IS_REQUESTER',
    ],
    [
      'another operator with the forge account of who asked',
      operator('ann-laptop', 'Ann-Forge'),
      act({ requester: 'ann' }),
      [],
      'APPROVER_IS_REQUESTER',
    ],
    [
      'an operator, of what came over the socket',
      operator('bob', 'bob-forge'),
      act({ requester: 'socket:forgehand' }),
      [],
      'REQUESTER_NOT_NAMED',
    ],
    [
      'an operator, of what came with the shared token',
      operator('bob', 'bob-forge'),
      act({ requester: 'config-token' }),
      [],
      'REQUESTER_NOT_NAMED',
    ],
    [
      'an operator, of what a job asked for',
      operator('bob', 'bob-forge'),
      act({ requester: 'housekeeping' }),
      [],
      'REQUESTER_NOT_NAMED',
    ],
    ['the owner of the socket', SOCKET, act({ requester: 'ann' }), [], 'APPROVER_NOT_NAMED'],
    ['the bearer of the shared token', CONFIG_TOKEN, act({ requester: 'ann' }), [], 'APPROVER_NOT_NAMED'],
    [
      'the author of the rules',
      operator('bob', 'bob-forge'),
      act({ requester: 'ann' }),
      ['BOB-forge'],
      'APPROVER_IS_AUTHOR',
    ],
    ['one of several authors', operator('bob', 'bob-forge'), act(), ['carl', 'bob-forge'], 'APPROVER_IS_AUTHOR'],
    [
      'an operator whose account is not known, of rules with an author',
      operator('dora'),
      act(),
      ['carl'],
      'APPROVER_WITHOUT_LOGIN',
    ],
    ['who caused the event', operator('bob', 'bob-forge'), act({ actor: 'bob-forge' }), [], 'APPROVER_IS_REQUESTER'],
  ] as const)('does not let %s approve', async (_who, approver, asked, authors, code) => {
    await expect(two([...authors]).mayApprove(approver, asked)).rejects.toMatchObject({ code });
  });

  it('lets another person approve, and tells the others for the record', async () => {
    expect(await two(['carl']).mayApprove(operator('bob', 'bob-forge'), act({ requester: 'ann' }))).toBe(
      'requested by ann; rules by carl',
    );
    expect(await two().mayApprove(operator('bob'), act())).toBe('requested by schedule');
    expect(await two().mayApprove(operator('bob', 'bob-forge'), act({ actor: 'ann-forge' }))).toBe(
      'requested by ann-forge',
    );
  });

  it.each([
    ['who approved it', operator('bob', 'bob-forge'), 'bob', 'APPROVER_IS_REQUESTER'],
    ['another name of who approved it', operator('ann-laptop', 'ann-forge'), 'ann', 'APPROVER_IS_REQUESTER'],
    ['the owner of the socket', SOCKET, 'bob', 'APPLIER_NOT_NAMED'],
    ['the bearer of the shared token', CONFIG_TOKEN, 'bob', 'APPLIER_NOT_NAMED'],
  ] as const)('does not let %s apply', async (_who, applier, approvedBy, code) => {
    await expect(two().mayApply(applier, approvedBy)).rejects.toMatchObject({ code });
  });

  it('lets who asked for it apply it once another approved it', async () => {
    await expect(two().mayApply(operator('ann', 'ann-forge'), 'bob')).resolves.toBeUndefined();
  });
});
