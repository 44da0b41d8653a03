import { request, type IncomingHttpHeaders } from 'node:http';
import type { TestBot } from './a-bot.js';

export interface Page {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** What a browser does of itself, and a test may leave out or forge: null takes a header away. */
export type Headers = Readonly<Record<string, string | null>>;

/** Where the bot serves the Console. */
export function consoleOf({ places }: Pick<TestBot, 'places'>): string {
  return places.find((place) => place.startsWith('console '))?.slice('console '.length) ?? '';
}

/** As much of a browser as the Console needs: it keeps cookies, and says where its requests come from. */
export class Browser {
  readonly cookies = new Map<string, string>();

  /** @param url of the Console */
  constructor(readonly url: string) {}

  /** @param begun called when the answer begins, long before the end of a stream */
  get(path: string, headers: Headers = {}, begun?: () => void): Promise<Page> {
    const own = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
    return this.ask('GET', path, { ...own, ...headers }, undefined, begun);
  }

  /** A form of one of the Console's own pages. */
  post(path: string, form: Readonly<Record<string, string>>, headers: Headers = {}): Promise<Page> {
    const body = new URLSearchParams(form).toString();
    const own = {
      origin: this.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    };
    return this.ask('POST', path, { ...own, ...headers }, body);
  }

  /** Any body, as one of the Console's own pages would send it. */
  send(path: string, body: string, headers: Headers = {}): Promise<Page> {
    return this.ask('POST', path, { origin: this.url, 'sec-fetch-site': 'same-origin', ...headers }, body);
  }

  /** The address as it stands, which a URL would tidy. */
  raw(path: string, method = 'GET'): Promise<Page> {
    return this.ask(method, path, { origin: method === 'GET' ? null : this.url, 'sec-fetch-site': 'same-origin' });
  }

  /** Logs in by the link that the control API made. @returns the answer to the page's script */
  async follow(link: string): Promise<Page> {
    return this.post('/login/link', { code: new URL(link).hash.slice(1) });
  }

  /** The token that the forms of a page carry. */
  async csrf(path = '/about'): Promise<string> {
    const { text } = await this.get(path);
    return /<meta name="csrf" content="([^"]*)"/.exec(text)?.[1] ?? '';
  }

  /** What it sends along with each request. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private ask(method: string, path: string, headers: Headers, body?: string, begun?: () => void): Promise<Page> {
    const { cookie } = this;
    const sent = Object.entries({ ...(cookie === '' ? {} : { cookie }), ...headers }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.url);
      const headersSent = Object.fromEntries(sent);
      const asking = request({ hostname, port, path: asSent(path), method, headers: headersSent, agent: false });
      asking.once('error', reject);
      if (begun) asking.once('response', begun);
      asking.once('response', (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('error', reject);
        answer.once('end', () => {
          for (const line of answer.headers['set-cookie'] ?? []) this.keep(line);
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(parts).toString() });
        });
      });
      asking.end(body);
    });
  }

  private keep(line: string): void {
    const [pair = ''] = line.split(';');
    const cut = pair.indexOf('=');
    const name = pair.slice(0, cut);
    if (/; Max-Age=0(;|$)/.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(cut + 1));
  }
}

/** Node sends no character that a request line cannot hold; all others as they are. */
function asSent(path: string): string {
  return path.replace(/[^\x21-\x7e]/g, encodeURIComponent);
}
