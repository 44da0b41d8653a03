import { existsSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { aPlace, type Place } from '../support/a-place.js';
import { acmeConfig } from '../support/acme-config.js';
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
      // Nobody listens there.
      config: acmeConfig('http://127.0.0.1:9/api/v1'),
      files: { 'rules/first.yaml': 'version: 1\norg: acme\nrules: []\n' },
    });
    const dir = place.dir;
    child = new Child(
      [FORGEHAND, 'start', '--config', place.configFile],
      { FORGE_TOKEN: 'forge-token', HOOK_SECRET: 'h'.repeat(40) },
      dir,
    );
    await until(() => existsSync(`${dir}/data`));
    const before = child.stdout;

    expect(await child.end(signal)).toEqual({ code: 0, signal: null });

    expect(before).not.toContain('forgehand.started');
    expect(child.stdout).toContain('forgehand.stopped');
    expect(child.stderr).toBe('');
  },
);
