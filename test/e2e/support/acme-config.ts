/** Deviations from the config that most bots of these specs have. */
export interface AcmeParts {
  /** Keys of the forge's entry. */
  readonly forge?: object;
  /** Keys of the organization's entry. */
  readonly org?: object;
  /** Any other key of the file, such as `store`: it replaces the one of the same name. */
  readonly [key: string]: object | undefined;
}

/** Said once, where somebody reads what a run of tests prints. */
let said = false;
function sayTrusted(): void {
  if (!said)
    process.stderr.write('e2e: new policies are trusted (orgs[].trusted: true); nobody is there to approve them\n');
  said = true;
}

/**
 * The config of an embedded bot of one organization, `acme`, with rules in the folder `rules`. Events come by deliveries alone: the bot polls too
 * rarely to matter. Its environment: `FORGE_TOKEN`, `HOOK_SECRET`.
 */
export function acmeConfig(apiUrl: string, { forge, org, ...others }: AcmeParts = {}): object {
  sayTrusted();
  return {
    forges: [{ id: 'main', base_url: apiUrl, auth: { type: 'token', token: { env: 'FORGE_TOKEN' } }, ...forge }],
    orgs: [
      {
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
        rules: { path: 'rules' },
        // A policy that is new to a store waits for a person; `plan-and-apply` has a bot where it does.
        trusted: true,
        feed: { every_s: 3600 },
        tasks: { calls_per_poll: 0 },
        ...org,
      },
    ],
    store: { url: 'embedded:./data' },
    server: { host: '127.0.0.1', port: 0 },
    ...others,
  };
}
