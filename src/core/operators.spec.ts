import { describe, expect, it } from '@jest/globals';
import { NOBODY, isOwner, personCaller, visibilityOf, type OrgRights } from './operators.js';

const ANN = { forge: 'main', login: 'ann' };
const rights = (over: Partial<OrgRights> = {}): OrgRights => ({
  org: 'acme',
  isOwner: false,
  repositories: [],
  ...over,
});
const sees = (id: string, canWrite: boolean, units: string[] | null = null) => ({ id, canWrite, units });

describe('core/operators: people of a forge', () => {
  it.each([
    ['no rights anywhere', [], [], []],
    ['who sees repositories and writes to none', [rights({ repositories: [sees('1', false)] })], [], []],
    [
      'who writes to one of them',
      [rights({ repositories: [sees('1', true), sees('2', false)] })],
      [{ org: 'acme', repositories: ['1', '2'] }],
      [],
    ],
    [
      'who may not read pull requests in one of them',
      [rights({ repositories: [sees('1', true, ['issues', 'code']), sees('2', false, ['issues', 'pulls'])] })],
      [{ org: 'acme', repositories: ['1/code', '1/issues', '2/issues', '2/pulls', '2/comments'] }],
      [],
    ],
    [
      'an owner',
      [rights({ isOwner: true, repositories: [sees('1', false)] })],
      [{ org: 'acme', repositories: null }],
      [{ org: 'acme', repositories: null }],
    ],
    [
      'an owner of one organization who writes in another',
      [rights({ org: 'butler', isOwner: true }), rights({ repositories: [sees('1', true)] })],
      [
        { org: 'butler', repositories: null },
        { org: 'acme', repositories: ['1'] },
      ],
      [{ org: 'butler', repositories: null }],
    ],
  ])('%s', (_who, of, reads, operates) => {
    const caller = personCaller(ANN, of);

    expect(visibilityOf(caller, 'read')).toEqual(reads);
    expect(visibilityOf(caller, 'operate')).toEqual(operates);
    expect(visibilityOf(caller, 'approve')).toEqual(operates);
    expect(caller.scopes).toEqual([
      ...(reads.length > 0 ? ['read'] : []),
      ...(operates.length > 0 ? ['operate', 'approve'] : []),
    ]);
  });

  it('are recorded by forge and login, which no operator can be called', () => {
    expect(personCaller(ANN, [])).toMatchObject({ kind: 'person', name: 'person:ann@main', login: 'ann' });
  });

  it('do not have the host, whatever their rights', () => {
    expect([NOBODY, personCaller(ANN, [rights({ isOwner: true })])].map(isOwner)).toEqual([false, false]);
    expect((['socket', 'command', 'config-token'] as const).every((kind) => isOwner({ kind }))).toBe(true);
    expect(isOwner({ kind: 'operator' })).toBe(false);
  });
});
