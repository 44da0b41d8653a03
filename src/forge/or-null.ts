import { ForgeError } from '../core/errors.js';

/** The answer, or null where the forge has no such call, or refuses it to us. Every other failure is the caller's. */
export async function orNull<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'not-offered' || error.kind === 'refused')) return null;
    throw error;
  }
}
