import { operationNames, type OperationArgs, type OperationName, type OperationResult } from './operations.js';

/** What the forge said beside the body. */
export interface ReplyInfo {
  readonly status: number;
  /** X-Total-Count, or the body's `total_count`; null when the forge tells none. A hint, never a promise. */
  readonly totalCount: number | null;
  /** Length of the list as it came, null entries counted; null when the answer is no list. */
  readonly listed: number | null;
  /** The forge's own clock when it answered (Date header, whole seconds cut off); absent or null when it does not tell. */
  readonly date?: Date | null;
}

export interface CallOptions {
  /** Ends the call at once: `not-sent` when nothing was written yet, else `unknown`. */
  readonly signal?: AbortSignal | undefined;
  /** Total time of this call in ms, from its turn in the queue to the last byte; default is the client's. */
  readonly deadlineMs?: number | undefined;
  /** Called right before the request is made, after any waiting for a turn; what it throws ends the call unsent and is passed on as it is. */
  readonly beforeSend?: (() => void | Promise<void>) | undefined;
  readonly onReply?: ((info: ReplyInfo) => void) | undefined;
}

type ForgeCall<Name extends OperationName> = (
  args: OperationArgs<Name>,
  options?: CallOptions,
) => Promise<OperationResult<Name>>;

/**
 * The forge as the rest of the program sees it: one function per operation of the table.
 * Every failure is a ForgeError; what is returned has passed the operation's schema (ids as decimal strings, unset times null).
 * A call is made once: nobody in here repeats a write.
 */
export type ForgeClient = { readonly [Name in OperationName]: ForgeCall<Name> };

/** One call without its types, for code that treats all operations alike. */
export type AnyForgeCall = (args: Readonly<Record<string, unknown>>, options?: CallOptions) => Promise<unknown>;

/** Build a client from one function that serves every operation. */
export function buildForgeClient(callOf: (name: OperationName) => AnyForgeCall): ForgeClient {
  const client = {} as Record<OperationName, AnyForgeCall>;
  for (const name of operationNames) client[name] = callOf(name);
  return Object.freeze(client) as unknown as ForgeClient;
}

/** Put a layer around a client (dry run, counting, recording); `next` is the call below. */
export function wrapForgeClient(
  client: ForgeClient,
  around: (
    name: OperationName,
    next: AnyForgeCall,
    args: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ) => Promise<unknown>,
): ForgeClient {
  return buildForgeClient((name) => {
    const next = client[name] as unknown as AnyForgeCall;
    return (args, options) => around(name, next, args, options);
  });
}
