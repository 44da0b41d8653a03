import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { BotError, UserError } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { stringifyJson } from '../core/json.js';
import { Logger } from '../core/logger.js';
import type { ControlCaller } from '../core/operators.js';
import { hearProgress, type Progress } from '../core/progress.js';
import { within } from '../core/within.js';

/** How a call ended. */
type Outcome = { readonly answer: unknown } | { readonly error: unknown };

/** A call that goes on by itself, whether or not somebody waits for its answer. */
export interface LongCall {
  readonly id: string;
  /** Null until it tells how far it is. */
  readonly progress: Progress | null;
  /** Null while it runs. */
  readonly outcome: Outcome | null;
  readonly ended: Promise<void>;
}

/** How long an answer can be fetched. */
const KEPT_MS = 3_600_000;
/** Answers that are kept, the newest ones. */
const MOST = 200;

interface OwnCall extends LongCall {
  readonly key: string;
  readonly owner: string;
  progress: Progress | null;
  outcome: Outcome | null;
  ended: Promise<void>;
  endedAtMs: number;
}

/** Calls of the control API that may take long: a client that is gone ends none of them, and whoever asks for the same again joins it. */
@Injectable()
export class LongCalls {
  private readonly calls = new Map<string, OwnCall>();

  constructor(
    @Inject(Clock) private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly logger: Logger,
  ) {}

  /** @param input a reason in it tells no calls apart @param work begun unless the same call of this caller runs already */
  begin(caller: ControlCaller, operation: string, input: object, work: () => Promise<unknown>): LongCall {
    const { reason: _, ...rest } = input as { readonly reason?: unknown };
    const [owner, key] = [ownerOf(caller), `${operation} ${stringifyJson(rest as never)}`];
    const running = [...this.calls.values()].find(
      (call) => call.owner === owner && call.key === key && call.outcome === null,
    );
    if (running) return running;
    this.forgetOld();
    const call: OwnCall = {
      id: newId(),
      key,
      owner,
      progress: null,
      outcome: null,
      endedAtMs: 0,
      ended: Promise.resolve(),
    };
    const settle = (outcome: Outcome): void => {
      call.outcome = outcome;
      call.endedAtMs = this.clock.monotonicMs();
    };
    call.ended = hearProgress(
      (progress) => (call.progress = progress),
      () =>
        work().then(
          (answer) => settle({ answer }),
          (error: unknown) => settle({ error }),
        ),
    );
    this.calls.set(call.id, call);
    return call;
  }

  /**
   * The answer of a call that ends within this time; else the call, which goes on. An error after that is in the log, unless it is told to whoever looks.
   * @throws what the call failed with within the time
   */
  async run(
    caller: ControlCaller,
    operation: string,
    input: object,
    work: () => Promise<unknown>,
    waitMs: number,
  ): Promise<{ readonly answer: unknown } | { readonly call: LongCall }> {
    const call = this.begin(caller, operation, input, work);
    await within(waitMs, call.ended).catch(() => undefined);
    if (call.outcome === null) {
      void call.ended.then(() => this.logFault(operation, call.outcome));
      return { call };
    }
    if ('error' in call.outcome) throw call.outcome.error;
    return call.outcome;
  }

  private logFault(operation: string, outcome: Outcome | null): void {
    if (outcome && 'error' in outcome && !(outcome.error instanceof BotError))
      this.logger.error({ operation, error: outcome.error }, 'call.failed');
  }

  /**
   * Waits for the end of a call for so long, at most.
   * @throws UserError NOT_FOUND where this caller began no such call, or its answer is not kept any more
   */
  async look(caller: ControlCaller, id: string, waitMs: number): Promise<LongCall> {
    const call = this.calls.get(id);
    if (call?.owner !== ownerOf(caller))
      throw new UserError('NOT_FOUND', `there is no call ${id}: the bot was started again, or it ended long ago`);
    await within(waitMs, call.ended).catch(() => undefined);
    return call;
  }

  private forgetOld(): void {
    const now = this.clock.monotonicMs();
    const over = [...this.calls.values()].filter(({ outcome }) => outcome !== null);
    const old = over.filter(({ endedAtMs }, n) => endedAtMs + KEPT_MS <= now || n < over.length - MOST);
    for (const { id } of old) this.calls.delete(id);
  }
}

function ownerOf({ kind, name }: ControlCaller): string {
  return `${kind} ${name}`;
}
