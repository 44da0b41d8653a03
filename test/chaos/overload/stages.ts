import type { Stores } from '../../../src/store/open-stores.js';
import type { Acknowledged } from '../rig/send.js';

/** Milliseconds that one delivery spent from stage to stage, by the clock of one machine. */
export interface Stages {
  /** From its sending to the end of its reading. */
  readonly received: number;
  /** From there to its acknowledgement, which follows the commit. */
  readonly acknowledged: number;
  /** From its reading until a worker made its event. */
  readonly decided: number;
  /** From there to the first call at the forge: the commit of the decision, the claim of the intent, the way to the forge. */
  readonly called: number;
}

export const STAGES = ['received', 'acknowledged', 'decided', 'called'] as const satisfies ReadonlyArray<keyof Stages>;

/** When a delivery was read and when its event was made. */
interface Moment {
  readonly readAt: number;
  readonly decidedAt: number;
}

/** By the id that acknowledged the delivery. */
export type Moments = ReadonlyMap<string, Moment>;

/** Read once the bot is down. */
export async function momentsOf({ dataSource }: Stores, org: string): Promise<Moments> {
  const rows = (await dataSource.query(
    `SELECT a.id, a.arrived_at AS "readAt", e.stored_at AS "decidedAt" FROM arrivals a JOIN events e ON e.id = a.event_id WHERE a.org = $1`,
    [org],
  )) as Array<{ id: string; readAt: Date; decidedAt: Date }>;
  return new Map(
    rows.map(({ id, readAt, decidedAt }) => [id, { readAt: readAt.getTime(), decidedAt: decidedAt.getTime() }]),
  );
}

export function stagesOf(
  sentAt: number,
  acknowledged: Pick<Acknowledged, 'at'>,
  { readAt, decidedAt }: Moment,
  calledAt: number,
): Stages {
  return {
    received: readAt - sentAt,
    acknowledged: acknowledged.at - readAt,
    decided: decidedAt - readAt,
    called: calledAt - decidedAt,
  };
}
