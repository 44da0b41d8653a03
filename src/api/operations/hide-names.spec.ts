import { rejectRepository } from '../../rules/language/match/where-filter.js';
import { describe, expect, it } from '@jest/globals';
import { aRule } from '../../../test/builders/rule-environment.js';
import { personCaller } from '../../core/operators.js';
import { HIDDEN_REPOSITORY as HIDDEN, hideNames } from './hide-names.js';
import { OPERATIONS } from './index.js';
import { bind } from './operation.js';

const MEMBER = [{ org: 'acme', repositories: ['1', '2'], names: ['app', 'lib.js'] }];

describe('api/operations/hide-names', () => {
  it.each([
    ['a condition', 'repo.full_name == "acme/vault"', `repo.full_name == "${HIDDEN}"`],
    ['a condition on the name alone', "repo.name in ['app', 'vault']", `repo.name in ['app', '${HIDDEN}']`],
    ['a reason', 'not mirrored: acme/vault is private', `not mirrored: ${HIDDEN} is private`],
    ['the end of a sentence', 'it is for ACME/Vault.', `it is for ${HIDDEN}.`],
    ['an address', 'https://git.example.org/acme/vault/issues/1', `https://git.example.org/${HIDDEN}/issues/1`],
    ['an escaped address', 'acme%2Fvault', HIDDEN],
    ['a regular expression', 'acme\\/vault', HIDDEN],
    ['a choice of names', 'acme/{app,vault}', HIDDEN],
    ['the middle of a pattern', 'acme/*vault*', HIDDEN],
    ['a class of letters', 'acme/[v]ault', HIDDEN],
    ['a pattern of hidden ones', 'where.repo: acme/vault-*', `where.repo: ${HIDDEN}`],
  ])('leaves the name of a private repository out of %s', (_where, text, told) => {
    const answer = { rules: [{ id: 'r', conditions: [{ text, line: 3 }], at: new Date(0), count: 4n }] };

    expect(hideNames(answer, MEMBER)).toEqual({
      rules: [{ id: 'r', conditions: [{ text: told, line: 3 }], at: new Date(0), count: 4n }],
    });
  });

  it.each([
    ['a repository that is seen', 'acme/app and acme/lib.js, acme/app.git'],
    ['a pattern of all', 'acme/*'],
    ['a pattern that a seen one fits', 'acme/ap*'],
    ['a choice of seen ones', 'acme/{app,lib.*}'],
    ['another owner', 'notacme/vault and other/vault'],
    ['a name in other words', 'vault "vault"'],
  ])('keeps %s', (_what, text) => {
    expect(hideNames({ text }, MEMBER)).toEqual({ text });
  });

  it('hides a pattern that stands for more names than anybody looks at', () => {
    const doubled = (braces: number): string => `acme/${'{*,*}'.repeat(braces)}`;

    expect(hideNames({ few: doubled(6), many: doubled(7), endless: doubled(40) }, MEMBER)).toEqual({
      few: doubled(6),
      many: HIDDEN,
      endless: HIDDEN,
    });
  });

  it('leaves them out of keys as well', () => {
    expect(hideNames({ found: { 'acme/vault': 1, 'acme/app': 2 } }, MEMBER)).toEqual({
      found: { [HIDDEN]: 1, 'acme/app': 2 },
    });
  });

  it('leaves out a name that a filter has without its owner', () => {
    const rule = aRule('id: x\non: push\nwhere: {repo: [vault]}\ndo: {label.ensure: {name: a, color: "#ffffff"}}\n');
    const repo = { id: '1', owner: 'acme', name: 'app', full_name: 'acme/app' };
    const rejection = rejectRepository(rule.program.where, repo);

    expect(hideNames(rejection?.reason, MEMBER)).toBe(`repository acme/app is none of ${HIDDEN}`);
  });

  it('stands before every operation, for a person who writes to a repository', async () => {
    const rights = {
      org: 'acme',
      isOwner: false,
      repositories: [{ id: '1', name: 'app', canWrite: true, units: null }],
    };
    const writer = personCaller({ forge: 'main', login: 'wes' }, [rights]);
    const rules = { ...OPERATIONS.rules, handle: async () => [{ text: 'acme/vault, acme/app' }] };
    const bound = bind({ rules } as unknown as Pick<typeof OPERATIONS, 'rules'>, {} as never, {} as never);

    expect(await bound.rules({}, writer)).toEqual([{ text: `${HIDDEN}, acme/app` }]);
  });

  it('keeps paths of files, and everything for who sees the whole organization', () => {
    const answer = { place: { file: 'rules/acme/vault.yaml' }, text: 'acme/vault' };

    expect(hideNames(answer, MEMBER)).toEqual({ ...answer, text: HIDDEN });
    for (const sight of [null, [{ org: 'acme', repositories: null }]]) expect(hideNames(answer, sight)).toBe(answer);
  });
});
