import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../config/read-config.js';
import { readForgeAddress } from '../../config/forge-address.js';
import { configText, placesOf, variableOf, withVariables, type NewConfig } from './operator-files.js';

const MOST_LINES = 15;
const PLAIN: NewConfig = {
  baseUrl: 'https://git.example.org/api/v1',
  insecureHttp: null,
  org: 'acme',
  publicUrl: 'http://127.0.0.1:8080',
  port: 8080,
  consolePort: 8090,
  ratePerS: null,
  mirrorHosts: [],
};
const FULLEST: NewConfig = {
  ...PLAIN,
  baseUrl: 'http://10.0.0.7:3000/gitea/api/v1',
  insecureHttp: 'the "inner" network',
  org: '7-Eleven.x',
  port: 9000,
  consolePort: 9001,
  mirrorHosts: ['github.com/acme/'],
};

describe('cli/init/operator-files', () => {
  it.each<[string, string | null, boolean]>([
    ['git.example.org', 'https://git.example.org/api/v1', false],
    ['https://git.example.org/', 'https://git.example.org/api/v1', false],
    ['http://127.0.0.1:3000/api/v1/', 'http://127.0.0.1:3000/api/v1', false],
    ['https://example.org/gitea', 'https://example.org/gitea/api/v1', false],
    ['http://10.0.0.7:3000', 'http://10.0.0.7:3000/api/v1', true],
    ['https://user:word@git.example.org', null, false],
    ['ftp://git.example.org', null, false],
    ['  ', null, false],
  ])('reads the address %j as %j', (typed, baseUrl, isInsecure) => {
    expect(readForgeAddress(typed)).toEqual(baseUrl === null ? null : { baseUrl, isInsecure });
  });

  it.each([
    ['the usual', PLAIN, '/srv/config/forgehand.yaml'],
    ['the longest', FULLEST, '/etc/forgehand/forgehand.yaml'],
    [
      "the sandbox's",
      { ...FULLEST, baseUrl: 'http://127.0.0.1:4000/api/v1', insecureHttp: null, ratePerS: 500 },
      'config/forgehand.yaml',
    ],
  ])('writes %s config in at most fifteen lines, which the bot reads as meant', (_, wanted, file) => {
    const text = configText(placesOf(file), wanted);
    const env = {
      FORGE_TOKEN: 'x',
      [variableOf(wanted.org, 'HOOK_SECRET')]: 's'.repeat(64),
      ORG_7_ELEVEN_X_MIRROR_TOKEN: 'x',
    };
    const config = parseConfig(file, text, { env });

    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
    expect(config.forges[0]?.baseUrl).toBe(wanted.baseUrl);
    expect(config.orgs[0]).toMatchObject({ name: wanted.org, mirrorHosts: wanted.mirrorHosts });
    expect(config.server).toMatchObject({ publicUrl: wanted.publicUrl, port: wanted.port });
    expect(config.console.listen).toBe(`127.0.0.1:${wanted.consolePort}`);
    expect(config.warnings).toEqual([]);
  });

  it('keeps rules and data beside a folder named config, else beside the file', () => {
    const inConfig = parse(configText(placesOf('/srv/config/forgehand.yaml'), PLAIN)) as {
      orgs: [{ rules: { path: string } }];
    };

    expect(inConfig.orgs[0].rules.path).toBe('../rules/acme');
    expect(placesOf('/etc/forgehand/forgehand.yaml')).toMatchObject({
      rules: '/etc/forgehand/rules',
      data: '/etc/forgehand/data',
      environment: '/etc/forgehand/forgehand.env',
    });
  });

  it('adds variables that are missing and changes none that is there', () => {
    const wanted = new Map([
      ['FORGE_TOKEN', 'new'],
      ['ACME_HOOK_SECRET', 'made'],
    ]);

    expect(withVariables('FORGE_TOKEN=old', new Set(['FORGE_TOKEN']), wanted)).toBe(
      'FORGE_TOKEN=old\nACME_HOOK_SECRET=made\n',
    );
    expect(withVariables('a\n', new Set(wanted.keys()), wanted)).toBe('a\n');
    expect(withVariables('', new Set(), wanted)).toMatch(/^# .*chmod 600\.\nFORGE_TOKEN=new\nACME_HOOK_SECRET=made\n$/);
  });
});
