import { existsSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { aPlace, type Place } from '../support/a-place.js';
import { FORGEHAND } from '../support/built.js';
import { Child } from '../support/child.js';

let place: Place | undefined;
let child: Child | undefined;
afterEach(async () => {
  await child?.end('SIGKILL');
  place?.remove();
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'a bot that gets %s while it starts ends well, with everything closed',
  async (signal) => {
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
    const dir = place.dir;
    child = new Child([FORGEHAND, 'start', '--config', place.configFile], { TOKEN: 'x'.repeat(40) }, dir);
    await until(() => existsSync(`${dir}/data`));
    const before = child.stdout;

    expect(await child.end(signal)).toEqual({ code: 0, signal: null });

    expect(before).not.toContain('forgehand.started');
    expect(child.stderr).toBe('');
  },
);
