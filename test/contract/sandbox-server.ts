import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../src/core/clock.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../../src/core/json.js';
import { ControlRouter } from '../../src/sandbox/control/router.js';
import { PROFILE_NAMES } from '../../src/sandbox/profile.js';
import { profileOf } from '../../src/sandbox/profiles.js';
import { allHandlers } from '../../src/sandbox/registry.js';
import { Router } from '../../src/sandbox/routing.js';
import { createForgeServer } from '../../src/sandbox/server.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { send } from './send.js';
import type { ContractServer, StartOptions } from './server.js';

/** The zone in which the recorded servers of a family show times. */
const ZONES = { gitea: 'Europe/Berlin', forgejo: 'UTC' };

export function isProfileName(word: string): word is (typeof PROFILE_NAMES)[number] {
  return (PROFILE_NAMES as readonly string[]).includes(word);
}

/** The clock of a sandbox, which need not be waited for. */
class PassingClock implements Clock {
  #passedMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#passedMs);
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#passedMs;
  }

  pass(ms: number): void {
    this.#passedMs += ms;
  }
}

/** A fresh sandbox in this process, steered over HTTP like any other. */
export async function startSandboxServer({ profile, people, firstId }: StartOptions): Promise<ContractServer> {
  if (!isProfileName(profile)) throw new Error(`no profile ${profile}; there are ${PROFILE_NAMES.join(', ')}`);
  const [adminLogin, ...users] = people;
  const clock = new PassingClock();
  const sandbox = await startSandbox({
    profile,
    clock,
    timeZone: profile === 'forgejo' ? ZONES.forgejo : ZONES.gitea,
    ...(adminLogin === undefined ? {} : { adminLogin }),
    ...(firstId === undefined ? {} : { firstId }),
  });
  const sideDoor = profile === 'core' ? await openSideDoor(sandbox) : null;
  const server = new SandboxServer(sandbox, sideDoor, clock);
  for (const user of users) await server.give({ user });
  return server;
}

/** The same world behind the routes of the newest Gitea: stories prepare by extended calls what the 20 operations are asked about. */
async function openSideDoor({ parts, controlToken }: Sandbox): Promise<Server> {
  const profile = profileOf('gitea');
  const door = createForgeServer({
    ...parts,
    profile,
    router: new Router(allHandlers(), profile),
    control: new ControlRouter(parts, controlToken, []),
    letGo: () => undefined,
    onFault: (error) => console.error(error),
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  return door;
}

class SandboxServer implements ContractServer {
  readonly origin: string;
  readonly sideDoor?: string;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly door: Server | null,
    private readonly clock: PassingClock,
  ) {
    this.origin = sandbox.url;
    if (door) this.sideDoor = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  }

  passwordOf(user: string): string {
    const found = this.sandbox.parts.world.userByName(user);
    if (!found) throw new Error(`the story gave no user ${user}`);
    return found.password;
  }

  async makeToken(user: string, name: string, scopes: readonly string[]): Promise<string> {
    const made = parseJson((await this.#control('token', { user, name, scopes: [...scopes] })).text);
    if (!isJsonObject(made) || typeof made.token !== 'string') throw new Error(`no token for ${user}`);
    return made.token;
  }

  async give(entry: JsonObject): Promise<void> {
    await this.#control('given', entry);
  }

  async run(step: JsonObject): Promise<boolean> {
    const answer = await this.#control('runner', step);
    return answer.status < 300 && !answer.text.includes('"offered":false');
  }

  async pass(ms: number): Promise<void> {
    this.clock.pass(ms);
  }

  async close(): Promise<void> {
    this.door?.closeAllConnections();
    this.door?.close();
    await this.sandbox.close();
  }

  async #control(route: string, body: Json): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${this.sandbox.controlToken}`, 'content-type': 'application/json' };
    const answer = await send(this.origin, 'POST', `/_sandbox/${route}`, headers, stringifyJson(body));
    if (answer.status >= 300)
      throw new Error(`/_sandbox/${route} ${stringifyJson(body)}: ${answer.status} ${answer.text}`);
    return answer;
  }
}
