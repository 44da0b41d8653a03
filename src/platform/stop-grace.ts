/**
 * Supervisors allow a stop ten seconds in all. Running reads may take the first of these times, calls that change something the second,
 * requests and the queue the third. The next process finishes the rest.
 */
export const STOP_GRACE = { readsMs: 2_000, callsMs: 5_500, othersMs: 1_000 } as const;
