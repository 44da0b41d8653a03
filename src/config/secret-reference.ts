import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { Secret } from '../core/secret.js';

/** `{ env: NAME }` or `{ file: PATH }`; a value written out in the file is refused. */
export const secretReference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
  error: 'a secret is given as { env: NAME } or { file: PATH }, never as its value',
});

export type SecretReference = z.infer<typeof secretReference>;

/**
 * @param folder relative paths start here (the folder of the config file)
 * @returns the secret, or the sentence that says why not
 */
export function resolveSecret(reference: SecretReference, env: NodeJS.ProcessEnv, folder: string): Secret | string {
  if ('env' in reference) {
    const value = env[reference.env];
    if (value === undefined) return `the environment has no ${reference.env}`;
    if (value.trim() === '') return `${reference.env} is empty: an empty secret protects nothing`;
    return new Secret(value);
  }
  const path = resolve(folder, reference.file);
  try {
    // Windows has no such mode bits; there the check says nothing.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) return `${path} can be read by others: chmod 600 it`;
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (value.trim() === '') return `${path} is empty: an empty secret protects nothing`;
    return new Secret(value);
  } catch (error) {
    return `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  }
}
