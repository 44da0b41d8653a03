import type { AuditKey } from '../../core/audit-chain.js';
/** Rows that may hold something of the person; `last` is the place behind which the next page begins, null = this was the last one. */
export interface ErasurePage<Row> {
  readonly rows: readonly Row[];
  readonly last: string | null;
}

/** A decided arrival that still has its body. */
export interface ErasableArrival {
  readonly id: string;
  readonly text: string;
}

/** A decided event, none of whose runs is open. JSON texts. */
export interface ErasableEvent {
  readonly id: string;
  readonly actor: string;
  readonly data: string;
}

/** An event that is the bot's own effect, with the bodies that told of it. */
export interface ErasableEcho extends ErasableEvent {
  readonly intentId: string;
  readonly arrivals: readonly ErasableArrival[];
}

/** A finished run, with its effects and calls. JSON texts, but for `message`. */
export interface ErasableRun {
  readonly id: string;
  readonly eventId: string | null;
  readonly columns: RunColumns;
  readonly intents: ReadonlyArray<{ readonly id: string; readonly columns: IntentColumns }>;
  readonly attempts: ReadonlyArray<{ readonly id: string; readonly columns: AttemptColumns }>;
}

/** An act that has ended, with the reason that its caller gave. */
export interface ErasableAct {
  readonly id: string;
  readonly reason: string;
  /** Whether the person gave it. */
  readonly isOwn: boolean;
}

export type RunColumns = Readonly<Record<'trace' | 'lookups' | 'reason_params', string | null>>;
export type IntentColumns = Readonly<Record<'params' | 'result' | 'reason_params', string | null>>;
export type AttemptColumns = Readonly<Record<'snapshot' | 'message', string | null>>;

/** Rows as they are to be from now on; what is the same may be left out. */
export interface ErasedRows {
  readonly arrivals?: readonly ErasableArrival[];
  readonly events?: ReadonlyArray<Pick<ErasableEvent, 'id' | 'data'>>;
  readonly runs?: readonly ErasableRun[];
  readonly acts?: ReadonlyArray<Pick<ErasableAct, 'id' | 'reason'>>;
}

/** What an erasure reads and writes. Every page reads a bounded number of rows, whether or not they hold anything. */
export abstract class ErasureStore {
  /** @param needles rows that hold none of these texts are left out */
  abstract arrivals(
    forge: string,
    after: string | null,
    needles: readonly string[],
  ): Promise<ErasurePage<ErasableArrival>>;
  abstract events(forge: string, after: string | null, needles: readonly string[]): Promise<ErasurePage<ErasableEvent>>;
  /** Also those with sealed parts, in which nobody can look for a text. */
  abstract runs(forge: string, after: string | null, needles: readonly string[]): Promise<ErasurePage<ErasableRun>>;
  /** Effects that are remembered without their runs, as runs of which nothing else is left. */
  abstract remembered(
    forge: string,
    after: string | null,
    needles: readonly string[],
  ): Promise<ErasurePage<ErasableRun>>;
  /** Of all forges: a reason may name anybody. @param login of the account at this forge */
  abstract acts(
    forge: string,
    login: string,
    after: string | null,
    needles: readonly string[],
  ): Promise<ErasurePage<ErasableAct>>;
  abstract runsOf(eventIds: readonly string[]): Promise<ErasableRun[]>;
  /** What the forge told of effects: they show what a rule made of a text. */
  abstract echoesOf(intentIds: readonly string[]): Promise<ErasableEcho[]>;
  /** In one transaction. Runs and acts that were sealed, and are changed by it, are sealed anew under further links of the chain. */
  abstract write(rows: ErasedRows, key: AuditKey): Promise<void>;
}
