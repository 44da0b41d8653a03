/**
 * A stop has ten seconds in all, as supervisors give it: reads under way may take the first of these, calls that change something the
 * second, requests of others and the queue the third. What is not done then is taken up by the next process.
 */
export const STOP_GRACE = { readsMs: 2_000, callsMs: 5_500, othersMs: 1_000 } as const;
