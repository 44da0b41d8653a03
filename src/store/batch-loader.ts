import { setTimeout as wait } from 'node:timers/promises';
import { currentCaller } from '../core/caller.js';
import { StoreUnavailable } from '../core/errors.js';
import { BytesInPieces } from './bytes-in-pieces.js';
import type { Database } from './database.js';

/** More in one statement would hold its locks for too long. */
const MOST = 64;
/**
 * From one turn to the next, for steps of work of which many are under way. Each turn is a transaction, with costs of its own: what comes in the
 * meantime shares one. An organization that asks one thing after another waits for nobody, whatever others ask.
 */
export const REST_MS = 15;
/** A turn aims at this time where organizations share the one place of the store, … */
const SHARED_TURN_MS = 25;
/** … but takes so many at least: each turn has costs of its own. */
const LEAST_SHARED = 8;

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What is asked by many at once goes to the store in one statement or transaction: whoever's turn it is takes what it waits for itself, and as
 * much of each other's. So what many organizations ask costs one turn, and a flood of one keeps nobody waiting for longer than a turn of it takes:
 * what another asks meanwhile neither waits for the flood's next batch nor for the whole of what the flood asks. Each gets its answer after the
 * commit that it stands for, and one whose ask the store refuses spoils no other: then each is asked alone.
 *
 * `dataloader` cannot do this: it fills a batch in the order asked, before the turn comes. Behind a flood of one organization the ask of another would
 * wait for all its batches; a turn must choose its batch when it comes.
 */
export class BatchLoader<Ask, Answer> {
  /** By organization, in the order asked. */
  private readonly waiting = new Map<string, Array<Waiting<Ask, Answer>>>();
  /** Those that wait for their turn, or whose turn it is. */
  private readonly inTurn = new Set<string>();
  /** What one ask took in the last turn. */
  private msPerAsk = 0;
  private lastTurnMs = Number.NEGATIVE_INFINITY;
  /** Organizations that asked for more than one in their last turn. */
  private readonly askMany = new Set<string>();

  /**
   * @param turns asked for late, since it is a field of the class that has this one
   * @param all answers in the order asked, by the store it is given and no other; it may be given the same ask once more after it failed
   * @param restMs at least so long from the begin of one turn to that of the next, of an organization that asks for many
   * @param now ms of a clock that only grows
   */
  constructor(
    private readonly turns: () => Pick<Database, 'inTurn' | 'afterOthers' | 'isShared'>,
    private readonly all: (asks: readonly Ask[], db: Database) => Promise<readonly Answer[]>,
    private readonly restMs = 0,
    private readonly now: () => number = () => performance.now(),
  ) {}

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const org = currentCaller()?.org ?? '';
      const asked = this.waiting.get(org);
      if (asked) asked.push({ ask, resolve, reject });
      else this.waiting.set(org, [{ ask, resolve, reject }]);
      if (this.inTurn.has(org)) return;
      this.inTurn.add(org);
      this.turns().afterOthers(() => void this.work(org));
    });
  }

  private async work(org: string): Promise<void> {
    while (this.waiting.has(org)) {
      const restMs = this.lastTurnMs + this.restMs - this.now();
      // Where the store is shared, each turn is short, and whoever asks step by step would rest at each step of a flood.
      if (this.askMany.has(org) && restMs > 0 && !this.turns().isShared) await wait(restMs);
      const refused = await this.turns().inTurn((db) => this.answer(this.take(org), db));
      for (const one of refused) await this.turns().inTurn((db) => this.answer([one], db));
    }
    this.inTurn.delete(org);
  }

  /** None, if another took them along. */
  private take(org: string): Array<Waiting<Ask, Answer>> {
    const taken = this.takeOf(org, this.mostOfOne());
    const share = taken.length;
    for (const other of this.waiting.keys())
      if (other !== org && taken.length < MOST) taken.push(...this.takeOf(other, Math.min(share, MOST - taken.length)));
    if (share > 1) this.askMany.add(org);
    else if (share === 1) this.askMany.delete(org);
    if (taken.length > 0) this.lastTurnMs = this.now();
    return taken;
  }

  private mostOfOne(): number {
    if (!this.turns().isShared) return MOST;
    return Math.min(Math.max(Math.floor(SHARED_TURN_MS / this.msPerAsk), LEAST_SHARED), MOST);
  }

  private takeOf(org: string, most: number): Array<Waiting<Ask, Answer>> {
    const asked = this.waiting.get(org) ?? [];
    const taken = asked.splice(0, most);
    if (asked.length === 0) this.waiting.delete(org);
    return taken;
  }

  /** @returns those to ask alone */
  private async answer(
    asked: ReadonlyArray<Waiting<Ask, Answer>>,
    db: Database,
  ): Promise<ReadonlyArray<Waiting<Ask, Answer>>> {
    if (asked.length === 0) return [];
    const from = this.now();
    try {
      const answers = await this.all(
        asked.map(({ ask }) => ask),
        db,
      );
      if (answers.length !== asked.length)
        throw new Error(`${asked.length} were asked together, ${answers.length} answered`);
      for (const [n, { resolve }] of asked.entries()) resolve(answers[n] as Answer);
    } catch (error) {
      // A store that is away is away for each of them.
      if (asked.length > 1 && !(error instanceof StoreUnavailable)) return asked;
      for (const { reject } of asked) reject(error);
    } finally {
      this.msPerAsk = (this.now() - from) / asked.length;
    }
    return [];
  }
}

/**
 * Many values of bytes as one parameter. `pg` sends a single Buffer as it is, but the members of an array as hex text, at twice the
 * size; the statement takes them apart again with `substring`.
 */
export class Packed {
  private readonly parts: Buffer[] = [];
  private size = 0;
  readonly starts: number[] = [];
  readonly lengths: Array<number | null> = [];

  /** @param bytes null gives NULL (`substring` of a null length) */
  add(bytes: Buffer | null): void {
    this.starts.push(this.size + 1);
    this.lengths.push(bytes ? bytes.length : null);
    if (!bytes) return;
    this.parts.push(bytes);
    this.size += bytes.length;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts, this.size);
  }

  /** The same without a copy, for the last parameter of a statement. */
  get inPieces(): BytesInPieces {
    return new BytesInPieces(this.parts);
  }
}

/** A list of whole numbers as the server reads it; `pg` would quote each as if it were text. */
export function integers(values: ReadonlyArray<number | null>): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** `unnest($1::text[], …)` over a list of records, so that the statement's text does not depend on how many there are. */
export function columnsOf<Row, const Names extends readonly (keyof Row)[]>(
  rows: readonly Row[],
  names: Names,
): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}
