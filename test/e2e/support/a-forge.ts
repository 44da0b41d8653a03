import type { JsonObject } from '../../../src/core/json.js';
import type { LedgerEntry } from '../../../src/sandbox/ledger.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';

/** A sandbox with organization acme, owned by olga, and the bot as one of its owners, else as administrator of its repositories. */
export interface Forge {
  readonly sandbox: Sandbox;
  readonly apiUrl: string;
  readonly botToken: string;
  /** Do something in somebody's name (default olga); answers the act's result. */
  act(act: string, params: JsonObject, as?: string): Promise<unknown>;
  control(method: 'GET' | 'POST', path: string, body?: JsonObject): Promise<JsonObject>;
  /** A hook of the organization that tells every kind of event. */
  hook(url: string, secret: string): Promise<void>;
  /** Read the API as the site administrator; null for 404. */
  get<T>(path: string): Promise<T | null>;
  /** Requests of the bot that changed something, oldest first. */
  botWrites(): LedgerEntry[];
  close(): Promise<void>;
}

const ALL_EVENTS = [
  'create',
  'delete',
  'fork',
  'push',
  'issues',
  'issue_assign',
  'issue_label',
  'issue_milestone',
  'issue_comment',
  'pull_request',
  'repository',
  'release',
  'wiki',
  'package',
  'status',
  'workflow_run',
  'workflow_job',
];

export async function aForge(options: { botIsOwner?: boolean } = {}): Promise<Forge> {
  const sandbox = await startSandbox();
  const admin = `Basic ${Buffer.from(`${sandbox.admin.login}:${sandbox.admin.password}`).toString('base64')}`;
  const control = async (method: 'GET' | 'POST', path: string, body?: JsonObject): Promise<JsonObject> => {
    const answer = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${sandbox.controlToken}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  };
  const given: JsonObject[] = [
    { user: 'olga' },
    { user: 'bot' },
    { org: 'acme', owner: 'olga' },
    {
      team: 'bots',
      org: 'acme',
      permission: 'admin',
      members: ['bot'],
      units: ['repo.code', 'repo.issues', 'repo.releases', 'repo.actions'],
      includes_all_repositories: true,
    },
  ];
  for (const entry of given) await control('POST', '/_sandbox/given', entry);
  // Variables of an organization are its owners' alone.
  const { token } = await control('POST', '/_sandbox/accounts', {
    login: 'bot',
    org: 'acme',
    team: options.botIsOwner === false ? 'bots' : 'Owners',
  });
  return {
    sandbox,
    apiUrl: sandbox.apiUrl,
    botToken: String(token),
    control,
    act: async (act, params, as = 'olga') => (await control('POST', '/_sandbox/act', { as, act, ...params })).result,
    hook: async (url, secret) =>
      void (await control('POST', '/_sandbox/hooks', {
        org: 'acme',
        url: `${url}/webhooks/acme`,
        secret,
        events: ALL_EVENTS,
      })),
    get: async <T>(path: string) => {
      const answer = await fetch(sandbox.apiUrl + path, { headers: { authorization: admin } });
      if (answer.status === 404) return null;
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    botWrites: () =>
      sandbox.parts.ledger.entries.filter(
        ({ caller, method, applied }) => caller === 'bot' && method !== 'GET' && applied.length > 0,
      ),
    close: () => sandbox.close(),
  };
}
