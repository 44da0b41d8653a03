import type { Json, JsonObject } from '../../core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../../core/json.js';

/** How long a forge may take over one answer. */
const TIMEOUT_MS = 30_000;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** JSON value; the text where it is none; '' when there is nothing. */
  readonly body: Json;
}

/** What a forge said no to, in words for people. */
export class ForgeRefused extends Error {
  constructor(
    readonly status: number,
    readonly call: string,
    readonly reason: string,
  ) {
    super(`${call} was answered with ${status}${reason === '' ? '' : `: ${reason}`}`);
  }
}

/** The API of a forge as anybody could use it: an address and an `Authorization` header. Redirects are answers. */
export class ForgeApi {
  /** @param api ends in `/api/v1` */
  constructor(
    readonly api: string,
    private readonly authorization: string | null,
  ) {}

  get origin(): string {
    return new URL(this.api).origin;
  }

  as(authorization: string | null): ForgeApi {
    return new ForgeApi(this.api, authorization);
  }

  /** Whatever the answer is. @param path below the base of the API, or from the root where it starts with `/api/` */
  async call(method: string, path: string, body?: JsonObject): Promise<Reply> {
    const address = path.startsWith('/api/') ? this.origin + path : this.api + path;
    // Loaded with the first call: every command comes by this file, and hardly one calls a forge.
    const { request } = await import('undici');
    const answer = await request(address, {
      method: method as 'GET',
      headers: {
        ...(this.authorization === null ? {} : { authorization: this.authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: stringifyJson(body) }),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    return { status: answer.statusCode, headers: answer.headers, body: read(await answer.body.text()) };
  }

  /** @throws ForgeRefused on 300 and up */
  async ask(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const { status, body: answer } = await this.call(method, path, body);
    if (status >= 300) throw new ForgeRefused(status, `${method} ${path}`, saidIn(answer));
    return isJsonObject(answer) ? answer : {};
  }

  /** Every row of a list; an empty page ends it, since lists may be filtered after the page was cut, and so does one that came before: not every list has pages. */
  async list(path: string): Promise<JsonObject[]> {
    const rows: JsonObject[] = [];
    let last = '';
    for (let page = 1; ; page += 1) {
      const { status, body } = await this.call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=50&page=${page}`);
      if (status >= 300) throw new ForgeRefused(status, `GET ${path}`, saidIn(body));
      if (!Array.isArray(body) || body.length === 0 || stringifyJson(body) === last) return rows;
      last = stringifyJson(body);
      rows.push(...(body as JsonObject[]));
    }
  }
}

export function basic(login: string, password: string): string {
  return `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
}

/** What a refusal says, short enough for a line. */
export function saidIn(body: Json): string {
  const text = isJsonObject(body) ? String(body.message ?? '') : typeof body === 'string' ? body : '';
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

function read(text: string): Json {
  if (text === '') return '';
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
