import { parse } from 'node-html-parser';
import { isJsonObject, parseJson, stringifyJson } from '../../../src/core/json.js';
import { Secret } from '../../../src/core/secret.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { CookieJars } from '../../contract/cookie-jars.js';
import { send, type RawAnswer } from '../../contract/send.js';

export interface LoginApplication {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
}

/** An application that people log in to, made by the site's admin. */
export async function anApplication(
  { url, admin }: Sandbox,
  redirectUris: readonly string[],
): Promise<LoginApplication> {
  const headers = { authorization: basic(admin.login, admin.password), 'content-type': 'application/json' };
  const body = stringifyJson({ name: 'console', confidential_client: true, redirect_uris: [...redirectUris] });
  const { text } = await send(url, 'POST', '/api/v1/user/applications/oauth2', headers, body);
  const made = parseJson(text);
  if (!isJsonObject(made)) throw new Error(`no application: ${text}`);
  return {
    id: String(made['id']),
    clientId: String(made['client_id']),
    clientSecret: new Secret(String(made['client_secret'])),
  };
}

/** A person with a browser at the forge: logs in there when asked, and allows what is asked. */
export class PersonAtBrowser {
  readonly #jars = new CookieJars();

  constructor(
    private readonly forge: Sandbox,
    private readonly login: string,
  ) {}

  /** @returns where the forge sends the browser in the end */
  async visit(address: string, granted: 'true' | 'false' = 'true'): Promise<URL> {
    let answer = await this.#get(pathOf(address));
    for (let steps = 0; steps < 6; steps += 1) {
      const to = answer.headers['location'];
      if (to !== undefined && !to.startsWith('/')) return new URL(to);
      if (to !== undefined) answer = await this.#get(to);
      else answer = await this.#answer(answer, granted);
    }
    throw new Error(`${address} leads nowhere`);
  }

  async #answer({ text, status }: RawAnswer, granted: string): Promise<RawAnswer> {
    const form = parse(text).querySelector('form');
    if (!form) throw new Error(`a page without a form: ${status} ${text}`);
    const fields = Object.fromEntries(
      form
        .querySelectorAll('input[type=hidden]')
        .map((field) => [field.getAttribute('name') ?? '', field.getAttribute('value') ?? '']),
    );
    const { password } = this.forge.parts.world.userByName(this.login) ?? { password: '' };
    const action = form.getAttribute('action') ?? '';
    const filled = action === '/user/login' ? { user_name: this.login, password } : { ...fields, granted };
    return this.#ask('POST', action, new URLSearchParams(filled).toString());
  }

  #get(path: string): Promise<RawAnswer> {
    return this.#ask('GET', path);
  }

  async #ask(method: string, path: string, body?: string): Promise<RawAnswer> {
    const headers = {
      ...this.#jars.headersFor('browser'),
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const answer = await send(this.forge.url, method, path, headers, body);
    this.#jars.keep('browser', answer.cookies);
    return answer;
  }
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
