import { z } from 'zod';
import type { JsonObject } from '../../core/json.js';
import { Refusal } from '../answer.js';
import type { SandboxParts } from '../parts.js';
import type { Repository, User } from '../world.js';

/** Makes one entry of a world's description; answers what a caller may need later (a password). */
export type Fixture = (parts: SandboxParts, entry: JsonObject) => JsonObject;

/** A text field; '' when absent. */
export function text(entry: JsonObject, key: string): string {
  const value = entry[key] ?? '';
  if (typeof value !== 'string') throw new Refusal(422, `${key}: a text is needed`);
  return value;
}

/** @throws Refusal 422 when absent or empty */
export function required(entry: JsonObject, key: string): string {
  const value = text(entry, key);
  if (value === '') throw new Refusal(422, `${key} is needed`);
  return value;
}

/** A list of texts; empty when absent. */
export function list(entry: JsonObject, key: string): string[] {
  const value = entry[key] ?? [];
  if (!Array.isArray(value) || !value.every((one): one is string => typeof one === 'string'))
    throw new Refusal(422, `${key}: a list of texts is needed`);
  return value;
}

/** @throws Refusal 404 */
export function userNamed({ world }: SandboxParts, name: string): User {
  const user = world.userByName(name);
  if (!user) throw new Refusal(404, `no user ${name}`);
  return user;
}

/** @param name `owner/name`. @throws Refusal 404 */
export function repoNamed({ world }: SandboxParts, name: string): Repository {
  const [ownerName = '', repoName = ''] = name.split('/');
  const owner = world.ownerByName(ownerName);
  const repo = owner && world.repoByName(owner.id, repoName);
  if (!repo) throw new Refusal(404, `no repository ${name}`);
  return repo;
}

/** An id, as a number or as digits in a text. */
export const idField = z
  .union([z.string().regex(/^\d+$/), z.number().int().nonnegative(), z.bigint()])
  .transform(String);

/**
 * The body of a control request by its schema.
 * @throws Refusal 422 naming every mistake
 */
export function checked<S extends z.ZodType>(schema: S, body: JsonObject): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new Refusal(
    422,
    result.error.issues
      .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
      .join('; '),
  );
}
