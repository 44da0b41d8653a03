import type { TestForge } from './a-forge.js';

/** Makes further organizations at the forge, and the bot an owner of each. @returns the token of the bot there */
export async function ownSeveral(forge: TestForge, further: readonly string[]): Promise<string> {
  let token = forge.botToken;
  for (const org of further) {
    await forge.control('/_sandbox/given', { org, owner: 'olga' });
    token = String((await forge.control('/_sandbox/accounts', { login: 'bot', org, team: 'Owners' }))['token']);
  }
  return token;
}

/** A bot of several organizations of one forge, embedded and without audits: each has its rules in a folder of its name. */
export function severalOrgs(
  { apiUrl }: Pick<TestForge, 'apiUrl'>,
  token: string,
  rules: Readonly<Record<string, string>>,
  { ratePerS, org, server }: { ratePerS: number; org: (name: string) => object; server?: object },
): { config: object; files: Record<string, string>; env: Record<string, string> } {
  return {
    config: {
      forges: [
        {
          id: 'main',
          base_url: apiUrl,
          auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
          rate_per_s: ratePerS,
        },
      ],
      orgs: Object.keys(rules).map((name) => ({
        name,
        forge: 'main',
        hooks: [],
        rules: { path: `rules/${name}` },
        ...org(name),
      })),
      store: { url: 'embedded:./data' },
      server: { host: '127.0.0.1', port: 0, ...server },
      housekeeping: { audits: false },
    },
    files: Object.fromEntries(Object.entries(rules).map(([name, text]) => [`rules/${name}/r.yaml`, text])),
    env: { FORGE_TOKEN: token },
  };
}
