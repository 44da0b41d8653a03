import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How often the demo's bot reads the feed; in earnest once a minute. */
const FEED_EVERY_S = 1;

/** What the demo does otherwise than an operator would. */
export const TRUSTED =
  'the policies of the demo are trusted (orgs[].trusted: true); elsewhere a new one waits once for forgehand approve';

export interface OperatorFile {
  /** The operator's folder: config, secrets and, later, data. */
  readonly folder: string;
  readonly org: string;
  /** How fast the bot may call the demo's forge. */
  readonly forge: { readonly apiUrl: string; readonly concurrency: number; readonly ratePerS: number };
  readonly token: string;
  readonly hookSecret: string;
  readonly rules: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
}

/**
 * Writes what an operator of the demo's organization would: the config, and the secrets it refers to, in files that nobody else can read.
 * @returns the config's path
 */
export function writeOperatorFile({ folder, org, forge, token, hookSecret, rules, host, port }: OperatorFile): string {
  mkdirSync(join(folder, 'secrets'), { mode: 0o700 });
  const secret = (name: string, value: string): { file: string } => {
    writeFileSync(join(folder, 'secrets', name), value, { mode: 0o600 });
    return { file: `secrets/${name}` };
  };
  const config = {
    forges: [
      {
        id: 'demo',
        base_url: forge.apiUrl,
        ...(forge.apiUrl.startsWith('http:')
          ? { insecure_http: 'the demo, with an account and a token of its own' }
          : {}),
        auth: { type: 'token', token: secret('forge-token', token) },
        concurrency: forge.concurrency,
        rate_per_s: forge.ratePerS,
      },
    ],
    orgs: [
      {
        name: org,
        forge: 'demo',
        hooks: [{ id: org, secret: secret('hook-secret', hookSecret) }],
        rules: { path: rules },
        // Nobody watches the demo to approve the first plan of each policy.
        trusted: true,
        powers: ['repo.create_for_user', 'user_settings.update'],
        mirror_hosts: ['mirror.example.org'],
        secrets: { mirror_token: secret('mirror-token', randomBytes(16).toString('hex')) },
        feed: { every_s: FEED_EVERY_S },
      },
    ],
    store: { url: 'embedded:./data' },
    server: { host, port },
    // Beside whatever else runs on this machine.
    console: { listen: 0 },
  };
  const file = join(folder, 'forgehand.yaml');
  // JSON is YAML.
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return file;
}
