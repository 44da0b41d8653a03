import { describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../core/errors.js';
import type { OrgConfig } from './app-config.js';
import { configJsonSchema } from './config-schema.js';
import { parseConfig } from './read-config.js';

const ENV = { FORGE_TOKEN: 't', HOOK: 'h'.repeat(32), MIRROR: 'm' };

const FORGES = `
forges: [{ id: main, base_url: http://127.0.0.1:4000/api/v1, auth: { type: token, token: { env: FORGE_TOKEN } } }]
store: { url: "embedded:./data" }
`;

function orgsOf(text: string): readonly OrgConfig[] {
  return parseConfig('/etc/forgehand.yaml', FORGES + text, { env: ENV }).orgs;
}

function problems(text: string): string[] {
  try {
    orgsOf(text);
  } catch (error) {
    if (error instanceof InvalidFile)
      return error.problems.map((p) => `${p.line}:${p.col}: ${p.message}${p.hint ? ` (${p.hint})` : ''}`);
    throw error;
  }
  return [];
}

describe('config/defaults', () => {
  it('an organization has from defaults what it lacks', () => {
    const [acme, beta] = orgsOf(`
defaults:
  forge: main
  rules: { path: rules/all }
  feed: { every_s: 300 }
  powers: [topics.ensure]
  secrets: { mirror: { env: MIRROR } }
  freeze: [{ from: 2026-12-24, to: 2027-01-02, reason: holidays }]
orgs:
  - { name: acme, hooks: [{ id: acme, secret: { env: HOOK } }] }
  - { name: beta, rules: { path: rules/beta } }
`);

    expect(acme).toMatchObject({ forge: 'main', rules: { path: '/etc/rules/all' }, powers: ['topics.ensure'] });
    expect(acme?.feed.everyS).toBe(300);
    expect(acme?.freeze).toHaveLength(1);
    expect(acme?.secrets.mirror?.reveal()).toBe('m');
    expect(beta).toMatchObject({ forge: 'main', rules: { path: '/etc/rules/beta' }, powers: ['topics.ensure'] });
  });

  it('takes whole keys: what an organization writes is not filled up from defaults', () => {
    const [acme] = orgsOf(`
defaults: { forge: main, feed: { every_s: 300, grace_s: 900 }, powers: [topics.ensure], trusted: true }
orgs: [{ name: acme, rules: { path: rules }, feed: { every_s: 30 }, powers: [], trusted: false }]
`);

    // 120 is the default of the key itself, for `defaults.feed` does not hold here.
    expect(acme).toMatchObject({ feed: { everyS: 30, graceS: 120 }, powers: [], trusted: false });
  });

  it('holds for the organizations that defaults.orgs names, and for all without it', () => {
    const orgs = orgsOf(`
defaults: { orgs: [Acme], trusted: true }
orgs:
  - { name: acme, forge: main, rules: { path: rules } }
  - { name: beta, forge: main, rules: { path: rules } }
`);

    expect(orgs.map(({ trusted }) => trusted)).toEqual([true, false]);
  });

  it.each([
    [
      'an unknown key => refused once, where it stands',
      'defaults: { forge: main, pwoers: [] }\norgs: [{ name: a, rules: { path: r } }, { name: b, rules: { path: r } }]',
      ['4:26: unknown key "pwoers" (did you mean "powers"?)'],
    ],
    [
      'a value that is none => refused once, by its name there',
      'defaults: { forge: main, feed: { every_s: often } }\norgs: [{ name: a, rules: { path: r } }, { name: b, rules: { path: r } }]',
      ['4:43: defaults.feed.every_s must be a number'],
    ],
    [
      'a key that no organization needs => refused all the same',
      'defaults: { feed: { every_s: 0 } }\norgs: [{ name: a, forge: main, rules: { path: r }, feed: {} }]',
      ['4:30: defaults.feed.every_s: Too small: expected number to be >=0.1'],
    ],
    [
      'a secret that is missing => refused once, where it stands',
      'defaults: { secrets: { x: { env: NOPE } } }\norgs: [{ name: a, forge: main, rules: { path: r } }, { name: b, forge: main, rules: { path: r } }]',
      [
        '4:27: defaults.secrets.x: the environment has no NOPE: set it, or write the line NOPE=… into forgehand.env (chmod 600)',
      ],
    ],
    [
      'a forge that is none => refused once, where it stands',
      'defaults: { forge: mian }\norgs: [{ name: a, rules: { path: r } }, { name: b, rules: { path: r } }]',
      ['4:20: there is no forge "mian" (did you mean "main"?)'],
    ],
    [
      'what only one organization can have => refused',
      'defaults: { name: a, hooks: [], repositories: [], auth: {} }\norgs: [{ name: a, forge: main, rules: { path: r } }]',
      expect.arrayContaining([
        '4:13: unknown key "name" (there is such a key in another part of the file)',
        '4:22: unknown key "hooks" (there is such a key in another part of the file)',
        '4:33: unknown key "repositories" (there is such a key in another part of the file)',
        '4:51: unknown key "auth" (there is such a key in another part of the file)',
      ]),
    ],
    [
      'a name that is no organization => refused',
      'defaults: { orgs: [acem] }\norgs: [{ name: acme, forge: main, rules: { path: r } }]',
      ['4:20: there is no organization "acem" (did you mean "acme"?)'],
    ],
    [
      'nothing in it => refused',
      'defaults:\norgs: [{ name: acme, forge: main, rules: { path: r } }]',
      ['4:10: defaults must be a map of keys'],
    ],
    [
      'neither an organization nor defaults have it => missing at the organization',
      'defaults: { feed: {} }\norgs: [{ name: acme, rules: { path: r } }]',
      ['5:8: orgs.0.forge is missing'],
    ],
    [
      'one name twice => the other place is told',
      'defaults: { forge: main, rules: { path: r } }\norgs:\n  - { name: acme }\n  - { name: Acme }',
      ['7:13: organization "Acme" is there twice (take one of them away; the other is at /etc/forgehand.yaml:6)'],
    ],
    [
      'no organization => refused',
      '',
      ['2:1: at least one organization (write it below orgs, or into a file of its own: orgs.d/NAME.yaml)'],
    ],
  ])('%s', (_says, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it('lets an organization of the schema for editors lack what defaults may have', () => {
    const { properties } = configJsonSchema() as { properties: { orgs: { items: { required: string[] } } } };

    expect(properties.orgs.items.required).toEqual(['name']);
  });
});
