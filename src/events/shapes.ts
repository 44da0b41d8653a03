import { z } from 'zod';

/**
 * The essential fields of what arrivals carry. Everything else may be missing, extra or newer than we know; but without these a body
 * is not what its event type says. Ids are numbers as delivered and decimal strings after `readBody`.
 */
export const idLike = z.union([z.int(), z.bigint(), z.string().regex(/^-?\d{1,40}$/)]);

export const userShape = z.object({ id: idLike, login: z.string().min(1) });

export const ownerShape = z.object({ login: z.string().optional(), username: z.string().optional() });

export const repositoryShape = z.object({
  id: idLike,
  name: z.string().min(1),
  full_name: z.string().regex(/^[^/]+\/[^/]+$/),
  owner: ownerShape,
});

/** SHA-1 or SHA-256 object name. */
export const shaText = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

export const numberLike = z.union([z.int().nonnegative(), z.bigint()]);
