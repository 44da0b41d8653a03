import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const THEME = fileURLToPath(new URL('../ui/theme.css', import.meta.url));
/** Where the build puts the islands: `NAME-HASH.js`, and what several of them share. */
const SCRIPTS = fileURLToPath(new URL('../assets/', import.meta.url));

interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** Files that the browser may keep for good, since their names change with their contents. */
export class AssetFiles {
  /** Address of the style sheet. */
  readonly theme: string;
  private readonly files = new Map<string, Asset>();
  /** Addresses of the islands, by name. */
  private readonly scripts = new Map<string, string>();

  constructor() {
    const theme = readFileSync(THEME);
    this.theme = this.add(`theme-${createHash('sha256').update(theme).digest('hex').slice(0, 12)}.css`, theme);
    for (const name of scriptNames()) {
      const address = this.add(name, readFileSync(`${SCRIPTS}${name}`));
      const island = /^(.+)-[0-9a-f]{8}\.js$/.exec(name)?.[1];
      if (island !== undefined) this.scripts.set(island, address);
    }
  }

  get(name: string): Asset | undefined {
    return this.files.get(name);
  }

  /** The address of an island; null where the islands were not built (tests that run the sources). */
  script(island: string): string | null {
    return this.scripts.get(island) ?? null;
  }

  private add(name: string, body: Buffer): string {
    this.files.set(name, {
      body,
      type: name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    });
    return `/assets/${name}`;
  }
}

function scriptNames(): string[] {
  try {
    return readdirSync(SCRIPTS).filter((name) => name.endsWith('.js'));
  } catch {
    return [];
  }
}
