import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of an operator: config, rule files, data; and the environment with the secrets. */
export interface Place {
  readonly dir: string;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** Write a file of the place. */
  write(path: string, text: string, mode?: number): string;
  remove(): void;
}

export interface PlaceOptions {
  /** The config as a value; JSON is YAML. */
  readonly config: object;
  /** Files below the place: path -> text. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the folder is made; default: where temporary files are. */
  readonly within?: string;
}

/** Many bots run at once on one machine, and most specs look at no page. */
const APART = { console: { enabled: false } };

export function aPlace({ config, files = {}, env = {}, within = tmpdir() }: PlaceOptions): Place {
  const dir = mkdtempSync(join(within, 'fh-e2e-'));
  const write = (path: string, text: string, mode = 0o644): string => {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
    return file;
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const configFile = write('forgehand.yaml', JSON.stringify({ ...APART, ...config }, null, 2));
  return { dir, configFile, env, write, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
