import { parseCookie, stringifySetCookie } from 'cookie';

type CookieName = 'session' | 'login' | 'notice';

/**
 * Cookies of the Console. With https their names begin with `__Host-`, which browsers take from this host alone, over https alone. On plain http
 * on this machine they have the port in their name, since cookies of one host are shared by all of its ports.
 */
export class Cookies {
  constructor(
    private readonly isSecure: boolean,
    private readonly port: number,
  ) {}

  read(header: string | undefined, name: CookieName): string | null {
    return parseCookie(header ?? '')[this.nameOf(name)] ?? null;
  }

  /** @param maxAgeS null = until the browser is closed */
  set(name: CookieName, value: string, maxAgeS: number | null): string {
    return stringifySetCookie({
      name: this.nameOf(name),
      value,
      path: '/',
      httpOnly: true,
      secure: this.isSecure,
      // The forge sends the browser back from another site: the cookie of a login has to come along.
      sameSite: this.isSecure || name === 'login' ? 'lax' : 'strict',
      ...(maxAgeS === null ? {} : { maxAge: maxAgeS }),
    });
  }

  clear(name: CookieName): string {
    return this.set(name, '', 0);
  }

  private nameOf(name: CookieName): string {
    return this.isSecure ? `__Host-forgehand-${name}` : `forgehand-${this.port}-${name}`;
  }
}
