import { afterEach, describe, expect, it } from '@jest/globals';
import { answer, startScriptedServer, type ScriptedServer } from '../../../test/fakes/scripted-server.js';
import { Secret } from '../../core/secret.js';
import type { ForgeClient } from '../forge-client.js';
import { createForgeClient } from './create-forge-client.js';

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const at = { owner: 'acme', repo: 'app' };
const names = (count: number): string[] => Array.from({ length: count }, (_, number) => `f${number}`);

/** A forge that answers op 5 for `size` bytes of content per file, at most `most` results, `missing` ones as null. */
async function forge(options: {
  most?: number;
  size?: number;
  missing?: string[];
  twist?: (entries: unknown[]) => unknown[];
}): Promise<{
  client: ForgeClient;
  asked: () => string[][];
}> {
  const { most = 30, size = 4, missing = [], twist = (entries: unknown[]) => entries } = options;
  const server = await startScriptedServer((request, reply, socket) => {
    const { files } = JSON.parse(request.body) as { files: string[] };
    const entries = files
      .slice(0, most)
      .map((path) => (missing.includes(path) ? null : { path: path.replace(/^\.?\//, ''), content: 'A'.repeat(size) }));
    answer(200, JSON.stringify(twist(entries)))(request, reply, socket);
  });
  open.push(server);
  const client = createForgeClient({
    baseUrl: `${server.url}/api/v1`,
    auth: { type: 'token', token: new Secret('t0ken') },
    ratePerS: 1000,
  });
  return { client, asked: () => server.seen.map((request) => (JSON.parse(request.body) as { files: string[] }).files) };
}

describe('forge/http/complete-files', () => {
  it('asks again for the rest beyond the 30 results of an answer, keeping the order and the nulls', async () => {
    const { client, asked } = await forge({ missing: ['f0', 'f35', 'f69'] });

    const found = await client.getFiles({ ...at, body: { files: names(70) } });

    expect(found.map((entry) => entry?.path ?? null)).toEqual(
      names(70).map((name) => (['f0', 'f35', 'f69'].includes(name) ? null : name)),
    );
    expect(asked().map((files) => files.length)).toEqual([70, 40, 10]);
  });

  it('asks in halves when the answer is larger than 20 MB', async () => {
    const { client, asked } = await forge({ size: 6 * 1024 * 1024 });

    const found = await client.getFiles({ ...at, body: { files: names(5) } });

    expect(found.map((entry) => entry?.path)).toEqual(names(5));
    expect(asked().map((files) => files.join())).toEqual(['f0,f1,f2,f3,f4', 'f0,f1,f2', 'f3,f4']);
  });

  it('tells a single file that is larger than that as an error', async () => {
    const { client } = await forge({ size: 21 * 1024 * 1024 });

    await expect(client.getFiles({ ...at, body: { files: ['big'] } })).rejects.toMatchObject({
      kind: 'unknown',
      facts: { detail: 'too-large' },
    });
  });

  it('knows its files again under the names that servers give them', async () => {
    const { client } = await forge({});

    const found = await client.getFiles({ ...at, body: { files: ['/a', './b', 'c'] } });

    expect(found.map((entry) => entry?.path)).toEqual(['a', 'b', 'c']);
  });

  it('answers nothing for nothing, with one call', async () => {
    const { client, asked } = await forge({});

    await expect(client.getFiles({ ...at, body: { files: [] } })).resolves.toEqual([]);
    expect(asked()).toHaveLength(1);
  });

  it.each<[string, (entries: unknown[]) => unknown[]]>([
    ['in another order', (entries) => entries.reverse()],
    ['with more than asked', (entries) => [...entries, { path: 'x' }]],
    ['with none of what was asked', () => []],
  ])('takes an answer %s for an error', async (_, twist) => {
    const { client } = await forge({ twist });

    await expect(client.getFiles({ ...at, body: { files: names(3) } })).rejects.toMatchObject({
      kind: 'unknown',
      facts: { detail: 'shape' },
    });
  });
});
