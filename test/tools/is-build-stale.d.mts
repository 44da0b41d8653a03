/** Whether `dist` is missing, unfinished, or older than a source. */
export function isBuildStale(root: string): boolean;
