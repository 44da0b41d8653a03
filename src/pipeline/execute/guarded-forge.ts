import type { BudgetLimit } from '../../core/budgets.js';
import type { Clock } from '../../core/clock.js';
import { BotError, CallError } from '../../core/errors.js';
import { hashOf, newId } from '../../core/ids.js';
import { type Json, type JsonObject, stringifyJson } from '../../core/json.js';
import { SEND_MESSAGE, type Message, type Messenger } from '../../core/message.js';
import { textOf } from '../../core/reason.js';
import type { Attempt } from '../../core/run.js';
import { Secret } from '../../core/secret.js';
import {
  type AnyForgeCall,
  type CallOptions,
  type ForgeClient,
  type ReplyInfo,
  wrapForgeClient,
} from '../../forge/forge-client.js';
import { type OperationName, isWrite } from '../../forge/operations.js';
import type { Answer, JournalStore } from '../journal-store.port.js';
import type { IntentStatus } from '../../rules/revisions/active-revisions.port.js';
import { persist } from './keep-claim.js';
import { failedCall } from '../../forge/failed-call.js';

/**
 * Longest time from the commit that says "sent" to the call itself, counted from the question to the store. A process that stood still in between
 * may have lost its lease or slept through a pause, so it gives up and goes back. The wait for a turn at a busy store comes before the
 * question, and counts for nothing.
 */
const MAX_STANDSTILL_MS = 900;

/** Ends an action at its write: in a dry run nothing is sent. */
export class WriteSuppressed extends Error {
  constructor(readonly proposal: Json) {
    super('dry run');
  }
}

/** Ends an action at its write: the intent is not ours any more, or a pause came. */
export class WriteNotAllowed extends Error {}

/** Ends an action at its write: its rule is gone or does not write any more. */
export class WriteNotWanted extends Error {
  constructor(readonly status: Exclude<IntentStatus, { is: 'wanted' }>) {
    super(textOf(status.reason));
  }
}

interface GuardOptions {
  readonly client: ForgeClient;
  readonly messenger: Messenger;
  readonly journal: Pick<JournalStore, 'markSent' | 'recordAnswer'>;
  readonly clock: Clock;
  readonly intentId: string;
  readonly epoch: number;
  readonly mode: 'live' | 'dry-run';
  /** What its write is counted for. */
  readonly budgets: readonly BudgetLimit[];
  /** Whether the rule still stands. */
  readonly status: () => Promise<IntentStatus>;
  readonly hashOf: (secret: Secret) => string;
  readonly signal: AbortSignal;
  /** What others of its run have read; absent = it reads everything itself. */
  readonly reads?: RunReads | null;
  /** Told of each call that is made; what another of the run had read is none. */
  readonly called?: (name: OperationName) => void;
  /** Told about the end of each call: its error, or null. */
  readonly answered: (error: unknown) => void;
}

/** Outcome of the one write, as far as it is known. */
export interface WriteState {
  readonly attempt: Attempt;
  readonly outcome: NonNullable<Attempt['outcome']> | null;
  /** The answer that tells it, where that is not stored yet. */
  readonly unstored?: Answer;
}

/**
 * The only way from an action to the forge: reads pass; the write is written down as sent before it is made. The answer is written down
 * after it: that of a success together with the end of the intent, which mostly follows at once, any other before anything else is done. In a
 * dry run the write becomes a proposal. One intent makes one write: a second one is a fault of the action.
 */
export class GuardedForge {
  readonly client: ForgeClient;
  #write: WriteState | null = null;
  #snapshot: JsonObject | null = null;

  constructor(private readonly options: GuardOptions) {
    this.client = wrapForgeClient(options.client, (name, next, args, callOptions) => {
      const call: AnyForgeCall = async (callArgs, how) => {
        if (this.#write?.unstored) await this.storeAnswer();
        options.called?.(name);
        return this.observe(next(callArgs, how));
      };
      if (isWrite(name)) return this.write(name, call, args, callOptions);
      const how = { ...callOptions, signal: options.signal };
      return options.reads ? options.reads.read(name, call, args, how) : call(args, how);
    });
  }

  /** The one write of an action that writes to a service outside of the forge. It says nothing about the forge. */
  async send(message: Message, addresses: readonly string[] | null): Promise<number> {
    const { messenger } = this.options;
    const call: AnyForgeCall = (_, how = {}) => messenger.send(message, { ...how, addresses });
    return (await this.write(SEND_MESSAGE, call, { ...message })) as number;
  }

  /** Kept with the attempt that follows. */
  remember(snapshot: JsonObject): void {
    this.#snapshot = snapshot;
  }

  /** Null while nothing was marked as sent. */
  get written(): WriteState | null {
    return this.#write;
  }

  private async observe(call: Promise<unknown>): Promise<unknown> {
    try {
      const answer = await call;
      this.options.answered(null);
      return answer;
    } catch (error) {
      this.options.answered(error);
      throw error;
    }
  }

  private async write(
    name: OperationName | typeof SEND_MESSAGE,
    next: AnyForgeCall,
    args: Readonly<Record<string, unknown>>,
    callOptions?: CallOptions,
  ): Promise<unknown> {
    if (this.options.mode === 'dry-run') throw new WriteSuppressed({ operation: name, arguments: hideSecrets(args) });
    if (this.#write) throw new BotError('SECOND_WRITE', `${name}: an action makes one write only`);
    this.options.reads?.beforeWrite();
    try {
      const answer = await next(args, {
        ...callOptions,
        signal: this.options.signal,
        beforeSend: () => this.markSent(name, args),
      });
      this.noteAnswer('done', { objectId: idOf(answer) });
      return answer;
    } catch (error) {
      if (error instanceof CallError) {
        this.noteAnswer(error.kind, {
          status: error.facts.status ?? null,
          message: error.facts.forgeMessage ?? error.message,
        });
        await this.storeAnswer();
      }
      throw error;
    }
  }

  /** Right before the call, after any waiting for a turn: commit the attempt, with rule, lease, epoch and pause checked. */
  private async markSent(name: string, args: Readonly<Record<string, unknown>>): Promise<void> {
    const { journal, clock, intentId, epoch, budgets } = this.options;
    const status = await this.options.status();
    if (status.is !== 'wanted') throw new WriteNotWanted(status);
    let askedMs = clock.monotonicMs();
    const requestHash = hashOf(name, stringifyJson(hideSecrets(args, this.options.hashOf)));
    const attempt = await journal.markSent(intentId, epoch, {
      id: newId(),
      operation: name,
      requestHash,
      snapshot: this.#snapshot,
      budgets,
      onAsked: () => (askedMs = clock.monotonicMs()),
    });
    if (!attempt) throw new WriteNotAllowed();
    this.#write = { attempt, outcome: null };
    if (clock.monotonicMs() - askedMs > MAX_STANDSTILL_MS) {
      throw failedCall('not-sent', 'stood-still', { operation: name, detail: 'stood-still' });
    }
  }

  private noteAnswer(
    outcome: NonNullable<Attempt['outcome']>,
    { status = null, message = null, objectId = null }: Partial<Answer>,
  ): void {
    if (this.#write) this.#write = { ...this.#write, outcome, unstored: { outcome, status, message, objectId } };
  }

  private async storeAnswer(): Promise<void> {
    if (!this.#write?.unstored) return;
    const { unstored, ...write } = this.#write;
    this.#write = write;
    // When even that fails, the move that follows still tells the outcome; else the intent is found as unknown.
    await persist(() => this.options.journal.recordAnswer(write.attempt.id, unstored)).catch(() => undefined);
  }
}

function idOf(answer: unknown): string | null {
  const id = (answer as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : null;
}

/**
 * A copy as plain JSON in which every Secret is replaced, by `[secret]` unless told otherwise; undefined fields fall away.
 * @param replace text that stands for a secret (its HMAC, where two requests are compared)
 */
function hideSecrets(value: unknown, replace: (secret: Secret) => string = String): Json {
  if (value instanceof Secret) return replace(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, replace));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(entries.map(([name, field]) => [name, hideSecrets(field, replace)]));
  }
  return (value ?? null) as Json;
}

/** What was read so long ago is read again. */
const FRESH_MS = 10_000;
/** Nothing that we do changes these: all runs share them, and a write may stand on them. */
export const OF_ALL_RUNS: ReadonlySet<OperationName> = new Set(['listOrgLabels']);
const ALL_RUNS = '';
/** Runs whose reads are kept; the oldest go first. */
const MAX_RUNS = 256;

interface Kept {
  readonly readAtMs: number;
  readonly answer: Promise<{ readonly value: unknown; readonly info: ReplyInfo | null }>;
}

/** Ends an action at its write: what it read was read for another of its run, and a write stands on reads of its own. */
export class ReadForAnother extends Error {
  constructor() {
    super('read for another intent of the run');
  }
}

/**
 * Identical reads of one run, made once: twelve labels that are all there cost one list. Nothing is written on the word of such a read,
 * since labels and milestones have no uniqueness at the forge: what would be written is looked for once more, right before.
 */
export class SharedReads {
  private readonly runs = new Map<string, Map<string, Kept>>();

  constructor(private readonly clock: Clock) {}

  /** The reads of one intent. */
  of(runId: string, forge: string): RunReads {
    return new RunReads(
      forge,
      (name) => this.readsOf(OF_ALL_RUNS.has(name) ? ALL_RUNS : runId),
      () => void this.runs.delete(runId),
      () => this.clock.monotonicMs(),
    );
  }

  private readsOf(runId: string): Map<string, Kept> {
    const existing = this.runs.get(runId);
    if (existing) return existing;
    const fresh = new Map<string, Kept>();
    this.runs.set(runId, fresh);
    for (const oldest of this.runs.keys()) {
      if (this.runs.size <= MAX_RUNS) break;
      this.runs.delete(oldest);
    }
    return fresh;
  }
}

class RunReads {
  private standsOnOthers = false;

  constructor(
    private readonly forge: string,
    private readonly keptFor: (name: OperationName) => Map<string, Kept>,
    private readonly forget: () => void,
    private readonly nowMs: () => number,
  ) {}

  async read(
    name: OperationName,
    next: AnyForgeCall,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown> {
    const key = `${this.forge} ${name} ${stringifyJson(args as never)}`;
    const reads = this.keptFor(name);
    const earlierRead = reads.get(key);
    if (earlierRead && this.nowMs() - earlierRead.readAtMs < FRESH_MS) {
      this.standsOnOthers ||= !OF_ALL_RUNS.has(name);
      return tell(await earlierRead.answer, options);
    }
    let info: ReplyInfo | null = null;
    // The age counts from before the read.
    const readAtMs = this.nowMs();
    const answer = next(args, { ...options, onReply: (reply) => void (info = reply) }).then((value) => ({
      value,
      info,
    }));
    reads.set(key, { readAtMs, answer });
    // A failure is its asker's; another may fare better.
    answer.catch(() => reads.delete(key));
    return tell(await answer, options);
  }

  /** @throws ReadForAnother when it would stand on a read that another intent made */
  beforeWrite(): void {
    const standsOnOthers = this.standsOnOthers;
    this.forget();
    if (standsOnOthers) throw new ReadForAnother();
  }
}

function tell({ value, info }: { value: unknown; info: ReplyInfo | null }, { onReply }: CallOptions): unknown {
  if (info) onReply?.(info);
  return value;
}
