import type { EventRepository } from '../../../src/core/event.js';
import { ForgeError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { Secret } from '../../../src/core/secret.js';
import { connectForge } from '../../../src/forge/connected-forges.js';
import { wrapForgeClient, type ForgeClient } from '../../../src/forge/forge-client.js';
import { createForgeClient } from '../../../src/forge/http/create-forge-client.js';
import { isWrite, type OperationName } from '../../../src/forge/operations.js';
import type { ForgeAccess } from '../../../src/pipeline/execute/forge-access.js';
import type { Intent } from '../../../src/core/run.js';
import { makeOrganization } from '../../../src/sandbox/resources/organization.js';
import { makeRepository } from '../../../src/sandbox/resources/repository.js';
import { makeUser } from '../../../src/sandbox/resources/user.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { EffectRig, type WishOptions } from '../../builders/effect-rig.js';

/** An organization acme with a repository app on a sandbox forge over HTTP, and the doing side of the bot before it. */
export class TrackerRig {
  /** Writes that reached the forge, in order. */
  readonly written: OperationName[] = [];
  #lost = false;
  #before: { operation: OperationName; act: () => Promise<unknown> } | null = null;
  #refused: { operation: OperationName; status: number; message: string } | null = null;

  private constructor(
    readonly sandbox: Sandbox,
    /** As the forge's administrator, not counted: to set the stage and to look at it. */
    readonly stage: ForgeClient,
    readonly rig: EffectRig,
    readonly repo: EventRepository,
    readonly access: ForgeAccess,
  ) {}

  static async start(
    profile: 'gitea' | 'gitea@1.26' | 'forgejo',
    people: readonly string[] = ['ann', 'ben', 'cy'],
  ): Promise<TrackerRig> {
    const sandbox = await startSandbox({ profile });
    const { world, admin } = sandbox.parts;
    const org = makeOrganization(world, { name: 'acme', owner: admin });
    for (const login of people) makeUser(world, { login, password: `${login}:pass` });
    const app = makeRepository(world, admin, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
    const stage = createForgeClient({
      baseUrl: sandbox.apiUrl,
      auth: { type: 'basic', username: admin.login, password: new Secret(sandbox.admin.password) },
      ratePerS: 1000,
    });
    const { client, capabilities } = await connectForge(stage, { username: admin.login });
    const watched = wrapForgeClient(client, async (name, next, args, options) => {
      if (self.#refused?.operation === name) {
        const { status, message } = self.#refused;
        self.#refused = null;
        await options?.beforeSend?.();
        throw new ForgeError('refused', `${name}: ${message}`, { operation: name, status, forgeMessage: message });
      }
      if (self.#before?.operation === name) {
        const { act } = self.#before;
        self.#before = null;
        await act();
      }
      const answer = await next(args, options);
      if (!isWrite(name)) return answer;
      self.written.push(name);
      if (!self.#lost) return answer;
      self.#lost = false;
      throw new ForgeError('unknown', `${name}: the answer was lost`, { operation: name, detail: 'cut' });
    });
    const access: ForgeAccess = {
      client: watched,
      offers: (name) => capabilities.offers(name),
      isOurs: ({ login }) => login === admin.login,
    };
    const rig = new EffectRig({ access });
    const self: TrackerRig = new TrackerRig(
      sandbox,
      stage,
      rig,
      { id: String(app.id), owner: 'acme', name: 'app', full_name: 'acme/app', private: false },
      access,
    );
    return self;
  }

  /** @returns `state: reason` */
  async want(action: string, params: JsonObject, options: Pick<WishOptions, 'kind'> = {}): Promise<Intent> {
    return this.rig.want(action, params, { repo: this.repo, ...options });
  }

  /** The forge as one of its people sees it. */
  as(login: string): ForgeClient {
    const auth = { type: 'basic' as const, username: login, password: new Secret(`${login}:pass`) };
    return createForgeClient({ baseUrl: this.sandbox.apiUrl, auth, ratePerS: 1000 });
  }

  /** The next write has its effect, and its answer never comes. */
  loseNextAnswer(): void {
    this.#lost = true;
  }

  /** Somebody does this right before the next call of the operation. */
  beforeNext(operation: OperationName, act: () => Promise<unknown>): void {
    this.#before = { operation, act };
  }

  /** The next call of this operation is refused, with no effect. */
  refuseNext(operation: OperationName, status: number, message: string): void {
    this.#refused = { operation, status, message };
  }

  async user(login: string): Promise<ForgeClient> {
    return createForgeClient({
      baseUrl: this.sandbox.apiUrl,
      auth: { type: 'basic', username: login, password: new Secret(`${login}:pass`) },
      ratePerS: 1000,
    });
  }

  async close(): Promise<void> {
    await this.sandbox.close();
  }
}

export const APP = { owner: 'acme', repo: 'app' } as const;
