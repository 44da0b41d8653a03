/** One jar a browser of a story: what was set is sent again, until it is taken away. */
export class CookieJars {
  readonly #jars = new Map<string, Map<string, string>>();

  headersFor(jar: string | null): Record<string, string> {
    const cookies = jar === null ? [] : [...(this.#jars.get(jar) ?? [])];
    return cookies.length === 0 ? {} : { cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; ') };
  }

  /** @returns the names as recordings have them: `session`, and `-session` for one that is taken away */
  keep(jar: string | null, lines: readonly string[]): string[] {
    const cookies = this.#jars.get(jar ?? '') ?? new Map<string, string>();
    if (jar !== null) this.#jars.set(jar, cookies);
    return lines.map((line) => {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const isGone = /;\s*Max-Age=0/i.test(line);
      if (isGone) cookies.delete(name);
      else cookies.set(name, value);
      return isGone ? `-${name}` : name;
    });
  }
}
