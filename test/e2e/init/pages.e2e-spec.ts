import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { DoctorPage } from '../../../src/api/operations/answers.js';
import { ROOT } from '../../services/with-services.mjs';
import { until } from '../../services/until.js';
import { aForge } from '../support/a-forge.js';
import { page, useClones } from './clones.js';

describe('e2e/init/pages', () => {
  const { keep, clone, start } = useClones();

  it('README.md: its first rule passes the check', async () => {
    const place = clone();
    const [, text = ''] = /```yaml\n(# config\/rules\/acme\/first\.yaml\n[\s\S]*?)```/.exec(page('README.md')) ?? [];
    writeFileSync(join(place.dir, 'first.yaml'), text);

    expect(text.trimEnd().split('\n').length).toBeGreaterThan(3);
    expect(await place.sh('npx forgehand check first.yaml')).toEqual({
      code: 0,
      out: expect.stringContaining('ok acme: 1 rule'),
    });
  });

  it('docs/connecting.md: its steps, as they stand there, lead to a bot that hears the organization', async () => {
    const place = clone();
    const forge = keep(await aForge(), (one) => one.close());
    await forge.act('repository.create', { repo: 'acme/app' });
    const text = page('docs/connecting.md');
    const step = (n: number): string => {
      const [, found = ''] = new RegExp(`^${n}\\. ([\\s\\S]*?)(?=^\\d+\\. |^[A-Z#])`, 'm').exec(text) ?? [];
      return found.replace(/\s+/g, ' ');
    };
    const commands = [3, 4, 5, 7].map((n) =>
      [...step(n).matchAll(/`([^`]*\bforgehand (?:check|start|hook|doctor|status|deliveries|runs)\b[^`]*)`/g)].map(
        ([, command = '']) => command,
      ),
    );
    // 1 and 2: an account of the team Owners that administers the site, since the rules of the example use such a power.
    const scopes = [...step(2).matchAll(/`((?:read|write):\w+)`/g)].map(([, scope = '']) => scope);
    const { token } = await forge.control('POST', '/_sandbox/accounts', {
      login: 'forgehand',
      org: 'acme',
      admin: true,
      scopes,
    });
    // What the page exports, with the random values made as it says.
    const exported = [...[step(2), step(3)].join(' ').matchAll(/`export (\w+)=([^`]*)`/g)].map(
      ([, name = '', value = '']) => ({
        name,
        value,
      }),
    );
    const env = Object.fromEntries(
      exported.map(({ name, value }) => [
        name,
        name === 'FORGE_TOKEN' ? String(token) : value === '…' ? 'a-password' : 'a1'.repeat(32),
      ]),
    );
    // 3: the example with the address of the forge; 5: where the forge reaches the bot.
    cpSync(join(ROOT, 'config'), join(place.dir, 'config'), { recursive: true });
    const example = place.read('config/forgehand.example.yaml');
    const port = 18_474;
    const config = example
      .replace('https://git.example.org/api/v1', forge.apiUrl)
      .replace(
        'server: { port: 8080 }',
        `server: { port: ${port}, public_url: "http://127.0.0.1:${port}" }\nconsole: { listen: ${port + 1} }`,
      );
    writeFileSync(join(place.dir, 'config/forgehand.yaml'), config);

    expect(exported.map(({ name }) => name)).toEqual(['FORGE_TOKEN', 'ACME_HOOK_SECRET', 'ACME_MIRROR_TOKEN']);
    expect(commands).toEqual([
      ['npx forgehand check'],
      ['npm ci && npm run build && npx forgehand start'],
      ['npx forgehand hook install'],
      ['npx forgehand doctor --fresh', 'npx forgehand status', 'npx forgehand deliveries', 'npx forgehand runs'],
    ]);
    expect(config).toContain('public_url');
    expect(await place.sh('npx forgehand check', env)).toEqual({ code: 0, out: expect.stringContaining('ok acme') });

    const bot = start(place, 'npx forgehand start', env);
    await bot.line((line) => (line.includes('"forgehand.started"') ? true : undefined));
    const installed = await place.sh('npx forgehand hook install');
    await forge.act('repository.create', { repo: 'acme/tools' });
    const heard = async (): Promise<boolean> => /webhook/.test((await place.sh('npx forgehand deliveries --json')).out);
    await until(heard, 500);
    const doctor = await place.sh('npx forgehand doctor --fresh --json');
    const report = JSON.parse(doctor.out) as DoctorPage;
    const looks = [];
    for (const command of ['npx forgehand status', 'npx forgehand deliveries', 'npx forgehand runs'])
      looks.push((await place.sh(command)).code);

    expect(installed).toEqual({ code: 0, out: expect.stringMatching(/webhook \d+ of acme is made/) });
    expect(report.rows.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(report.rows.find(({ check }) => check === 'delivery.arrives')?.state).toBe('ok');
    expect(looks).toEqual([0, 0, 0]);
  });
});
