/** Feeds that are read more seldom than the config says, since their polls do not fit into the rate of the forge. */
export interface StretchedPolls {
  /** Names the account: the forge, or forge and organization. */
  readonly forge: string;
  readonly everyS: number;
  readonly wantedS: number;
  readonly organizations: number;
  /** Calls for polls and lists in the periods that are wanted, and calls that there are for them. */
  readonly neededPerMin: number;
  readonly leftPerMin: number;
  /** The `rate_per_s` with which they fit. */
  readonly ratePerS: number;
}

export function sayStretched(polls: StretchedPolls): string {
  const { forge, everyS, wantedS, organizations, neededPerMin, leftPerMin } = polls;
  const who = organizations === 1 ? '1 organization needs' : `${inEnglish(organizations)} organizations need`;
  return `feeds of ${forge} are read every ${everyS} s, wanted ${wantedS}: ${who} ${inEnglish(neededPerMin)} calls a minute, ${inEnglish(leftPerMin)} are left`;
}

export function cureOfStretched({ ratePerS }: StretchedPolls): string {
  return `raise forges[].rate_per_s (${inEnglish(ratePerS)} would do, if the forge bears it), or feed.every_s`;
}

function inEnglish(count: number): string {
  return count.toLocaleString('en-US');
}
