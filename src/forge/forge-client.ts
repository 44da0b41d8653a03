import { ForgeError } from '../core/errors.js';
import { stringifyJson } from '../core/json.js';
import {
  operationNames,
  type OperationArgs,
  type OperationName,
  type OperationResult,
  operationOf,
  type ListItem,
  type PagedOperationName,
} from './operations.js';
import { failedCall } from './failed-call.js';

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

/** A call is built when it is first asked for: each effect has a client of its own, and uses a few of its more than a hundred calls. */
class BuiltClient {
  readonly #built = new Map<OperationName, AnyForgeCall>();
  readonly #callOf: (name: OperationName) => AnyForgeCall;

  static {
    for (const name of operationNames)
      Object.defineProperty(this.prototype, name, {
        get(this: BuiltClient) {
          return this.#call(name);
        },
      });
  }

  constructor(callOf: (name: OperationName) => AnyForgeCall) {
    this.#callOf = callOf;
  }

  #call(name: OperationName): AnyForgeCall {
    const existingCall = this.#built.get(name);
    if (existingCall) return existingCall;
    const call = this.#callOf(name);
    this.#built.set(name, call);
    return call;
  }
}

/** Build a client from one function that serves every operation. */
export function buildForgeClient(callOf: (name: OperationName) => AnyForgeCall): ForgeClient {
  return new BuiltClient(callOf) as unknown as ForgeClient;
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

/** The answer, or null where the forge has no such call, or refuses it to us. Every other failure is the caller's. */
export async function orNull<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'not-offered' || error.kind === 'refused')) return null;
    throw error;
  }
}

/**
 * Ask with a call that not every forge offers.
 * @returns undefined when the forge is known not to offer it, or says so now
 */
export async function whereOffered<Call, Answer>(
  call: Call | undefined,
  ask: (call: Call) => Promise<Answer>,
): Promise<Answer | undefined> {
  if (call === undefined) return undefined;
  try {
    return await ask(call);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not-offered') return undefined;
    throw error;
  }
}

/** As whereOffered, for a read that needs another right than the write does: a token without it does without the read. */
export async function whereAllowed<Call, Answer>(
  call: Call | undefined,
  ask: (call: Call) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await whereOffered(call, ask);
  } catch (error) {
    if (isRefused(error, 403) || isRefused(error, 401)) return undefined;
    throw error;
  }
}

/** The answer, or null when the forge says that there is no such thing (404). */
export async function orMissing<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (isRefused(error, 404)) return null;
    throw error;
  }
}

export function isRefused(error: unknown, status: number): error is ForgeError {
  return error instanceof ForgeError && error.kind === 'refused' && error.facts.status === status;
}

interface PageOptions extends CallOptions {
  /** Asked page size; servers cut it down silently. Default 50. */
  readonly limit?: number | undefined;
  /** More pages than this are an error, never a silent end. Default 1000. */
  readonly maxPages?: number | undefined;
}

interface Page<Item> {
  readonly number: number;
  /** Items not seen on an earlier page. */
  readonly items: readonly Item[];
  /** What the forge says there are in all; a hint. */
  readonly totalCount: number | null;
}

/** Arguments of a paged operation without those that paging sets itself. */
type ListArgs<Name extends PagedOperationName> = Omit<OperationArgs<Name>, 'page' | 'limit'>;

/** A list is read again when it got shorter meanwhile, since then an item may have slipped over a page boundary. */
const MAX_RESTARTS = 2;

/**
 * All pages of a list, one after another, each item once (by its id or natural key).
 * It ends at the empty page, at a page that brings nothing new, or when as many items came as there are in all;
 * never at a short page, since some lists are filtered after the page was cut.
 * @throws ForgeError of the call; `unknown` with detail `pages` beyond maxPages
 */
export async function* listPages<Name extends PagedOperationName>(
  client: Partial<Pick<ForgeClient, Name>>,
  name: Name,
  args: ListArgs<Name>,
  options: PageOptions = {},
): AsyncGenerator<Page<ListItem<Name>>> {
  const { limit = 50, maxPages = 1000, ...callOptions } = options;
  const seen = new Set<string>();
  const progress = new Progress(limit, operationOf(name).totalIsOfPage !== true);
  for (let number = 1; number <= maxPages; number += 1) {
    let info: ReplyInfo | undefined;
    const answer = await (client[name] as unknown as AnyForgeCall)(
      { ...args, page: number, limit },
      { ...callOptions, onReply: (reply) => void (info = reply) },
    );
    const items = itemsOf<ListItem<Name>>(name, answer);
    const fresh = items.filter((item) => isNew(seen, item));
    yield { number, items: fresh, totalCount: info?.totalCount ?? null };
    if (
      progress.isDone(number, {
        listed: info?.listed ?? items.length,
        fresh: fresh.length,
        totalCount: info?.totalCount ?? null,
      })
    )
      return;
  }
  throw failedCall('unknown', 'pages', { operation: name, detail: 'pages' }, { note: String(maxPages) });
}

/** The whole list; read again from the start when it got shorter while it was read. */
export async function listAll<Name extends PagedOperationName>(
  client: ForgeClient,
  name: Name,
  args: ListArgs<Name>,
  options: PageOptions = {},
): Promise<ListItem<Name>[]> {
  for (let restarts = 0; ; restarts += 1) {
    const all: ListItem<Name>[] = [];
    let total: number | null = null;
    let shrank = false;
    for await (const page of listPages(client, name, args, options)) {
      all.push(...page.items);
      shrank ||=
        total !== null &&
        page.totalCount !== null &&
        page.totalCount < total &&
        operationOf(name).totalIsOfPage !== true;
      total = page.totalCount ?? total;
    }
    if (!shrank || restarts === MAX_RESTARTS) return all;
  }
}

/** Every item of a paged list, with the few calls that an action was given. The caller has checked that the list is offered. */
export function readAll<Name extends PagedOperationName>(
  forge: Partial<Pick<ForgeClient, Name>>,
  name: Name,
  args: ListArgs<Name>,
): Promise<ListItem<Name>[]> {
  return listAll(forge as unknown as ForgeClient, name, args);
}

/**
 * The first items of a paged list, of those that are wanted: no page is read beyond them.
 * @param first how many; undefined = all of them
 */
export async function readFirst<Name extends PagedOperationName>(
  forge: Partial<Pick<ForgeClient, Name>>,
  name: Name,
  args: ListArgs<Name>,
  first: number | undefined,
  isWanted: (item: ListItem<Name>) => boolean = () => true,
): Promise<ListItem<Name>[]> {
  if (first === undefined) return (await readAll(forge, name, args)).filter(isWanted);
  const items: ListItem<Name>[] = [];
  for await (const page of listPages(forge, name, args)) {
    items.push(...page.items.filter(isWanted));
    if (items.length >= first) break;
  }
  return items.slice(0, Math.max(first, 0));
}

/** More empty pages in a row than any filter explains: the total is wrong. */
const MAX_EMPTY_PAGES = 20;
/** Servers with pages shorter than asked need more than one look beyond where the list should end. */
const ENOUGH_EMPTY_PAGES = 3;

/** When a list has been read to its end. */
class Progress {
  #offered = 0;
  #emptyInRow = 0;
  #largest = 1;

  constructor(
    readonly limit: number,
    readonly totalIsOfList: boolean,
  ) {}

  isDone(number: number, page: { listed: number; fresh: number; totalCount: number | null }): boolean {
    this.#offered += page.listed;
    this.#largest = Math.max(this.#largest, page.listed);
    this.#emptyInRow = page.listed === 0 ? this.#emptyInRow + 1 : 0;
    const total = this.totalIsOfList ? page.totalCount : null;
    if (total === null) return page.fresh === 0;
    if (this.#offered >= total || this.#emptyInRow >= MAX_EMPTY_PAGES) return true;
    const shouldHaveEnded = number * this.limit >= total;
    // A page of known items only: the server does not know `page`, or the list moved by a whole page.
    if (page.listed > 0) return page.fresh === 0 && shouldHaveEnded;
    // An empty page may be a filtered one as long as not all were offered.
    return number * this.#largest >= total || (shouldHaveEnded && this.#emptyInRow >= ENOUGH_EMPTY_PAGES);
  }
}

function itemsOf<Item>(name: PagedOperationName, answer: unknown): readonly Item[] {
  const key = operationOf(name).list;
  const list = key === undefined ? answer : (answer as Readonly<Record<string, unknown>>)[key];
  return Array.isArray(list) ? (list as Item[]) : [];
}

const KEYS = ['id', 'remote_name', 'name', 'sha', 'filename', 'rule_name'] as const;

/** What tells an item from others: its key, or all of it where it has none (a reaction). */
function identityOf(item: unknown): string {
  const fields = item as Readonly<Record<string, unknown>>;
  const key = KEYS.find((name) => typeof fields[name] === 'string' && fields[name] !== '');
  return key === undefined ? stringifyJson(item) : `${key}=${String(fields[key])}`;
}

function isNew(seen: Set<string>, item: unknown): boolean {
  const identity = identityOf(item);
  if (seen.has(identity)) return false;
  seen.add(identity);
  return true;
}
