import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aSandboxProcess, type SandboxProcess } from '../support/a-sandbox-process.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';

interface Verdict {
  equal: boolean;
  wrong: unknown[];
}

describe('demo on a forge known by address and credentials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fh-e2e-real-'));
  let forge: SandboxProcess;
  beforeAll(async () => {
    requireBuild();
    forge = await aSandboxProcess('--profile', 'forgejo');
  });
  afterAll(async () => {
    await forge.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const demo = (...args: string[]): Child =>
    new Child([FORGEHAND, 'demo', '--exit', '--json', '--forge', forge.url, ...args], forge.env, folder);

  it('leaves there what the rules ask for, by deliveries and by polling, and then nothing at all', async () => {
    const before = await forge.owners();
    const child = demo();
    const { code } = await child.ended;

    expect({
      code,
      said: code === 0 ? '' : child.stderr.slice(-4000),
      wrong: (JSON.parse(child.stdout || '{}') as Verdict).wrong,
    }).toEqual({
      code: 0,
      said: '',
      wrong: [],
    });
    expect(child.stderr).toMatch(/tags \S+\/docs v0\.2\.0.* \d* ?found in the feed/);
    expect(child.stderr).toMatch(/forges a delivery.*refused with 401/);
    expect(child.stderr).toContain('skipped act: a job of a workflow that fails');
    expect(await forge.owners()).toEqual(before);
  });

  it('removes everything when it is stopped on the way', async () => {
    const before = await forge.owners();
    const child = demo();
    for (let owners = before; owners.length < before.length + 5 && child.isAlive;) owners = await forge.owners();
    const { code } = await child.end('SIGINT');

    expect({ code, owners: await forge.owners() }).toEqual({ code: 130, owners: before });
  });
});
