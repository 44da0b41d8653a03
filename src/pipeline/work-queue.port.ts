/**
 * `arrivals`: to be decided. `events`: to be matched against rules with reads, and runs whose window is over. `intents`: that events caused. `background`:
 * intents that a schedule or a plan caused, which nobody waits for.
 */
export const TOPICS = ['arrivals', 'events', 'intents', 'background'] as const;
export type Topic = (typeof TOPICS)[number];

/** The work of one organization in one topic. */
export interface Line {
  readonly topic: Topic;
  readonly org: string;
}

/** Lines of a topic that have turns at once in one process. */
export const LINES_AT_ONCE = { arrivals: 4, events: 8, intents: 16, background: 4 } as const;

/**
 * One stretch of work on the line of an organization: it claims from the store what is due, a batch at a time, and ends after its time.
 * @param help called when it filled a batch: another process may give the line a turn beside it
 * @returns whether it left work behind that is due
 */
export type Turn = (org: string, help: () => void) => Promise<boolean>;

/** Whether a line has work that could be claimed now. */
export type IsDue = (org: string) => Promise<boolean>;

/**
 * The queue only rings: an organization has work in a topic. It carries no ids, and may lose a ring, bring it late or twice: the store deals the work, and a
 * poll of each worker finds the lines for which nobody rang.
 */
export abstract class WorkQueue {
  /** Gives the line a turn, in a process that serves the topic. Never throws, and nobody waits for it. */
  abstract ring(topic: Topic, org: string): void;
  /** Gives the line a turn in this process, which serves the topic: past what stands between processes, for the poll. */
  abstract ringHere(topic: Topic, org: string): void;
  /**
   * Takes rings from now on. Each line has one turn at a time here, and all lines of the topic `atOnce`; one that left work behind goes to the tail.
   * @param isDue asked behind a turn that left nothing, where a ring may have been lost meanwhile. Default: nothing is
   */
  abstract serve(topic: Topic, atOnce: number, turn: Turn, isDue?: IsDue): Promise<void>;
  /** Whether rings flow now (false = only the poll finds work). */
  abstract healthy(): Promise<boolean>;
  /** Gives no more turns, waits for those that run (at most `graceMs`), and closes connections. */
  abstract close(graceMs: number): Promise<void>;
}
