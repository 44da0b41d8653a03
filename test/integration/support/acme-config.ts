import type { TestForge } from './a-forge.js';

/** Deviations from what most bots of these specs are told; each key replaces the one of the same name. */
export interface AcmeOptions {
  readonly org?: object;
  readonly server?: object;
  /** Default 200. */
  readonly ratePerS?: number;
}

/**
 * The config of an embedded bot of one organization, `acme`, at one forge, with rules in the folder `rules`. Its environment: `FORGE_TOKEN`,
 * `HOOK` (the secret of the hook `acme`).
 */
export function acmeConfig({ apiUrl }: Pick<TestForge, 'apiUrl'>, { org, server, ratePerS }: AcmeOptions = {}): object {
  return {
    forges: [
      {
        id: 'main',
        base_url: apiUrl,
        auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
        rate_per_s: ratePerS ?? 200,
      },
    ],
    orgs: [
      {
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK' } }],
        rules: { path: 'rules' },
        // A policy that is new to a store waits for a person; `plans` has a bot where it does.
        trusted: true,
        feed: { every_s: 0.5 },
        ...org,
      },
    ],
    store: { url: 'embedded:./data' },
    queue: { sweep_s: 0.5 },
    server: { host: '127.0.0.1', port: 0, ...server },
  };
}
