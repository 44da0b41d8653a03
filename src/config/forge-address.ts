import { isLoopback } from './safe-address.js';

export interface ForgeAddress {
  /** Ends in /api/v1, no trailing slash. */
  readonly baseUrl: string;
  /** Plain http to another machine: the config then wants a reason. */
  readonly isInsecure: boolean;
}

/** What a person types or copies from a browser: `git.example.org`, `https://git.example.org/`, `…/gitea/api/v1`. @returns null when it is no address */
export function readForgeAddress(typed: string): ForgeAddress | null {
  const text = typed.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (text === '' || !URL.canParse(whole)) return null;
  const { protocol, username, password, origin, pathname, hostname } = new URL(whole);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return null;
  const path = pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return { baseUrl: `${origin}${path}/api/v1`, isInsecure: protocol === 'http:' && !isLoopback(hostname) };
}
