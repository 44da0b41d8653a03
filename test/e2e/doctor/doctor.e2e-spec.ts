import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DoctorPage } from '../../../src/api/operations/answers.js';
import type { HookReport } from '../../../src/housekeeping/doctor/install-hook.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot } from '../support/bot.js';
import { Terminal, hasTerminal } from '../support/a-terminal.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { forgehand, type CommandResult } from '../support/forgehand.js';

const SECRET = 'the-secret-of-the-hook-5d1f';
const RULES =
  'version: 1\norg: acme\nrules:\n  - { id: labels, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }\n';

const MISSPELT = RULES.replace(
  'on: repository.created',
  'on: repository.created, where: { actor: [olgaa, bot-of-acme] }',
);

/** A list that is longer than the terminal. */
async function onTerminal({ dir, configFile, env }: Place, pager: string, ...options: string[]) {
  if (!hasTerminal) return { code: 1, shown: '' };
  const command = [process.execPath, FORGEHAND, 'doctor', '--operations', '--config', configFile, ...options].join(' ');
  const terminal = new Terminal(command, dir, { ...env, PAGER: pager });
  return { code: await terminal.ended, shown: terminal.shown };
}

describe('e2e/doctor', () => {
  let forge: Forge;
  let place: Place;
  const run = (...args: string[]): Promise<CommandResult> => forgehand(place, ...args, '--config', place.configFile);

  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    const account = {
      login: 'bot',
      org: 'acme',
      // No rule needs write:user.
      scopes: ['write:issue', 'write:organization', 'read:repository', 'write:user'],
      token: 'of the bot',
    };
    const { token } = await forge.control('POST', '/_sandbox/accounts', account);
    place = aPlace({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 200,
          },
        ],
        orgs: [
          { name: 'acme', forge: 'main', hooks: [{ id: 'acme', secret: { env: 'HOOK' } }], rules: { path: 'rules' } },
        ],
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0, public_url: 'https://bot.example.org' },
      },
      files: { 'rules/r.yaml': RULES, 'misspelt/r.yaml': MISSPELT },
      env: { FORGE_TOKEN: String(token), HOOK: SECRET },
    });
  });

  afterAll(async () => {
    await forge?.close();
    place?.remove();
  });

  it('works alone and with a running bot, ends with 1 for findings, and says what to type', async () => {
    const alone = await run('doctor', '--fresh', '--json');
    const bot = await startBot(place);
    const dry = await run('hook', 'install', '--dry-run');
    const made = await run('hook', 'install', '--json');
    const again = await run('hook', 'install');
    const told = await run('doctor', '--operations');
    const paged = await Promise.all(['cat > pages', 'true', 'no-such-pager'].map((pager) => onTerminal(place, pager)));
    const unpaged = await onTerminal(place, 'cat > other-pages', '--no-pager');
    await bot.stop();

    const report = JSON.parse(alone.stdout) as DoctorPage & { running: boolean };
    expect([alone.code, report.running, report.findings]).toEqual([1, false, 2]);
    expect(report.rows.find(({ check }) => check === 'hook.there')?.fix).toContain(
      'type: forgehand hook install --org acme',
    );
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('would be made (nothing was written)')]);
    expect([made.code, (JSON.parse(made.stdout) as HookReport).does]).toEqual([0, 'create']);
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/^webhook \d+ of acme is as it should be\n$/),
    ]);
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/warning +token\.wide +main/);
    expect(told.stdout).toMatch(/ok +hook\.events +acme/);
    expect(told.stdout).toContain('/user/settings/applications, Generate New Token with');
    expect(told.stdout).toMatch(/create a milestone +there/);
    expect(told.stdout).toMatch(/\n1 finding\n$/);
    if (hasTerminal) {
      expect([...paged, unpaged].map(({ code }) => code)).toEqual([1, 1, 1, 1]);
      expect(paged[0]?.shown + (paged[1]?.shown ?? '')).toBe('');
      expect(readFileSync(join(place.dir, 'pages'), 'utf8')).toMatch(/create a milestone +.*there[^]*1 finding/);
      expect(paged[2]?.shown).toMatch(/create a milestone +there[^]*1 finding/);
      expect([unpaged.shown, existsSync(join(place.dir, 'other-pages'))]).toEqual([
        expect.stringMatching(/1 finding/),
        false,
      ]);
    }
    expect([alone, dry, made, again, told].map(({ stdout, stderr }) => stdout + stderr).join('\n')).not.toContain(
      SECRET,
    );
  });

  it('looks at an empty root, and says what to install', async () => {
    const root = join(place.dir, 'root');
    mkdirSync(root);
    const { code, stdout } = await run('doctor', '--system', '--root', root, '--json');

    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { checks: expect.arrayContaining([expect.objectContaining({ check: 'system.unit', state: 'problem' })]) },
    ]);
  });

  it('ends with 2 on a wrong command line or file', async () => {
    const ended = await Promise.all([
      run('doctor', '--nothing-like-it'),
      run('hook', 'install', '--nothing-like-it'),
      forgehand(place, 'doctor', '--config', `${place.dir}/nowhere.yaml`),
    ]);

    expect(ended.map(({ code }) => code)).toEqual([2, 2, 2]);
  });

  it('ends with 0 when nothing is wrong, and names the config that it found', async () => {
    mkdirSync(join(place.dir, 'of-ann'));
    symlinkSync(place.dir, join(place.dir, 'of-ann/forgehand'));
    const { token } = await forge.control('POST', '/_sandbox/accounts', {
      login: 'modest',
      org: 'acme',
      scopes: ['write:issue', 'read:organization', 'read:repository', 'read:user'],
      token: 'of the modest one',
    });

    const { code, stdout } = await forgehand(
      { dir: place.dir, env: { ...place.env, FORGE_TOKEN: String(token), XDG_CONFIG_HOME: join(place.dir, 'of-ann') } },
      'doctor',
      '--fresh',
    );

    expect([code, stdout]).toEqual([0, expect.stringMatching(/nothing is wrong\n$/)]);
    expect(stdout.split('\n')[0]).toBe(`config: ${place.dir}/of-ann/forgehand/forgehand.yaml`);
  });

  it('check --online asks the forge for what the rules name, before a bot runs them', async () => {
    const where = ['--org', 'acme', '--rules', 'misspelt'];
    const offline = await run('check', ...where, '--json');
    const online = await run('check', ...where, '--online');
    const strict = await run('check', ...where, '--online', '--strict');
    const good = await run('check', '--online');

    expect([offline.code, JSON.parse(offline.stdout)]).toMatchObject([0, { orgs: [{ warnings: [] }] }]);
    expect([online.code, online.stdout]).toEqual([
      0,
      expect.stringMatching(/warning .*misspelt\/r\.yaml:4:\d+: the bot sees no user "olgaa" at the forge/),
    ]);
    expect(online.stdout).toMatch(/the bot sees no user "bot-of-acme"/);
    expect(strict.code).toBe(1);
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/^ok acme: 1 rule /m)]);
    expect(online.stdout + strict.stdout).not.toContain(SECRET);

    await forge.control('POST', '/_sandbox/faults', {
      calls: [{ name: 'down', on: ['getUser'], percent: 100, fault: { kind: 'status', when: 'before', status: 500 } }],
    });
    const unread = await run('check', ...where, '--online');
    expect([unread.code, unread.stdout]).toEqual([1, expect.stringMatching(/^not checked: /m)]);
    await forge.control('POST', '/_sandbox/faults', { calls: [] });
  });
});
