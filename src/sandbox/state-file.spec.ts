import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seedAcme } from './seed/seed-acme.js';
import { type Sandbox, startSandbox } from './start-sandbox.js';

let dir: string;
let open: Sandbox[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fh-state-'));
  open = [];
});

afterEach(async () => {
  for (const sandbox of open) await sandbox.close();
  rmSync(dir, { recursive: true, force: true });
});

const file = (): string => join(dir, 'forge.state');

async function start(profile: 'gitea' | 'forgejo' = 'gitea'): Promise<Sandbox> {
  const sandbox = await startSandbox({ stateFile: file(), profile, populate: (parts) => seedAcme(parts, 3) });
  open.push(sandbox);
  return sandbox;
}

async function told(sandbox: Sandbox, path: string): Promise<unknown> {
  const { login, password } = sandbox.admin;
  const answer = await fetch(sandbox.apiUrl + path, {
    headers: { authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` },
  });
  return JSON.parse((await answer.text()).replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')) as unknown;
}

describe('sandbox/state-file', () => {
  it('keeps world, ledger, tokens, ids and the counts of faults over a restart', async () => {
    const first = await start();
    const repo = [...first.parts.world.repos.values()][0]?.name ?? '';
    const paths = [
      '/orgs/acme/repos',
      `/repos/acme/${repo}/issues?state=all`,
      `/repos/acme/${repo}/branches`,
      `/repos/acme/${repo}/labels`,
      '/orgs/acme/activities/feeds?limit=50',
    ];
    const before = await Promise.all(paths.map((path) => told(first, path)));
    first.parts.faults.use({
      seed: 1,
      calls: [{ name: 'x', on: 'reads', percent: 0, fault: { kind: 'cut', framed: true } }],
    });
    await first.close();

    const second = await start();

    expect(await Promise.all(paths.map((path) => told(second, path)))).toEqual(before);
    expect(second.controlToken).toBe(first.controlToken);
    expect(second.admin).toEqual(first.admin);
    expect(second.parts.faults.hits).toEqual({ x: 0 });
    expect(second.parts.ledger.entries.length).toBeGreaterThanOrEqual(2 * paths.length);
    expect(second.parts.world.nextId('label')).toBe(first.parts.world.nextId('label'));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('refuses a file of another profile, and one that is none', async () => {
    await (await start()).close();
    await expect(start('forgejo')).rejects.toThrow(/--profile gitea/);

    writeFileSync(file(), 'nothing of ours');
    await expect(start()).rejects.toThrow(/no state of this version/);
  });
});
