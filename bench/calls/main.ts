// npm run bench -- calls: processor time of one call to a forge, in rounds of the same length, beside the same call by axios alone and by Node alone.
import http from 'node:http';
import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import axios from 'axios';
import { callingAs } from '../../src/core/caller.js';
import { Secret } from '../../src/core/secret.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { readAll } from '../../src/forge/forge-client.js';
import { ROOT } from '../../test/services/with-services.mjs';
import { median, short } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';

const WAYS = ['list', 'write', 'axios-list', 'axios-write', 'node-list', 'node-write'] as const;
type Way = (typeof WAYS)[number];

const HELP = `npm run bench -- calls [options]

  --count N         calls of each kind in each round, 16 under way (default 4000)
  --rounds N        rounds (default 7)
  --only LIST       of ${WAYS.join(',')} (default all)
`;

const UNDER_WAY = 16;
const LABEL = { name: 'kind/bug', color: '#00aabb' };

function calls(baseUrl: string): Readonly<Record<Way, () => Promise<unknown>>> {
  const forge = createForgeClient({
    baseUrl,
    auth: { type: 'token', token: new Secret('a-token-of-some-length') },
    concurrency: UNDER_WAY,
    ratePerS: 1_000_000,
  });
  const bare = axios.create({ baseURL: baseUrl, headers: { authorization: 'token a-token-of-some-length' } });
  const agent = new http.Agent({ keepAlive: true });
  const byNode = (method: string, path: string, body?: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        `${baseUrl}${path}`,
        { method, agent, headers: { authorization: 'token a-token-of-some-length' } },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
          reply.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  const place = { owner: 'acme', repo: 'app' };
  const list = '/repos/acme/app/labels?page=1&limit=50';
  const path = '/repos/acme/app/labels';
  return {
    list: () => readAll(forge, 'listLabels', place),
    write: () => forge.createLabel({ ...place, body: LABEL }),
    'axios-list': () => bare.get(path, { params: { page: 1, limit: 50 } }),
    'axios-write': () => bare.post(path, LABEL),
    'node-list': () => byNode('GET', list),
    'node-write': () => byNode('POST', path, JSON.stringify(LABEL)),
  };
}

async function round(count: number, call: () => Promise<unknown>): Promise<number> {
  let left = count;
  const before = process.cpuUsage();
  await callingAs({ priority: 'webhook', org: 'acme' }, () =>
    Promise.all(
      Array.from({ length: UNDER_WAY }, async () => {
        while (left-- > 0) await call();
      }),
    ),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function main(): Promise<number> {
  const { count, rounds, only } = readOptions(HELP, { count: 4000, rounds: 7, only: someOf(WAYS) });
  const server = spawn(process.execPath, [join(ROOT, 'bench/calls/server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise<string>((resolve) => createInterface(server.stdout).once('line', resolve));
    const ways = calls(`http://127.0.0.1:${port}/api/v1`);
    const took = new Map<Way, number[]>(only.map((way) => [way, []]));
    for (const way of only) await round(count, ways[way]);
    for (let n = 0; n < rounds; n += 1) for (const [way, each] of took) each.push(await round(count, ways[way]));
    console.log(`load ${short(loadavg()[0] ?? 0)} at the end; microseconds of processor time for each call`);
    for (const [way, each] of took)
      console.log(`${way.padEnd(12)} least ${short(Math.min(...each))}, median ${short(median(each))}`);
  } finally {
    server.kill();
  }
  return 0;
}

process.exitCode = await main();
