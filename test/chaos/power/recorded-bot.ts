import { join } from 'node:path';
import { aPlace, type Place } from '../../e2e/support/a-place.js';
import { ROOT } from '../../services/with-services.mjs';
import type { ForgeProcess } from '../rig/forge-process.js';
import { HOOK_SECRET, rulesFor } from '../workload.js';

/** The environment of a process whose calls to the disk below `root` are recorded in the file `journal`. */
export function recorderEnv(root: string, journal: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${join(ROOT, 'test/chaos/power/recorder.mjs')}`,
    POWER_ROOT: root,
    POWER_JOURNAL: journal,
  };
}

/** A bot with its embedded store in `<root>/data`, whose rules want one label for each delivery. */
export function aBotPlace(forge: ForgeProcess, root: string): Place {
  return aPlace({
    config: {
      forges: [
        {
          id: 'main',
          base_url: `${forge.url}/api/v1`,
          auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
          rate_per_s: 1000,
          settle_s: 2,
        },
      ],
      orgs: [
        {
          name: 'acme',
          forge: 'main',
          hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
          rules: { path: 'rules' },
          feed: { every_s: 3600 },
          tasks: { calls_per_poll: 0 },
          budgets: { per_rule: 'none', per_stranger: 'none' },
        },
      ],
      store: { url: `embedded:${join(root, 'data')}` },
      server: { host: '127.0.0.1', port: 0 },
      log: { level: 'info' },
    },
    files: { 'rules/rules.yaml': rulesFor(['label']) },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET },
  });
}
