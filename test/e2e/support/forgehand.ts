import { Child } from './child.js';
import { FORGEHAND } from './built.js';
import type { Place } from './a-place.js';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Run a command of the built bot to its end, with the config and the environment of a place. */
export async function forgehand(place: Pick<Place, 'dir' | 'env'>, ...args: string[]): Promise<CommandResult> {
  const child = new Child([FORGEHAND, ...args], place.env, place.dir);
  const { code } = await child.ended;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

/** The value that a command prints with `--json`. */
export async function askJson<T>(place: Pick<Place, 'dir' | 'env'>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await forgehand(place, ...args, '--json');
  if (code !== 0) throw new Error(`forgehand ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
