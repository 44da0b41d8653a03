import type { JsonObject } from '../../../src/core/json.js';
import type { LedgerEntry } from '../../../src/sandbox/ledger.js';
import type { ProfileName } from '../../../src/sandbox/profiles.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { NOBODY } from '../../../src/forge/probe.js';
import { Tap } from './tap.js';

/** A sandbox forge with one organization, owned by olga, with the bot among its owners; every request of the bot goes through a tap. */
export interface TestForge {
  readonly org: string;
  readonly botLogin: string;
  readonly botToken: string;
  /** Where the bot reaches it: the tap. */
  readonly apiUrl: string;
  readonly tap: Tap;
  readonly sandbox: Sandbox;
  control(path: string, body: JsonObject): Promise<JsonObject>;
  act(act: string, params: JsonObject): Promise<void>;
  hook(url: string, secret: string, more?: readonly string[]): Promise<void>;
  /** Headers of the site's administrator. */
  readonly asAdmin: Readonly<Record<string, string>>;
  /** Read the API as the site's administrator. */
  get<T>(path: string): Promise<T>;
  /** Requests of the bot, oldest first; not those that only ask whether an operation is there. */
  botCalls(): LedgerEntry[];
  close(): Promise<void>;
}

/** A connection that is used again may end just then, when the machine is busy. */
const OWN_CONNECTION = { connection: 'close' };

const EVENTS = ['push', 'create', 'delete', 'repository', 'release', 'issues'];

export async function aForge({
  org,
  profile = 'gitea',
  botLogin = 'bot',
}: {
  org: string;
  profile?: ProfileName;
  botLogin?: string;
}): Promise<TestForge> {
  const sandbox = await startSandbox({ profile });
  const tap = await Tap.to(sandbox.url);
  const control = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const headers = {
      ...OWN_CONNECTION,
      authorization: `Bearer ${sandbox.controlToken}`,
      'content-type': 'application/json',
    };
    const answer = await fetch(sandbox.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} ${JSON.stringify(body)}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as JsonObject;
  };
  for (const given of [{ user: 'olga' }, { user: botLogin }, { org, owner: 'olga' }])
    await control('/_sandbox/given', given);
  const { token } = await control('/_sandbox/accounts', { login: botLogin, org, team: 'Owners' });
  const asAdmin = {
    authorization: `Basic ${Buffer.from(`${sandbox.admin.login}:${sandbox.admin.password}`).toString('base64')}`,
  };
  return {
    org,
    botLogin,
    botToken: String(token),
    apiUrl: tap.url + new URL(sandbox.apiUrl).pathname,
    tap,
    sandbox,
    control,
    act: async (act, params) => void (await control('/_sandbox/act', { as: 'olga', act, ...params })),
    hook: async (url, secret, more = []) =>
      void (await control('/_sandbox/hooks', { org, url, secret, events: [...EVENTS, ...more] })),
    asAdmin,
    get: async <T>(path: string) =>
      (await (await fetch(sandbox.apiUrl + path, { headers: { ...OWN_CONNECTION, ...asAdmin } })).json()) as T,
    botCalls: () =>
      sandbox.parts.ledger.entries.filter(({ caller, path }) => caller === botLogin && !path.includes(NOBODY)),
    close: async () => {
      await tap.close();
      await sandbox.close();
    },
  };
}
