import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { aPlace, type Place } from '../support/a-place.js';
import { acmeConfig } from '../support/acme-config.js';
import { startBot } from '../support/bot.js';

let place: Place | undefined;
afterEach(() => place?.remove());

it('starts the embedded bot without the copy of undici that Node makes its fetch of', async () => {
  place = aPlace({
    // Nobody listens there.
    config: acmeConfig('http://127.0.0.1:9/api/v1'),
    files: { 'rules/first.yaml': 'version: 1\norg: acme\nrules: []\n' },
  });
  const told = place.write(
    'tell.cjs',
    `const { isMainThread } = require('node:worker_threads');
     if (isMainThread) process.on('exit', () => require('node:fs').writeFileSync('loaded.json', JSON.stringify(process.moduleLoadList)));`,
  );
  const env = { FORGE_TOKEN: 'forge-token', HOOK_SECRET: 'h'.repeat(40), NODE_OPTIONS: `--require ${told}` };
  const bot = await startBot({ ...place, env });

  expect(await bot.stop()).toEqual({ code: 0, signal: null });

  const loaded = JSON.parse(readFileSync(`${place.dir}/loaded.json`, 'utf8')) as string[];
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});
