import { request } from 'undici';
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../../src/core/json.js';
import type { ProfileName } from '../../../src/sandbox/profiles.js';
import { FORGEHAND } from '../../e2e/support/built.js';
import { Child } from '../../e2e/support/child.js';
import { waitFor } from '../../e2e/support/wait-for.js';

export interface Repo {
  readonly id: number;
  readonly name: string;
  /** As the forge numbers it: a delivery that gives the organization another number is refused. */
  readonly owner: Owner;
}

export interface Owner {
  readonly id: number;
  readonly login: string;
}

/** The sandbox as a process of its own, with organization acme; the bot is a site administrator and one of the organization's owners. */
export class ForgeProcess {
  readonly repos: Repo[] = [];
  botToken = '';

  private constructor(
    private readonly child: Child,
    readonly url: string,
    private readonly token: string,
    private readonly admin: string,
  ) {}

  static async start(profile: ProfileName, repos: number): Promise<ForgeProcess> {
    const child = new Child([FORGEHAND, 'sandbox', '--empty', '--port', '0', '--json', '--profile', profile], {});
    let facts: JsonObject | null = null;
    await waitFor(async () => {
      facts = tryParse(child.stdout);
      return facts !== null || !child.isAlive;
    }, 30_000);
    const told = facts as JsonObject | null;
    if (!told) throw new Error(`the sandbox did not start: ${child.stderr.slice(-2000)}`);
    const { login, password } = told['admin'] as { login: string; password: string };
    const forge = new ForgeProcess(
      child,
      String(told['url']),
      String(told['control_token']),
      Buffer.from(`${login}:${password}`).toString('base64'),
    );
    await forge.furnish(repos);
    return forge;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async control(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<JsonObject> {
    return this.ask(method, this.url + path, `Bearer ${this.token}`, body);
  }

  /** The API in the site administrator's name. */
  async api(method: 'GET' | 'POST', path: string, body?: object): Promise<JsonObject> {
    return this.ask(method, `${this.url}/api/v1${path}`, `Basic ${this.admin}`, body);
  }

  act(act: string, params: object): Promise<JsonObject> {
    return this.control('POST', '/_sandbox/act', { as: 'olga', act, ...params });
  }

  async stop(): Promise<void> {
    await this.child.end('SIGTERM');
  }

  /** A further organization of olga's, with an account of ours that is one of its owners. */
  async addOrganization(org: string, login: string, repos: number): Promise<{ token: string; repos: Repo[] }> {
    await this.given({ user: login });
    const owner = await this.givenOrganization(org);
    const token = String((await this.control('POST', '/_sandbox/accounts', { login, org, team: 'Owners' }))['token']);
    return { token, repos: await this.addRepositories(owner, repos) };
  }

  private async furnish(repos: number): Promise<void> {
    for (const entry of [{ user: 'olga' }, { user: 'bot', admin: true }]) await this.given(entry);
    const acme = await this.givenOrganization('acme');
    this.botToken = String(
      (await this.control('POST', '/_sandbox/accounts', { login: 'bot', org: 'acme', team: 'Owners' }))['token'],
    );
    this.repos.push(...(await this.addRepositories(acme, repos)));
  }

  private async givenOrganization(login: string): Promise<Owner> {
    return { id: await this.given({ org: login, owner: 'olga' }), login };
  }

  private async addRepositories(owner: Owner, count: number): Promise<Repo[]> {
    const made: Repo[] = [];
    for (let n = 0; n < count; n += 1) {
      const name = `r-${n}`;
      made.push({ id: await this.given({ repo: `${owner.login}/${name}`, auto_init: true }), name, owner });
    }
    return made;
  }

  /** @returns its number */
  private async given(entry: object): Promise<number> {
    return Number((await this.control('POST', '/_sandbox/given', entry))['id']);
  }

  private async ask(method: string, url: string, authorization: string, body?: object): Promise<JsonObject> {
    // A connection of its own: one kept alive may be closed by the other side in the very moment it is used again.
    const answer = await request(url, {
      method: method as 'GET',
      headers: { authorization, 'content-type': 'application/json' },
      reset: true,
      ...(body ? { body: stringifyJson(body) } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${text}`);
    return text === '' ? {} : (parseJson(text) as JsonObject);
  }
}

function tryParse(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
