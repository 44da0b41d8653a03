import { BotError } from '../core/errors.js';
import { FairScheduler } from './fair-scheduler.js';
import { PassingMap, PassingSet } from './passing.js';

export interface CommitLimits<Item> {
  /** Items in one commit. */
  readonly most: number;
  /** So much of what `sizeOf` says fills a commit, the last of them however great. Default: no limit. */
  readonly mostSize?: number;
  /** Default: nothing has a size. */
  readonly sizeOf?: (item: Item) => number;
  /** Commits under way at once; one more is for owners of whom none is under way, so that they do not wait for another's flood. Default: 1 */
  readonly atOnce?: number;
  /** Puts off the begin of a commit, for those that come in the same breath. Default: `setImmediate`, after all requests that lie ready in this turn of the loop */
  readonly soon?: (begin: () => void) => void;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly owner: string;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: while one commit runs, what comes in waits together and shares the next one, the items of one owner (an organization) after another's.
 * At rest an item is written almost at once. An item that the store refuses for good spoils no other: each is then
 * written alone.
 */
export class GroupCommit<Item, Result = void> {
  private readonly waiting = new FairScheduler<Waiting<Item, Result>>();
  private readonly sizes = new PassingMap<string, number>();
  /** Sum of `sizes`. */
  private size = 0;
  /** For each commit under way, the owners that it is of. */
  private readonly running = new PassingSet<ReadonlySet<string>>();
  private isStarting = false;
  private idle: Array<() => void> = [];

  /** @param write stores all and answers in the order given, or throws and has stored nothing; it may be given the same item once more after that */
  constructor(
    private readonly write: (items: Item[]) => Promise<readonly Result[]>,
    private readonly limits: CommitLimits<Item>,
  ) {}

  /** What waits: of everybody, of one owner, and how many owners there are. */
  load(owner: string): { all: number; allSize: number; own: number; ownSize: number; owners: number } {
    const [all, own] = [this.waiting.size, this.waiting.of(owner)];
    return { all, allSize: this.size, own, ownSize: this.sizes.get(owner) ?? 0, owners: this.waiting.owners };
  }

  /** Resolves after the commit that holds the item. @throws what `write` threw for it */
  add(item: Item, owner: string): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.add({ item, owner, resolve, reject }, owner);
      this.count(item, owner, 1);
      this.startNext();
    });
  }

  /** Resolves when nothing waits and no commit runs. */
  async drained(): Promise<void> {
    if (this.running.size === 0 && this.waiting.size === 0) return;
    await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** @returns the size of the item */
  private count(item: Item, owner: string, sign: 1 | -1): number {
    const size = this.limits.sizeOf?.(item) ?? 0;
    this.size += sign * size;
    const newSize = (this.sizes.get(owner) ?? 0) + sign * size;
    if (newSize > 0) this.sizes.set(owner, newSize);
    else this.sizes.delete(owner);
    return size;
  }

  /** Not without others of its breath: else the first would have a commit to itself, and all others would wait for it. */
  private startNext(): void {
    if (this.isStarting || this.running.size > (this.limits.atOnce ?? 1) || this.waiting.size === 0) return;
    this.isStarting = true;
    (this.limits.soon ?? setImmediate)(() => {
      this.isStarting = false;
      const batch = this.nextBatch();
      if (batch.length > 0) void this.commit(batch);
    });
  }

  private nextBatch(): Array<Waiting<Item, Result>> {
    const { most, mostSize = Infinity, atOnce = 1 } = this.limits;
    const underWay = this.running.size < atOnce ? [] : [...this.running].flatMap((owners) => [...owners]);
    const batch: Array<Waiting<Item, Result>> = [];
    for (let size = 0; batch.length < most && size < mostSize;) {
      const next = this.waiting.next({ mayBegin: (owner) => !underWay.includes(owner) })?.item;
      if (!next) break;
      size += this.count(next.item, next.owner, -1);
      batch.push(next);
    }
    return batch;
  }

  private async commit(batch: ReadonlyArray<Waiting<Item, Result>>): Promise<void> {
    const owners = new Set(batch.map(({ owner }) => owner));
    this.running.add(owners);
    this.startNext();
    await this.store(batch);
    for (const one of batch) this.waiting.ended(one);
    this.running.delete(owners);
    this.startNext();
    if (this.running.size === 0 && this.waiting.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private async store(batch: ReadonlyArray<Waiting<Item, Result>>): Promise<void> {
    const items = batch.map(({ item }) => item);
    try {
      const results = await this.write(items);
      for (const [n, { resolve }] of batch.entries()) resolve(results[n] as Result);
    } catch (error) {
      const isRefused = error instanceof BotError && error.retry === 'permanent';
      if (batch.length > 1 && isRefused) for (const one of batch) await this.store([one]);
      else for (const { reject } of batch) reject(error);
    } finally {
      // What served the statement may stay in memory for seconds, and would keep the items.
      items.length = 0;
    }
  }
}
