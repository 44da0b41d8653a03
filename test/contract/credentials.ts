import { isJsonObject, parseJson, stringifyJson } from '../../src/core/json.js';
import { send } from './send.js';
import type { ContractServer } from './server.js';
import type { ExchangeStep } from './story.js';

/** Tokens are made when first needed, by the user with Basic, under the name the recordings used (`t-` + scopes). */
export class Credentials {
  readonly #tokens = new Map<string, string>();

  constructor(private readonly server: ContractServer) {}

  /** @param header the authorization header that the step itself has, references resolved */
  async headersFor(step: ExchangeStep, header = ''): Promise<Record<string, string>> {
    const { kind, user = '', scopes = ['all'] } = step.auth;
    switch (kind) {
      case 'none':
      case 'cookies':
        return {};
      case 'basic':
        return { authorization: this.#basic(user) };
      case 'token':
        return { authorization: `token ${await this.#token(user, scopes)}` };
      case 'header':
        return { authorization: await this.#written(header) };
    }
  }

  /** `{{token NAME}}` in a text: that user's token of all scopes. */
  async fillTokens(text: string): Promise<string> {
    let filled = text;
    for (const [reference, user] of text.matchAll(/\{\{token ([^{}]+)\}\}/g)) {
      filled = filled.replaceAll(reference, await this.#token(user as string, ['all']));
    }
    return filled;
  }

  /** A header as it was written down: tokens filled in, then `base64(…)` encoded. */
  async #written(header: string): Promise<string> {
    const filled = await this.fillTokens(header);
    return filled.replace(/base64\((.*)\)/, (_, text: string) => Buffer.from(text).toString('base64'));
  }

  #basic(user: string): string {
    return `Basic ${Buffer.from(`${user}:${this.server.passwordOf(user)}`).toString('base64')}`;
  }

  async #token(user: string, scopes: readonly string[]): Promise<string> {
    const name = `t-${scopes.join('+')}`;
    const token = this.#tokens.get(`${user}/${name}`) ?? (await this.#make(user, name, scopes));
    this.#tokens.set(`${user}/${name}`, token);
    return token;
  }

  async #make(user: string, name: string, scopes: readonly string[]): Promise<string> {
    const answer = await send(
      this.server.origin,
      'POST',
      `/api/v1/users/${encodeURIComponent(user)}/tokens`,
      { authorization: this.#basic(user), 'content-type': 'application/json' },
      stringifyJson({ name, scopes }),
    );
    if (answer.status === 404 || answer.status === 405) return this.server.makeToken(user, name, scopes);
    const made = answer.status === 201 ? parseJson(answer.text) : null;
    if (!isJsonObject(made) || typeof made.sha1 !== 'string')
      throw new Error(`no token for ${user} (${scopes.join(' ')}): status ${answer.status}`);
    return made.sha1;
  }
}
