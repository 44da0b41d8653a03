import { UserError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';

interface SandboxPlace {
  readonly url: string;
  readonly apiUrl: string;
  readonly controlToken: string;
}

/** A delivery as the sandbox's history tells it. */
export interface SentDelivery {
  readonly n: number;
  readonly delivery: string;
  readonly event_type: string;
  readonly state: 'waiting' | 'sent' | 'failed' | 'dropped';
  readonly status: number | null;
  readonly copy_of: string | null;
}

export interface ActAnswer {
  /** The API's object where the API can do the act. */
  readonly result: unknown;
  /** Kinds of what happened, in the sandbox's words. */
  readonly happened: readonly string[];
  /** What was queued for the hooks at once. */
  readonly deliveries: readonly SentDelivery[];
}

interface World {
  readonly orgs: ReadonlyArray<{
    readonly name: string;
    readonly teams: ReadonlyArray<{ readonly members: readonly string[] }>;
  }>;
  readonly repos: ReadonlyArray<{ readonly full_name: string; readonly archived: boolean; readonly empty: boolean }>;
}

/** The sandbox over HTTP, as anybody else would use it. */
export class SandboxClient {
  constructor(readonly place: SandboxPlace) {}

  async act(as: string, act: string, params: JsonObject): Promise<ActAnswer> {
    return (await this.control('POST', '/_sandbox/act', { as, act, ...params })) as unknown as ActAnswer;
  }

  /** Every act with an example of its parameters. */
  async acts(): Promise<
    ReadonlyArray<{ readonly act: string; readonly summary: string; readonly example: JsonObject }>
  > {
    return (await this.control('GET', '/_sandbox/act')).acts as never;
  }

  /** A member of the organization other than the bot, and a repository that people can work on. */
  async somebody(org: string, bot: string): Promise<{ person: string; repo: string }> {
    const { orgs, repos } = (await this.control('GET', '/_sandbox/world')) as unknown as World;
    const person = orgs
      .find(({ name }) => name === org)
      ?.teams.flatMap(({ members }) => members)
      .find((member) => member !== bot);
    const repo = repos.find((one) => one.full_name.startsWith(`${org}/`) && !one.archived && !one.empty);
    if (person === undefined || !repo)
      throw new UserError('SANDBOX_EMPTY', `the sandbox has no organization ${org} with people and repositories`);
    return { person, repo: repo.full_name };
  }

  async account(wish: JsonObject): Promise<{ login: string; token: string; id: number }> {
    return (await this.control('POST', '/_sandbox/accounts', wish)) as { login: string; token: string; id: number };
  }

  async hook(wish: JsonObject): Promise<void> {
    await this.control('POST', '/_sandbox/hooks', wish);
  }

  async token(user: string): Promise<string> {
    return String((await this.control('POST', '/_sandbox/token', { user })).token);
  }

  async fault(wish: JsonObject): Promise<void> {
    await this.control('POST', '/_sandbox/deliveries', wish);
  }

  /** Deliveries after the given number, once nothing is on its way any more. */
  async deliveriesAfter(n: number): Promise<SentDelivery[]> {
    const { deliveries } = await this.control('GET', `/_sandbox/deliveries?settled=true&after=${n}`);
    return deliveries as unknown as SentDelivery[];
  }

  /** @returns null for 404 */
  async get(path: string, token: string): Promise<unknown> {
    const answer = await fetch(`${this.place.apiUrl}${path}`, { headers: { authorization: `token ${token}` } });
    if (answer.status === 404) return null;
    if (!answer.ok) throw new UserError('SANDBOX_REFUSED', `the sandbox answered GET ${path} with ${answer.status}`);
    return answer.json();
  }

  private async control(method: 'GET' | 'POST', path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await fetch(`${this.place.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.place.controlToken}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch(() => {
      throw new UserError(
        'SANDBOX_AWAY',
        `no sandbox answers at ${this.place.url}: start it again, as it was started before`,
      );
    });
    const value = (await answer.json()) as JsonObject;
    if (!answer.ok)
      throw new UserError(
        'SANDBOX_REFUSED',
        `the sandbox refused ${path} ${JSON.stringify(body ?? {})}: ${String(value.message ?? answer.status)}`,
      );
    return value;
  }
}
