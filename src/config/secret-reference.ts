import { readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { Secret } from '../core/secret.js';
import { ownValue } from '../core/table.js';
import type { EnvironmentFile } from './environment-file.js';

/** `{ env: NAME }`, `{ file: PATH }` or `{ credential: NAME }`; a value written out in the file is refused. */
export const secretReference = z.union(
  [
    z.strictObject({ env: z.string().min(1) }),
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({
      credential: z.string().regex(/^[A-Za-z0-9_.-]{1,255}$/, {
        error: 'the name of a credential: letters, digits, ".", "_" and "-", at most 255',
      }),
    }),
  ],
  { error: 'a secret is given as { env: NAME }, { file: PATH } or { credential: NAME }, never as its value' },
);

export type SecretReference = z.infer<typeof secretReference>;

/**
 * @param folder relative paths start here (the folder of the config file)
 * @param more what is asked for a name that the environment does not have
 * @returns the secret, or the sentence that says why not
 */
export function resolveSecret(
  reference: SecretReference,
  env: NodeJS.ProcessEnv,
  folder: string,
  more?: EnvironmentFile,
): Secret | string {
  if ('env' in reference) {
    const value = ownValue(env, reference.env) ?? more?.get(reference.env);
    if (value === undefined) return missingVariable(reference.env, more);
    if (value.trim() === '') return `${reference.env} is empty: an empty secret protects nothing`;
    return new Secret(value);
  }
  if ('file' in reference) return readSecret(resolve(folder, reference.file), true);
  // systemd puts the credentials of a unit there (systemd.exec, LoadCredential=), readable by the unit's user alone.
  const credentials = env.CREDENTIALS_DIRECTORY;
  if (!credentials)
    return `there is no credential ${reference.credential}: CREDENTIALS_DIRECTORY is not set (systemd sets it for LoadCredential=)`;
  return readSecret(join(credentials, reference.credential), false);
}

function missingVariable(name: string, more: EnvironmentFile | undefined): string {
  if (more?.fault) return `the environment has no ${name}, and ${more.fault}`;
  if (more?.isRead === true) return `neither the environment nor ${more.path} has ${name}`;
  const wayOut = more ? `: set it, or write the line ${name}=… into ${basename(more.path)} (chmod 600)` : '';
  return `the environment has no ${name}${wayOut}`;
}

/** @param isPlain whether the mode bits of the file are all that protects it */
function readSecret(path: string, isPlain: boolean): Secret | string {
  try {
    // Windows has no such mode bits; there the check says nothing.
    if (isPlain && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      return `${path} can be read by others: chmod 600 it`;
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (value.trim() === '') return `${path} is empty: an empty secret protects nothing`;
    return new Secret(value);
  } catch (error) {
    return `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  }
}
