import { describe, expect, it } from '@jest/globals';
import { asCalled, calledAs, COMMAND_NAMES } from './called-as.js';
import { makeProgram } from './run-cli.js';

describe('cli/called-as', () => {
  it('knows the commands by name', () => {
    const { commands } = makeProgram(() => undefined);

    expect([...COMMAND_NAMES].sort()).toEqual(commands.map((command) => command.name()).sort());
  });

  it.each([
    ['its link on the path', { PATH: '/bin:/usr/local/bin' }, '/usr/local/bin/forgehand', 'forgehand'],
    ['its file', { PATH: '/bin' }, '/srv/forgehand/dist/cli/forgehand.js', 'npx forgehand'],
    [
      'npx',
      { PATH: '/srv/node_modules/.bin:/bin', npm_command: 'exec' },
      '/srv/node_modules/.bin/forgehand',
      'npx forgehand',
    ],
    ['a link that is not on the path', { PATH: '/bin' }, '/srv/node_modules/.bin/forgehand', 'npx forgehand'],
  ])('names the program as it was started: by %s', (_how, env, script, called) => {
    const read = (name: string): string | null => (env as Record<string, string>)[name] ?? null;

    expect(calledAs(read, script)).toBe(called);
  });

  it.each([
    ['then forgehand apply 12ab', 'then npx forgehand apply 12ab'],
    ['(forgehand orgs accept acme --number 9)', '(npx forgehand orgs accept acme --number 9)'],
    ['`forgehand --help` says more', '`npx forgehand --help` says more'],
    ['npx forgehand apply', 'npx forgehand apply'],
    ['the forgehand bot, /srv/forgehand apply', 'the forgehand bot, /srv/forgehand apply'],
  ])('in %s', (text, told) => {
    expect(asCalled(text, 'npx forgehand')).toBe(told);
    expect(asCalled(text, 'forgehand')).toBe(text);
  });
});
