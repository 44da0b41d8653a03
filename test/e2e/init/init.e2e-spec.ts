import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { FORGEHAND } from '../support/built.js';
import { Child } from '../support/child.js';
import { statesOf, useClones, withTerminal, type Report } from './clones.js';

/** A forge with an account for the bot, whose token a person holds. */
async function aForgeWithToken(): Promise<{ forge: Forge; token: string }> {
  const forge = await aForge();
  const { token } = await forge.control('POST', '/_sandbox/accounts', {
    login: 'hand',
    org: 'acme',
    scopes: ['write:repository', 'write:issue', 'write:organization', 'write:user'],
  });
  await forge.act('repository.create', { repo: 'acme/app' });
  return { forge, token: String(token) };
}

describe('e2e/init', () => {
  const { keep, clone, terminal } = useClones();

  it('sets up a bot by flags alone, waits for the first delivery, and does nothing twice', async () => {
    const place = clone();
    const { forge, token } = await aForgeWithToken();
    keep(forge, (one) => one.close());
    const init = async (): Promise<{ report: Report; code: number | null; all: string }> => {
      const args = [
        'init',
        '--forge',
        forge.sandbox.url,
        '--token-stdin',
        '--org',
        'ACME',
        '--starters',
        'labels,milestones',
      ];
      const more = [
        '--public-url',
        'http://127.0.0.1:18473',
        '--port',
        '18473',
        '--install-hook',
        '--no-apply',
        '--json',
      ];
      const child = new Child([FORGEHAND, ...args, ...more], {}, place.dir, 'pipe');
      child.process.stdin?.end(`${token}\n`);
      const { code } = await child.ended;
      if (child.stdout === '') throw new Error(`init ended with ${code}: ${child.stderr}`);
      return { report: JSON.parse(child.stdout) as Report, code, all: child.stdout + child.stderr };
    };
    const acted = until(async () => {
      const hooks = await forge.get<unknown[]>('/orgs/acme/hooks');
      return (hooks?.length ?? 0) > 0;
    }, 100).then(() => forge.act('issue.open', { repo: 'acme/app', title: 'Hello' }));

    const [first] = await Promise.all([init(), acted]);
    const files = place.files();
    const second = await init();

    expect(statesOf(first.report)).toEqual({
      forge: 'done',
      token: 'done',
      secrets: 'done',
      config: 'done',
      schema: 'done',
      rules: 'done',
      check: 'done',
      webhook: 'done',
      // Kept, where it arrived before anybody looked.
      delivery: expect.stringMatching(/^(done|kept)$/),
      doctor: 'done',
      plan: 'left',
    });
    expect([first.report.org, first.code]).toEqual(['acme', 1]);
    expect(statesOf(second.report)).toMatchObject({
      token: 'kept',
      secrets: 'kept',
      config: 'kept',
      rules: 'kept',
      starters: 'kept',
      webhook: 'kept',
      delivery: 'kept',
    });
    expect(place.files()).toEqual(files);
    expect(Object.keys(files).sort()).toEqual([
      'config/forgehand.env',
      'config/forgehand.yaml',
      'rules/acme/labels.yaml',
      'rules/acme/milestones.yaml',
      'rules/forgehand.schema.json',
    ]);
    expect(statSync(join(place.dir, 'config/forgehand.env')).mode & 0o777).toBe(0o600);
    expect(files['config/forgehand.yaml']?.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    expect(files['config/forgehand.env']).toContain(token);
    expect(first.all + second.all + (files['config/forgehand.yaml'] ?? '')).not.toContain(token);
  });

  it('names the flag of what it must know, and the way out of a wrong answer', async () => {
    const place = clone();
    const { forge, token } = await aForgeWithToken();
    keep(forge, (one) => one.close());
    const init = (args: string, more: Record<string, string> = {}) => place.sh(`npx forgehand init ${args}`, more);

    const nothing = await init('');
    const noSandbox = new Child([FORGEHAND, 'sandbox', 'act'], {}, place.dir);
    await noSandbox.ended;
    const nowhere = await init('--forge http://127.0.0.1:9');
    const noToken = await init(`--forge ${forge.sandbox.url}`);
    const wrong = await init(`--forge ${forge.sandbox.url}`, { FORGE_TOKEN: 'f'.repeat(40) });
    const noOrg = await init(`--forge ${forge.sandbox.url} --org other`, { FORGE_TOKEN: token });
    const noSet = await init(`--forge ${forge.sandbox.url} --org acme --starters lables`, { FORGE_TOKEN: token });

    expect(nothing).toEqual({ code: 3, out: expect.stringContaining('Address of the forge: give --forge URL') });
    expect(nowhere.out).toContain('http://127.0.0.1:9 does not answer');
    expect(noToken.out).toContain('give --token-stdin, or FORGE_TOKEN in the environment');
    expect(wrong.out).toContain('the forge does not know this token');
    expect(noOrg.out).toContain('the account is in no organization other');
    expect(noSet.out).toContain('there is no "lables": choose among labels');
    expect(noSandbox.stderr).toContain('no such file');
    expect(place.has('config')).toBe(false);
  });

  withTerminal('reads secrets without echo, asks again at once, and says at Ctrl-C what remains', async () => {
    const place = clone();
    const { forge, token } = await aForgeWithToken();
    keep(forge, (one) => one.close());
    const init = terminal(place, 'npx forgehand init --port 18475');
    await init.see('Address of the forge');
    init.type(`${forge.sandbox.url}\r`);
    await init.see('generate a token with: write:repository');
    await init.see('Token of the bot');
    init.type('not-a-token\r');
    await init.see('the forge does not know this token');
    init.type(`\u0015${token}\r`);
    await init.see('it belongs to hand');
    await init.see('Organization');
    init.type('\r');
    await init.see('Where the forge reaches the bot');
    init.type('\r');
    await init.see('Starter sets');
    await init.see('submit');
    // The fifth are mirrors.
    init.type('5\r');
    await init.see('It is listed in mirror_hosts, so it may be internal; mirrors go to listed places alone');
    init.type('https://localhost/acme\r');
    await init.see('the host leads to the machine itself');
    expect(place.has('config')).toBe(false);
    init.type('\u0015https://nas.lan:8443/acme\r');
    await init.see('Account there');
    init.type('\r');
    await init.see('Its password or token');
    init.type('not-to-be-shown\r');
    await init.see('Install the webhook of acme');
    const code = await init.interrupt();

    expect(code).toBe(130);
    expect(init.shown).toContain('made so far: config/forgehand.env config/forgehand.yaml');
    expect(init.shown).toContain('to go on: the same command again');
    for (const secret of [token, 'not-to-be-shown']) {
      expect(init.shown).not.toContain(secret);
      expect(place.files()['config/forgehand.env']).toContain(secret);
    }
    expect(await forge.get('/orgs/acme/hooks')).toEqual([]);
    expect(place.files()['config/forgehand.yaml']).toMatch(/mirror_hosts: \[ ?"?nas\.lan:8443\/acme\/"? ?\]/);
    expect(Object.values(place.files()).join('\n')).not.toContain('https://localhost/acme');
  });

  const endWith = withTerminal.each<[NodeJS.Signals, number]>([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]);
  endWith(
    'says at a question what remains and how to remove it when it is told to end by %s',
    async (signal, exitCode) => {
      const place = clone();
      const { forge, token } = await aForgeWithToken();
      keep(forge, (one) => one.close());
      const flags = `--forge ${forge.sandbox.url} --org acme --starters labels --public-url http://127.0.0.1:18476`;
      const run = `exec npx forgehand init ${flags} --port 18476`;
      const init = terminal(place, `sh -c 'echo $$ > pid; FORGE_TOKEN=${token} ${run}'`);
      await init.see('Install the webhook of acme');

      process.kill(Number(place.read('pid')), signal);

      expect(await init.ended).toBe(exitCode);
      expect(init.shown).toContain('interrupted');
      expect(init.shown).toMatch(/made so far: config\/forgehand\.env .*; rm removes them/);
      expect(init.shown).toContain('to go on: the same command again');
      expect(await forge.get('/orgs/acme/hooks')).toEqual([]);
    },
  );
});
