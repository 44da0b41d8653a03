import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot } from '../support/bot.js';

let place: Place | undefined;
afterEach(() => place?.remove());

it('starts the embedded bot without the copy of undici that Node makes its fetch of', async () => {
  place = aPlace({
    config: {
      // Nobody listens there.
      forges: [{ id: 'main', base_url: 'http://127.0.0.1:9', auth: { type: 'token', token: { env: 'TOKEN' } } }],
      orgs: [
        { name: 'acme', forge: 'main', hooks: [{ id: 'acme', secret: { env: 'TOKEN' } }], rules: { path: 'rules' } },
      ],
      store: { url: 'embedded:./data' },
      server: { host: '127.0.0.1', port: 0 },
    },
    files: { 'rules/first.yaml': 'version: 1\norg: acme\nrules: []\n' },
  });
  const told = place.write(
    'tell.cjs',
    `const { isMainThread } = require('node:worker_threads');
     if (isMainThread) process.on('exit', () => require('node:fs').writeFileSync('loaded.json', JSON.stringify(process.moduleLoadList)));`,
  );
  const env = { TOKEN: 'x'.repeat(40), NODE_OPTIONS: `--require ${told}` };
  const bot = await startBot({ ...place, env });

  expect(await bot.stop()).toEqual({ code: 0, signal: null });

  const loaded = JSON.parse(readFileSync(`${place.dir}/loaded.json`, 'utf8')) as string[];
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});
