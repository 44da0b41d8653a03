import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../core/errors.js';
import { EnvironmentFile, environmentFileOf } from './environment-file.js';
import { readConfig, type ReadConfigOptions } from './read-config.js';

const CONFIG = `
forges: [{ id: main, base_url: http://127.0.0.1:4000/api/v1, auth: { type: token, token: { env: FORGE_TOKEN } } }]
orgs:
  - { name: acme, forge: main, hooks: [{ id: acme, secret: { env: ACME_HOOK_SECRET } }], rules: { path: rules } }
store: { url: "embedded:./data" }
`;
const LINES = `# a comment\nFORGE_TOKEN=from-the-file\nACME_HOOK_SECRET="${'s'.repeat(32)}"\n`;

function aConfig(lines: string | null, mode = 0o600): string {
  const file = join(mkdtempSync(join(tmpdir(), 'forgehand-env-')), 'forgehand.yaml');
  writeFileSync(file, CONFIG);
  if (lines !== null) {
    writeFileSync(environmentFileOf(file), lines);
    chmodSync(environmentFileOf(file), mode);
  }
  return file;
}

function tokenOf(file: string, options: ReadConfigOptions): string {
  const auth = readConfig(file, options).forges[0]?.auth;
  return auth?.type === 'token' ? auth.token.reveal() : '';
}

function problems(file: string, options: ReadConfigOptions): string[] {
  try {
    readConfig(file, options);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems.map(({ message }) => message);
    throw error;
  }
  return [];
}

describe('config/environment-file', () => {
  it('lies beside the config and has its name', () => {
    expect(environmentFileOf('/etc/forgehand/forgehand.yaml')).toBe('/etc/forgehand/forgehand.env');
  });

  it('gives what the environment does not have, and nothing else', () => {
    const file = aConfig(LINES);

    expect(tokenOf(file, { env: {} })).toBe('from-the-file');
    expect(tokenOf(file, { env: { FORGE_TOKEN: 'from-the-environment' } })).toBe('from-the-environment');
    expect(readConfig(file, { env: {} }).orgs[0]?.hooks[0]?.secrets[0]?.reveal()).toBe('s'.repeat(32));
  });

  it.each<[string, string | null, number, RegExp]>([
    [
      'it is not there',
      null,
      0,
      /^forges\.0\.auth\.token: the environment has no FORGE_TOKEN: set it, or write the line FORGE_TOKEN=… into forgehand\.env \(chmod 600\)$/,
    ],
    [
      'others can read it',
      LINES,
      0o644,
      /^forges\.0\.auth\.token: the environment has no FORGE_TOKEN, and .*forgehand\.env can be read by others: chmod 600 it$/,
    ],
    [
      'it lacks the name',
      'OTHER=1\n',
      0o600,
      /^forges\.0\.auth\.token: neither the environment nor .*forgehand\.env has FORGE_TOKEN$/,
    ],
    ['its value is empty', 'FORGE_TOKEN=\n', 0o600, /^forges\.0\.auth\.token: FORGE_TOKEN is empty/],
  ])('says what to do when %s', (_, lines, mode, message) => {
    expect(problems(aConfig(lines, mode), { env: {} })[0]).toMatch(message);
  });

  it('is not looked at while the environment has every name', () => {
    const env = { FORGE_TOKEN: 'token', ACME_HOOK_SECRET: 's'.repeat(32) };

    expect(problems(aConfig(LINES, 0o644), { env })).toEqual([]);
  });

  it('gives no secret to a role that has none of it', () => {
    expect(() => tokenOf(aConfig(LINES), { env: {}, reader: 'web' })).toThrow(/not for a process of the role web/);
  });

  it('knows no name of a prototype', () => {
    expect(new EnvironmentFile(environmentFileOf(aConfig(LINES))).get('constructor')).toBeUndefined();
  });
});
