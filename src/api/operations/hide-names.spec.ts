import { aConfig } from '../../../test/builders/a-config.js';
import { ShownOrgs } from './shown-orgs.js';
import { rejectRepository } from '../../rules/language/match/where-filter.js';
import { describe, expect, it } from '@jest/globals';
import { aRule } from '../../../test/builders/rule-environment.js';
import { personCaller } from '../../core/operators.js';
import { HIDDEN_REPOSITORY as HIDDEN, hideNames } from './hide-names.js';
import { OPERATIONS } from './index.js';
import { bind } from './operation.js';

const KNOWN = new Map([
  [
    'acme',
    [
      { id: '1', name: 'app' },
      { id: '9', name: 'vault' },
      { id: '8', name: 'bug' },
      { id: '7', name: 'acme' },
      // A name of before, as an old event told it.
      { id: '2', name: 'lib' },
    ],
  ],
]);
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

  describe('knows the repositories of the organization', () => {
    it.each([
      ['a path that goes back', 'files("acme/app/../vault")', `files("acme/app/../${HIDDEN}")`],
      ['two parts of a name', '"acme" + "/vault"', `"acme" + "/${HIDDEN}"`],
      ['a filter without an owner', 'repo: vault', `repo: ${HIDDEN}`],
      [
        'a sentence',
        'Copies Vault, then vault.git. (see ./vault/)',
        `Copies ${HIDDEN}, then ${HIDDEN}.git. (see ./${HIDDEN}/)`,
      ],
      ['an ordinary word that is the name of one', 'put the label bug', `put the label ${HIDDEN}`],
    ])('and hides the name alone in %s', (_what, text, told) => {
      expect(hideNames({ rules: [{ conditions: [{ text }] }] }, MEMBER, KNOWN)).toEqual({
        rules: [{ conditions: [{ text: told }] }],
      });
    });

    it.each(['vaults vault-2 my.vault vault_x', 'acme/app and acme', 'lib and lib.js'])(
      'and keeps other words: %s',
      (text) => {
        expect(hideNames({ text }, MEMBER, KNOWN)).toEqual({ text });
      },
    );

    it('in traces, parameters and reasons, not in what the program reads or in what an event says', () => {
      const run = {
        rule: 'vault',
        state: 'bug',
        reason: 'vault is private',
        parameters: { of: 'vault', code: 'bug' },
        trace: {
          conditions: [
            {
              source: 'lookups.all.contains("vault")',
              seen: { 'event.issue.title': 'vault', 'lookups.all': ['vault'] },
            },
          ],
          steps: [{ id: 'vault', action: 'bug', items: ['vault'] }],
        },
        filters: [{ wanted: 'vault', seen: 'vault' }],
        event: { branch: 'vault', labels: ['bug'] },
      };

      expect(hideNames(run, MEMBER, KNOWN)).toEqual({
        ...run,
        reason: `${HIDDEN} is private`,
        parameters: { of: HIDDEN, code: 'bug' },
        trace: {
          conditions: [
            {
              source: `lookups.all.contains("${HIDDEN}")`,
              seen: { 'event.issue.title': 'vault', 'lookups.all': [HIDDEN] },
            },
          ],
          steps: [{ id: 'vault', action: 'bug', items: [HIDDEN] }],
        },
        filters: [{ wanted: HIDDEN, seen: 'vault' }],
      });
    });

    it('and keeps a name that is seen in another organization', () => {
      const both = [...MEMBER, { org: 'other', repositories: ['9'], names: ['vault'] }];
      expect(hideNames({ text: 'vault bug' }, both, KNOWN)).toEqual({ text: `vault ${HIDDEN}` });
      expect(hideNames({ text: 'vault bug' }, [{ org: 'acme', repositories: null }], KNOWN)).toEqual({
        text: 'vault bug',
      });
    });
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
    const rules = { ...OPERATIONS.rules, handle: async () => [{ text: 'acme/vault, acme/app, vault' }] };
    const bound = bind(
      { rules } as unknown as Pick<typeof OPERATIONS, 'rules'>,
      {} as never,
      {} as never,
      { of: async () => KNOWN },
      new ShownOrgs(aConfig({ orgs: [{ name: 'acme' }] })),
    );

    expect(await bound.rules({ limit: 1 }, writer)).toEqual([{ text: `${HIDDEN}, acme/app, ${HIDDEN}` }]);
  });

  it('keeps paths of files, and everything for who sees the whole organization', () => {
    const answer = { place: { file: 'rules/acme/vault.yaml' }, text: 'acme/vault' };

    expect(hideNames(answer, MEMBER)).toEqual({ ...answer, text: HIDDEN });
    for (const visibility of [null, [{ org: 'acme', repositories: null }]])
      expect(hideNames(answer, visibility)).toBe(answer);
  });
});
