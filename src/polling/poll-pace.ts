/** What is to be polled under one account of a forge, in calls per second, with every period as the config says. */
export interface PollNeeds {
  /** Calls that the account may make. */
  readonly ratePerS: number;
  /** Feeds and tasks of organizations that nothing waits for, and the lists of all. */
  readonly quietPerS: number;
  /** What more it takes to read those sooner that were not read to their end, or whose tasks have not ended. */
  readonly hastePerS: number;
  /** Feeds and tasks of organizations with a gap, or with an open task that a rule waits for. */
  readonly urgentPerS: number;
  readonly auditsPerS: number;
}

/** By how many times periods are longer than the config says; 1 = they are not. */
export interface PollPace {
  /** Of quiet organizations and of lists: the same for all. At least that of the others. */
  readonly quiet: number;
  /** Of organizations with a gap, or with an open task that a rule waits for. */
  readonly urgent: number;
  /** Whether a quiet source that has more to read comes sooner. */
  readonly isHasty: boolean;
}

/** The rest is for what people and events wait for. */
const SHARE_OF_POLLS = 1 / 2;
/** What those with a gap or an awaited task may take while others wait for them. */
const SHARE_OF_URGENT = 1 / 4;
/** Audits give way: however many they are, polls leave them no more. */
const SHARE_OF_AUDITS = 1 / 8;

/** Calls per second that audits leave to polls, within half of the rate. */
export function leftForPolls({ ratePerS, auditsPerS }: Pick<PollNeeds, 'ratePerS' | 'auditsPerS'>): number {
  return ratePerS * SHARE_OF_POLLS - Math.min(auditsPerS, ratePerS * SHARE_OF_AUDITS);
}

/** The periods with which polls, lists and audits fit into half of the rate. Pure. */
export function paceOf(needs: PollNeeds): PollPace {
  const { ratePerS, quietPerS, hastePerS, urgentPerS } = needs;
  const roomPerS = leftForPolls(needs);
  const needed = quietPerS + urgentPerS;
  if (needed <= roomPerS) return { quiet: 1, urgent: 1, isHasty: needed + hastePerS <= roomPerS };
  const alike = needed / roomPerS;
  const urgent = Math.max(1, urgentPerS / (ratePerS * SHARE_OF_URGENT));
  // Where most are urgent, none is before the others.
  if (urgent >= alike) return { quiet: alike, urgent: alike, isHasty: false };
  return { quiet: quietPerS / (roomPerS - urgentPerS / urgent), urgent, isHasty: false };
}
