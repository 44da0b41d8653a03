import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Child } from '../support/child.js';
import { requireBuild } from '../support/built.js';

const folder = mkdtempSync(join(tmpdir(), 'fh-release-'));
const made = join(folder, 'made');
const keys = (): { own: string; publicKey: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    own: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const signer = keys();
const WORKFLOW = {
  GITHUB_SERVER_URL: 'https://forge.example',
  GITHUB_REPOSITORY: 'acme/forgehand',
  GITHUB_REF: 'refs/tags/v0.1.0',
  GITHUB_SHA: 'c'.repeat(40),
  GITHUB_RUN_NUMBER: '7',
  GITHUB_RUN_ID: '7',
};

const run = (script: string, args: readonly string[], env: Record<string, string> = {}) => {
  const { PATH = '', HOME = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [`deploy/release/${script}.mjs`, ...args], {
    env: { PATH, HOME, ...env },
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
};
const readJson = (name: string, from = made): Record<string, unknown> =>
  JSON.parse(readFileSync(join(from, name), 'utf8')) as Record<string, unknown>;
const keyFile = (name: string, pem: string): string => {
  writeFileSync(join(folder, name), pem);
  return join(folder, name);
};

/** @returns what verify says of a copy of the release that `change` spoiled */
function verifySpoiled(change: (copy: string) => void): { status: number | null; text: string } {
  const copy = join(folder, 'spoiled');
  rmSync(copy, { recursive: true, force: true });
  cpSync(made, copy, { recursive: true });
  change(copy);
  return run('verify', [copy, '--key', keyFile('public.pem', signer.publicKey)]);
}

beforeAll(() => {
  requireBuild();
  const { status, text } = run('make', [made], { ...WORKFLOW, FORGEHAND_SIGNING_KEY: signer.own });
  if (status !== 0) throw new Error(text);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('e2e/release', () => {
  it('holds package, chart, bill of materials, checksums, and a statement that says where they come from', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const named = [`forgehand-${version}.cdx.json`, `forgehand-${version}.tgz`, `forgehand-chart-${version}.tgz`];

    const statement = readJson('provenance.intoto.json');

    expect(readdirSync(made).sort()).toEqual(
      ['SHA256SUMS', 'provenance.dsse.json', 'provenance.intoto.json', ...named].sort(),
    );
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: named.map((name) => ({ name })),
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: WORKFLOW.GITHUB_SHA } }] },
        runDetails: { metadata: { invocationId: 'https://forge.example/acme/forgehand/actions/runs/7' } },
      },
    });
    expect(spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: made }).status).toBe(0);
  });

  it('the bill of materials has what is bundled and what is installed beside it, and nothing of the tests', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const { components } = readJson(`forgehand-${version}.cdx.json`) as {
      components: Array<{ name: string; hashes?: unknown[]; properties: [{ value: string }] }>;
    };
    const place = (name: string): string | undefined =>
      components.find((one) => one.name === name)?.properties[0].value;

    expect(['axios', 'yaml', '@electric-sql/pglite', 'jest', 'typescript'].map(place)).toEqual([
      'bundled',
      'bundled',
      'installed',
      undefined,
      undefined,
    ]);
    expect(components.filter(({ hashes }) => !hashes).map(({ name }) => name)).toEqual([]);
  });

  it('the signature holds, by its key alone', () => {
    expect(run('verify', [made, '--key', keyFile('public.pem', signer.publicKey)]).status).toBe(0);
    expect(run('verify', [made, '--key', keyFile('other.pem', keys().publicKey)])).toMatchObject({
      status: 1,
      text: expect.stringContaining('no signature of it is by the key'),
    });
  });

  it.each<[string, (copy: string) => void, string]>([
    ['a package with one byte more', (copy) => appendFileSync(join(copy, tarballOf(copy)), 'x'), 'forgehand-'],
    ['a package with one byte more, and its checksum', (copy) => spoilWithSum(copy), 'the statement is not about'],
    ['a file that is no part of it', (copy) => writeFileSync(join(copy, 'more.txt'), ''), 'more.txt'],
    ['a statement with another subject', (copy) => spoilStatement(copy), 'no signature of it'],
  ])('%s is refused', (_, change, why) => {
    expect(verifySpoiled(change)).toMatchObject({ status: 1, text: expect.stringContaining(why) });
  });

  it('without a key nothing is signed, and it says so', () => {
    const target = join(folder, 'unsigned');

    const { status, text } = run('make', [target]);

    expect([status, text]).toEqual([0, expect.stringContaining('not signed: FORGEHAND_SIGNING_KEY is not set')]);
    expect(existsSync(join(target, 'provenance.dsse.json'))).toBe(false);
  });

  it('is published once, however often: the chart, and the release with its files', async () => {
    const forge = await aForge();
    try {
      const env = { ...WORKFLOW, GITHUB_SERVER_URL: forge.url, GITHUB_TOKEN: 'secret-token' };
      const publish = async (): Promise<string> => {
        const child = new Child(['deploy/release/publish.mjs', made, 'v0.1.0'], env);
        const { code } = await child.ended;
        return `${code} ${child.stdout}${child.stderr}`;
      };

      forge.failNext('/assets');
      expect(await publish()).toMatch(/^1 /);
      expect(forge.release()).toMatchObject({ draft: true });
      expect(await publish()).toMatch(/^0 .*chart: is there already/s);
      const once = forge.release();
      expect(once).toMatchObject({ tag_name: 'v0.1.0', draft: false });
      expect(once?.assets.map(({ name }) => name).sort()).toEqual(readdirSync(made).sort());

      expect(await publish()).toContain('0 files added');
      expect(forge.release()).toEqual(once);
      expect(forge.charts).toBe(1);
    } finally {
      forge.close();
    }
  });
});

const tarballOf = (copy: string): string => readdirSync(copy).find((name) => /^forgehand-\d.*\.tgz$/.test(name)) ?? '';

function spoilWithSum(copy: string): void {
  appendFileSync(join(copy, tarballOf(copy)), 'x');
  const names = readdirSync(copy).filter((name) => !/^(SHA256SUMS|provenance)/.test(name));
  writeFileSync(join(copy, 'SHA256SUMS'), spawnSync('sha256sum', names.sort(), { cwd: copy }).stdout);
}

function spoilStatement(copy: string): void {
  const envelope = readJson('provenance.dsse.json', copy) as { payload: string };
  const text = Buffer.from(envelope.payload, 'base64').toString().replace('acme', 'evil');
  writeFileSync(
    join(copy, 'provenance.dsse.json'),
    JSON.stringify({ ...envelope, payload: Buffer.from(text).toString('base64') }),
  );
}

interface Release {
  tag_name: string;
  draft: boolean;
  assets: Array<{ name: string }>;
}

/** As much of a forge as a release is published to. */
async function aForge() {
  let release: Release | null = null;
  let failing: string | null = null;
  const seen = { charts: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://forge');
      const answer = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      };
      if (request.headers.authorization !== 'token secret-token') return answer(401, {});
      if (failing !== null && url.pathname.endsWith(failing)) {
        failing = null;
        return answer(500, {});
      }
      if (url.pathname === '/api/packages/acme/helm/api/charts') {
        if (seen.charts > 0) return answer(409, {});
        seen.charts += 1;
        return answer(201, {});
      }
      if (request.method === 'GET') return answer(200, release === null ? [] : [{ id: 1, ...release }]);
      if (url.pathname.endsWith('/assets')) {
        release?.assets.push({ name: url.searchParams.get('name') ?? '' });
        return answer(201, {});
      }
      const given = JSON.parse(Buffer.concat(chunks).toString()) as Partial<Release>;
      release = { tag_name: '', draft: false, assets: [], ...release, ...given };
      return answer(201, { id: 1, ...release });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: () => (release === null ? null : structuredClone(release)),
    failNext: (path: string) => (failing = path),
    get charts() {
      return seen.charts;
    },
    close: () => server.close(),
  };
}
