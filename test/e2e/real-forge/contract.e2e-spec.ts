import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../services/with-services.mjs';
import { aSandboxProcess, type SandboxProcess } from '../support/a-sandbox-process.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';

const TIMEOUT_MS = 240_000;
/** The committed selection: stories of every recorded server, the same everywhere. */
const RECORDINGS = join(ROOT, 'test/recordings');

function contract(forge: SandboxProcess, ...args: string[]): Child {
  const program = [
    '--import',
    join(ROOT, 'test/register-swc.mjs'),
    join(ROOT, 'test/contract/main.ts'),
    '--url',
    forge.url,
    '--recordings',
    RECORDINGS,
    '--seed',
    '7',
    ...args,
  ];
  return new Child(program, forge.env, ROOT);
}

interface Report {
  totals: { steps: number; equal: number };
  skipped: Array<{ story: string; why: string }>;
  left: string[];
}

describe('contract on a server known by address and credentials', () => {
  beforeAll(requireBuild);

  describe.each([
    ['gitea', 'gitea-1.27'],
    ['forgejo', 'forgejo-15'],
  ])('%s', (profile, server) => {
    let forge: SandboxProcess;
    beforeAll(async () => {
      forge = await aSandboxProcess('--profile', profile);
    });
    afterAll(() => forge.end());

    it(
      'is held to the recordings of its own version, and is as it was afterwards',
      async () => {
        const before = await forge.owners();
        const child = contract(forge, '--json');
        const { code } = await child.ended;
        const report = JSON.parse(child.stdout || '{}') as Report;

        expect({ code, left: report.left, stderr: code === 0 ? '' : child.stderr.slice(-3000) }).toEqual({
          code: 0,
          left: [],
          stderr: '',
        });
        expect(report.totals.equal).toBe(report.totals.steps);
        expect(report.totals.steps).toBeGreaterThan(50);
        expect(report.skipped).toContainEqual({
          story: `${server}/actions-runs`,
          why: expect.stringContaining('runner') as unknown as string,
        });
        expect(await forge.owners()).toEqual(before);
      },
      TIMEOUT_MS,
    );

    it(
      'is as it was when stopped in the middle of a story',
      async () => {
        const before = await forge.owners();
        const child = contract(forge, '--only', 'labels');
        await child.line((line) => (line.includes('labels: ') ? line : undefined));
        for (let owners = before; owners.length === before.length && child.isAlive;) owners = await forge.owners();
        const { code } = await child.end('SIGINT');

        expect({ code, owners: await forge.owners() }).toEqual({ code: 130, owners: before });
      },
      TIMEOUT_MS,
    );
  });

  it(
    'refuses to play without credentials of a site administrator',
    async () => {
      const forge = await aSandboxProcess();
      const child = contract({ ...forge, env: {} });
      const { code } = await child.ended;
      await forge.end();

      expect(code).toBe(1);
      expect(child.stderr).toContain('FORGEHAND_ADMIN_TOKEN');
    },
    TIMEOUT_MS,
  );
});
