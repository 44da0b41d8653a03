/** A short storm takes under a minute alone on two cores; a machine that does other things beside has this long. */
export const SLICE_MS = 900_000;
