import { readFileSync, statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { parseEnv } from 'node:util';
import { ownValue } from '../core/table.js';

/** The environment file of a config: `forgehand.env` beside `forgehand.yaml`. Compose and systemd read the same lines. */
export function environmentFileOf(configFile: string): string {
  const { dir, name } = parse(configFile);
  return join(dir, `${name}.env`);
}

/** What the environment of the process does not have. Read at the first question, and only once. */
export class EnvironmentFile {
  private variables: NodeJS.Dict<string> | undefined;
  private unreadable: string | null = null;

  constructor(readonly path: string) {}

  get(name: string): string | undefined {
    return ownValue(this.read(), name);
  }

  /** Why nothing can be taken from it; null = it is not there, or was read. */
  get fault(): string | null {
    this.read();
    return this.unreadable;
  }

  /** Whether it was there, and was read. */
  get isRead(): boolean {
    return this.variables !== undefined && this.unreadable === null && Object.keys(this.variables).length > 0;
  }

  private read(): NodeJS.Dict<string> {
    if (this.variables) return this.variables;
    this.variables = {};
    try {
      // Windows has no such mode bits; there the check says nothing.
      if (process.platform !== 'win32' && (statSync(this.path).mode & 0o077) !== 0) {
        this.unreadable = `${this.path} can be read by others: chmod 600 it`;
        return this.variables;
      }
      this.variables = parseEnv(readFileSync(this.path, 'utf8'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A service manager may read it as root and hand its variables over: then nothing is missing, and nobody asks.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.unreadable = `${this.path} cannot be read (${code ?? 'error'})`;
    }
    return this.variables;
  }
}

/** A variable of the process; null where it is not set, or empty. */
export function variable(name: string): string | null {
  return ownValue(process.env, name) || null;
}
