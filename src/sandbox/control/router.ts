import { timingSafeEqual } from 'node:crypto';
import { messageOf } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { type Answer, Refusal } from '../answer.js';
import { authenticate } from '../auth.js';
import { firstJson } from '../body.js';
import type { SandboxParts } from '../parts.js';
import type { RawRequest } from '../raw-request.js';

/** One control request: the JSON body and what it acts on. */
export interface ControlCall {
  parts: SandboxParts;
  body: JsonObject;
  query: URLSearchParams;
}

export interface ControlRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the host, `/_sandbox/…`. */
  path: string;
  run: (call: ControlCall) => Answer | Promise<Answer>;
}

/** Routes that steer the sandbox itself; never part of the API, open to the control token and to site admins only. */
export class ControlRouter {
  constructor(
    private readonly parts: SandboxParts,
    private readonly token: string,
    private readonly routes: readonly ControlRoute[],
  ) {}

  async answer(raw: RawRequest): Promise<Answer> {
    try {
      this.#authorize(raw);
      const ofPath = this.routes.filter((route) => route.path === raw.path);
      const route = ofPath.find(({ method }) => method === raw.method);
      if (!route)
        return {
          status: ofPath.length > 0 ? 405 : 404,
          json: {
            message: 'no such control route',
            routes: this.routes.map(({ method, path }) => `${method} ${path}`),
          },
        };
      const value = firstJson(raw.body.toString('utf8')) ?? {};
      if (!isJsonObject(value)) throw new Refusal(422, 'the body must be a JSON object');
      return await route.run({ parts: this.parts, body: value, query: raw.query });
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, json: { message: error.message } };
      return { status: 500, json: { message: messageOf(error) } };
    }
  }

  #authorize(raw: RawRequest): void {
    const credential = Buffer.from(raw.headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${this.token}`);
    if (credential.length === wanted.length && timingSafeEqual(credential, wanted)) return;
    const caller = authenticate(this.parts.world, raw.headers.authorization, new URLSearchParams());
    if (!caller.user?.isAdmin) throw new Refusal(401, 'the control token or a site admin is needed');
  }
}
