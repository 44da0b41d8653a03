/** For schedulers that fire rules and policies alone. */
export const NO_JOBS = { scheduled: () => [], begin: () => undefined };
