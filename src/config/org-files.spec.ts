import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../core/errors.js';
import { formatProblem } from '../core/problem.js';
import { readConfig } from './read-config.js';

const ENV = { FORGE_TOKEN: 't', HOOK: 'h'.repeat(32) };

const ALONE = `
forges: [{ id: main, base_url: http://127.0.0.1:4000/api/v1, auth: { type: token, token: { env: FORGE_TOKEN } } }]
store: { url: "embedded:./data" }
`;
const WITH_ACME = `${ALONE}defaults: { forge: main, powers: [topics.ensure] }
orgs: [{ name: acme, rules: { path: rules/acme } }]
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgehand-orgs-'));
  mkdirSync(join(folder, 'orgs.d'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(config: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'orgs.d', name), text);
  writeFileSync(join(folder, 'forgehand.yaml'), config);
  return join(folder, 'forgehand.yaml');
}

function problems(config: string, files: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(write(config, files), { env: ENV });
  } catch (error) {
    if (error instanceof InvalidFile)
      return error.problems.map((one) => formatProblem(one).replaceAll(`${folder}/`, ''));
    throw error;
  }
  return [];
}

describe('config/org-files', () => {
  it('each file of orgs.d is an organization behind those of the config, by the names of the files', () => {
    const file = write(WITH_ACME, {
      'b.yaml': 'name: beta\nrules: { path: rules/beta }\n',
      'a.yaml': 'name: gamma\nrules: { path: rules/gamma }\npowers: []\n',
    });

    const { orgs } = readConfig(file, { env: ENV });

    expect(orgs.map(({ name }) => name)).toEqual(['acme', 'gamma', 'beta']);
    expect(orgs.map(({ powers }) => powers)).toEqual([['topics.ensure'], [], ['topics.ensure']]);
  });

  it('resolves its paths as the config file does', () => {
    const file = write(ALONE, {
      'beta.yaml': 'name: beta\nforge: main\nrules: { path: rules/beta }\nsecrets: { x: { file: x.key } }\n',
    });
    writeFileSync(join(folder, 'x.key'), 'opened\n', { mode: 0o600 });

    const [beta] = readConfig(file, { env: ENV }).orgs;

    expect(beta?.rules.path).toBe(join(folder, 'rules/beta'));
    expect(beta?.secrets.x?.reveal()).toBe('opened');
  });

  it('without the folder, and without files in it, there are those of the config alone', () => {
    expect(readConfig(write(WITH_ACME, {}), { env: ENV }).orgs).toHaveLength(1);

    rmSync(join(folder, 'orgs.d'), { recursive: true });

    expect(readConfig(write(WITH_ACME, {}), { env: ENV }).orgs).toHaveLength(1);
  });

  it('takes no notice of hidden files and other endings, and warns of one that is probably meant', () => {
    const file = write(WITH_ACME, {
      '.#beta.yaml': '{',
      'beta.yaml~': '{',
      'beta.yaml.off': '{',
      'gamma.yml': 'name: gamma\n',
    });

    const { orgs, warnings } = readConfig(file, { env: ENV });

    expect(orgs).toHaveLength(1);
    expect(warnings.map(formatProblem)).toEqual([
      `${folder}/orgs.d/gamma.yml:1:1: this file is not read: its name does not end in .yaml (rename it: gamma.yaml)`,
    ]);
  });

  it.each([
    [
      'no YAML in two files => both are told',
      WITH_ACME,
      { 'a.yaml': 'name: [a\n', 'b.yaml': 'name: b\nname: c\n' },
      [
        'orgs.d/a.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
        'orgs.d/b.yaml:2:1: Map keys must be unique',
      ],
    ],
    [
      'a misspelt key => told at its place',
      WITH_ACME,
      { 'b.yaml': 'name: b\nruels: { path: r }\n' },
      ['orgs.d/b.yaml:1:1: rules is missing', 'orgs.d/b.yaml:2:1: unknown key "ruels" (did you mean "rules"?)'],
    ],
    [
      'a value that is none => named by its keys in that file',
      WITH_ACME,
      { 'b.yaml': 'name: b\nrules: { path: r }\nfeed:\n  every_s: often\n' },
      ['orgs.d/b.yaml:4:12: feed.every_s must be a number'],
    ],
    [
      'a missing secret => named by its keys in that file',
      WITH_ACME,
      { 'b.yaml': 'name: b\nrules: { path: r }\nhooks: [{ id: b, secret: { env: NOPE } }]\n' },
      [
        'orgs.d/b.yaml:3:26: hooks.0.secret: the environment has no NOPE: set it, or write the line NOPE=… into forgehand.env (chmod 600)',
      ],
    ],
    [
      'a name and a hook of another file => both places are told',
      WITH_ACME,
      {
        'a.yaml': 'name: a\nrules: { path: r }\nhooks: [{ id: h, secret: { env: HOOK } }]\n',
        'b.yaml': 'name: Acme\nrules: { path: r }\nhooks: [{ id: h, secret: { env: HOOK } }]\n',
      },
      [
        'orgs.d/b.yaml:1:7: organization "Acme" is there twice (take one of them away; the other is at forgehand.yaml:5)',
        'orgs.d/b.yaml:3:15: hook "h" is there twice (give each a name of its own; the other is at orgs.d/a.yaml:3)',
      ],
    ],
    [
      'a list of organizations => one a file',
      WITH_ACME,
      { 'b.yaml': '- name: b\n' },
      [
        'orgs.d/b.yaml:1:1: the file must be a map of keys (a file of orgs.d holds the keys of one organization: name: acme, forge: main, …)',
      ],
    ],
    [
      'the keys of a config => one a file',
      ALONE,
      { 'b.yaml': 'orgs: []\n' },
      expect.arrayContaining([
        'orgs.d/b.yaml:1:1: unknown key "orgs" (a file of orgs.d holds the keys of one organization: name: acme, forge: main, …)',
      ]),
    ],
    [
      'an empty file => refused, for it may be half written',
      WITH_ACME,
      { 'b.yaml': '' },
      [
        'orgs.d/b.yaml:1:1: the file must be a map of keys (a file of orgs.d holds the keys of one organization: name: acme, forge: main, …)',
      ],
    ],
  ])('%s', (_says, config, files, expected) => {
    expect(problems(config, files)).toEqual(expected);
  });

  it('a file that cannot be read is refused', () => {
    mkdirSync(join(folder, 'orgs.d', 'beta.yaml'));

    expect(problems(WITH_ACME, {})).toEqual(['orgs.d/beta.yaml:1:1: cannot be read (EISDIR)']);
  });

  it('a folder that cannot be read is refused', () => {
    rmSync(join(folder, 'orgs.d'), { recursive: true });
    writeFileSync(join(folder, 'orgs.d'), '');

    expect(problems(WITH_ACME, {})).toEqual(['orgs.d:1:1: cannot be read (ENOTDIR)']);
  });
});
