import { ForgeError } from './errors.js';

/** So many in a row without any answer are not single objects that fail: the forge is away. */
const SILENT = 3;

/** What the forge could not tell about one object. */
export interface Failed<One> {
  readonly one: One;
  readonly error: ForgeError;
}

/**
 * Look at one object after the other, past those about which the forge cannot tell now. The caller names them: they are not done.
 * @returns those that failed, in order
 * @throws ForgeError when it says something of the whole forge (no connection, a limit, three calls in a row without an answer); any other
 * error of `look`
 */
export async function goPast<One>(all: Iterable<One>, look: (one: One) => Promise<void>): Promise<Array<Failed<One>>> {
  const failed: Array<Failed<One>> = [];
  let silent = 0;
  for (const one of all)
    try {
      await look(one);
      silent = 0;
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'not-sent' || error.kind === 'rate-limited') throw error;
      silent = error.facts.status === undefined ? silent + 1 : 0;
      if (silent === SILENT) throw error;
      failed.push({ one, error });
    }
  return failed;
}
