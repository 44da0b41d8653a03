import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { given } from '../../builders/given.js';
import { readExcuses } from '../../contract/excuses.js';
import { ROOT } from '../../services/with-services.mjs';
import { aSandboxProcess, type SandboxProcess } from '../support/a-sandbox-process.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';

/** The committed selection: stories of every recorded server, the same everywhere. */
const RECORDINGS = join(ROOT, 'test/recordings');
/** Where the sandbox, which plays the real server here, is known to differ. */
const EXCUSES = join(ROOT, 'docs/forges.md');

function contract(forge: SandboxProcess, ...args: string[]): Child {
  const program = [
    '--import',
    join(ROOT, 'test/register-swc.mjs'),
    join(ROOT, 'test/contract/main.ts'),
    '--url',
    forge.url,
    '--recordings',
    RECORDINGS,
    '--excuses',
    EXCUSES,
    '--seed',
    '7',
    ...args,
  ];
  return new Child(program, forge.env, ROOT);
}

interface Report {
  steps: Array<{ story: string; n: number; outcome: string }>;
  totals: { steps: number; equal: number };
  skipped: Array<{ story: string; why: string }>;
  left: string[];
}

const PROFILES = [
  ['gitea', 'gitea-1.27'],
  ['forgejo', 'forgejo-15'],
] as const;

/** The steps in which the sandbox is known to differ from the server; nobody else may. */
function knownToDiffer(server: string): Array<Report['steps'][number]> {
  return readExcuses(EXCUSES)
    .filter((excuse) => excuse.server === server)
    .map(({ story, step }) => ({ story: `${server}/${story}`, n: step, outcome: 'excused' }));
}

describe('contract on a server known by address and credentials', () => {
  const forges = new Map<string, SandboxProcess>();
  const forgeOf = (profile: string): SandboxProcess => given(forges.get(profile));
  beforeAll(async () => {
    requireBuild();
    await Promise.all(
      PROFILES.map(async ([profile]) => forges.set(profile, await aSandboxProcess('--profile', profile))),
    );
  });
  afterAll(() => Promise.all([...forges.values()].map((forge) => forge.end())));

  // Both at once: the stories wait where their recorder waited, and that is most of their time.
  it('holds each server to the recordings of its own version, and leaves it as it was', async () => {
    await Promise.all(
      PROFILES.map(async ([profile, server]) => {
        const forge = forgeOf(profile);
        const before = await forge.owners();
        const child = contract(forge, '--json');
        const { code } = await child.ended;
        const report = JSON.parse(child.stdout || '{"steps":[]}') as Report;
        const known = knownToDiffer(server);
        const differing = report.steps
          .filter(({ outcome }) => outcome !== 'equal')
          .map(({ story, n, outcome }) => ({ story, n, outcome }));

        expect({
          server,
          code,
          differing,
          left: report.left,
          stderr: code === 0 ? '' : child.stderr.slice(-3000),
        }).toEqual({ server, code: 0, differing: known, left: [], stderr: '' });
        expect(report.totals.equal).toBe(report.totals.steps - known.length);
        expect(report.totals.steps).toBeGreaterThan(50);
        expect(report.skipped).toContainEqual({
          story: `${server}/actions-runs`,
          why: expect.stringContaining('runner') as unknown as string,
        });
        expect(await forge.owners()).toEqual(before);
      }),
    );
  });

  it.each(PROFILES.map(([profile]) => profile))(
    'leaves %s as it was when stopped in the middle of a story',
    async (profile) => {
      const forge = forgeOf(profile);
      const before = await forge.owners();
      const child = contract(forge, '--only', 'labels');
      await child.line((line) => (line.includes('labels: ') ? line : undefined));
      for (let owners = before; owners.length === before.length && child.isAlive;) owners = await forge.owners();
      const { code } = await child.end('SIGINT');

      expect({ code, owners: await forge.owners() }).toEqual({ code: 130, owners: before });
    },
  );

  it('refuses to play without credentials of a site administrator', async () => {
    const forge = await aSandboxProcess();
    const child = contract({ ...forge, env: {} });
    const { code } = await child.ended;
    await forge.end();

    expect(code).toBe(1);
    expect(child.stderr).toContain('FORGEHAND_ADMIN_TOKEN');
  });
});
