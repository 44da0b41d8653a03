import type { Given } from './given.js';
import { givenRunner, givenRuns } from './runner-route.js';

/** Givens of other parts of the world (runners, runs); one line each. */
export const furtherGivens: Record<string, Given> = { runner: givenRunner, runs: givenRuns };
