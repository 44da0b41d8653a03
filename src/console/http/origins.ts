import type { IncomingHttpHeaders } from 'node:http';
import { listenAddress, isLoopback } from '../../config/safe-address.js';
import { isPlainHttp, type ConsoleConfig } from '../../config/app-config.js';

/** Names of the machine itself; each is an origin of its own to a browser. */
const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** Under which addresses the Console answers, and which requests come from its own pages. */
export class Origins {
  private readonly hosts: readonly string[];
  readonly isSecure: boolean;

  /** @param port that it really listens on */
  constructor(
    private readonly config: Pick<ConsoleConfig, 'listen' | 'publicUrl'>,
    private readonly port: number,
  ) {
    const { publicUrl } = config;
    this.isSecure = !isPlainHttp(config);
    const { host } = listenAddress(config.listen);
    const local = [...(isLoopback(host) ? LOCAL_NAMES : []), host.includes(':') ? `[${host}]` : host];
    this.hosts = publicUrl ? [new URL(publicUrl).host] : [...new Set(local)].map((name) => `${name}:${port}`);
  }

  /** For people: where a browser on this machine, or anywhere, finds it. */
  get url(): string {
    if (this.config.publicUrl) return this.config.publicUrl;
    const { host } = listenAddress(this.config.listen);
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** A page elsewhere can reach 127.0.0.1 under a name of its own (DNS rebinding); the `Host` gives it away. */
  isOurHost(host: string | undefined): boolean {
    return this.hosts.includes((host ?? '').toLowerCase());
  }

  /** The origin of this request, whose host is ours. */
  originOf(host: string | undefined): string {
    return this.config.publicUrl ?? `http://${(host ?? '').toLowerCase()}`;
  }

  /** Whether one of our own pages sent it. Browsers say so in `Origin`; where they leave that out, in `Sec-Fetch-Site`. */
  isFromOurPages({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    if (origin !== undefined) return origin === this.originOf(host);
    return site === 'same-origin';
  }

  /** Whether another site asked a browser for it, other than by a link that a person followed. */
  isForeignFetch({ host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode }: IncomingHttpHeaders): boolean {
    if (origin !== undefined && origin !== this.originOf(host)) return true;
    return site !== undefined && site !== 'same-origin' && site !== 'none' && mode !== 'navigate';
  }
}

/**
 * A path of the Console to go on to; anything else is the first page. Browsers take `//host`, `/\host` and control characters in an address for
 * more than a path.
 */
export function localPath(text: string | undefined): string {
  if (text === undefined || text.length > 2000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return '/';
  const base = 'http://console.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  if (url?.origin !== base) return '/';
  const path = `${url.pathname}${url.search}`;
  // Dots may have been taken out: `/.//host`.
  return path.startsWith('//') ? '/' : path;
}
