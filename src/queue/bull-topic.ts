import { LRUCache } from 'lru-cache';
import type { Job, Queue } from 'bull';
import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import type { Topic } from '../pipeline/wake-queue.port.js';
import { BullLine } from './bull-line.js';
import { TopicTurns } from './topic-turns.js';

/** Ids in one job: a job costs the server and both sides the same however many it wakes. */
const IDS_IN_JOB = 16;

/** `first`: as many of each organization as an ordinary day brings (see `FirstShare`). */
export type Place = 'first' | 'in turn';
/**
 * Jobs whose ids have not all begun. Of those in turn, one is there when the other is used up; more would wait here while other workers have room. Those
 * that go first are few, and must not wait until the jobs of a flood have begun.
 */
const JOBS_IN_HAND: Readonly<Record<Place, number>> = { first: 8, 'in turn': 2 };

/** Ids that began lately and are remembered. One that is forgotten may be handled once more, which does no harm. */
const BEGUN_KEPT = 1_000;

/** Ids of one organization that are announced together. */
interface Announced {
  readonly org: string;
  readonly place: Place;
  readonly ids: Set<string>;
}

/** One topic: its two Bull queues and, in a worker, the consumer. */
export class BullTopic {
  /** What of each organization goes first. */
  readonly share = new FirstShare();
  private readonly lines: Readonly<Record<Place, BullLine>>;
  private readonly turns: TopicTurns;
  /** Ids of jobs in hand that have not begun, each with what ends the wait of its job. */
  private readonly inHand = new Map<string, Array<() => void>>();
  /** Names the jobs of this process: NAME-NUMBER. */
  private readonly name = newId();
  private jobs = 0;
  /** What waits to be added, by place and organization, and the adding of it. */
  private readonly announced = new Map<string, Announced>();
  private adding: Promise<unknown> | null = null;
  /** For each id that began here lately, the newest job of this process that was there before it began. */
  private readonly begunAfter = new LRUCache<string, number>({ max: BEGUN_KEPT });
  private isClosing = false;

  constructor(
    readonly topic: Topic,
    queues: Readonly<Record<Place, Queue>>,
    logger: Logger,
    now: () => number,
  ) {
    this.turns = new TopicTurns(topic, logger, (id) => this.begins(id), now);
    const line = (place: Place): BullLine => new BullLine(topic, queues[place], logger, now);
    this.lines = { first: line('first'), 'in turn': line('in turn') };
  }

  get isConnected(): boolean {
    return this.all.every(({ isConnected }) => isConnected);
  }

  get isConsuming(): boolean {
    return this.turns.isConsuming;
  }

  /** Open the connections now, for `isConnected` to come true; does not wait for them. */
  connect(): void {
    for (const line of this.all) line.connect();
  }

  /**
   * An id that waits here already is not told again; one that runs here is handled again afterwards. What this process has room for begins here,
   * without the way over the server; what it dies with is found by the sweep, as any lost job is.
   */
  async add(ids: readonly string[], org: string, place: Place): Promise<void> {
    const fresh = [...new Set(ids)].filter(
      (id) => !this.turns.isWaiting(id) && !this.isRunningAgain(id, org) && !this.turns.addIfRoom(id, org),
    );
    if (fresh.length === 0) return;
    const key = `${place} ${org}`;
    const announced = this.announced.get(key) ?? { org, place, ids: new Set() };
    this.announced.set(key, announced);
    for (const id of fresh) announced.ids.add(id);
    this.adding ??= this.addAnnounced();
    await this.adding;
  }

  consume(concurrency: number, handle: (id: string) => Promise<void>): void {
    this.turns.consume(concurrency, handle);
    for (const place of ['first', 'in turn'] as const)
      this.lines[place].consume(JOBS_IN_HAND[place], (job) => this.take(job));
  }

  /** Whether jobs wait that this consumer could take and does not. */
  async isDeaf(): Promise<boolean> {
    const { hasRoom } = this.turns;
    return (await Promise.all(this.all.map((line) => line.isDeaf(hasRoom)))).some(Boolean);
  }

  wake(): void {
    for (const line of this.all) line.wake();
  }

  async ping(): Promise<boolean> {
    return (await Promise.all(this.all.map((line) => line.ping()))).every(Boolean);
  }

  /** What Redis says about itself under this heading. */
  async info(section: string): Promise<string> {
    return this.lines.first.info(section);
  }

  /** Take no more and wait for what runs. */
  async stop(): Promise<void> {
    this.isClosing = true;
    const running = this.turns.stop();
    for (const goOn of [...this.inHand.values()].flat()) goOn();
    this.inHand.clear();
    await Promise.all([...this.all.map((line) => line.stop()), running]);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((line) => line.close()));
  }

  cut(): void {
    for (const line of this.all) line.cut();
  }

  private get all(): readonly BullLine[] {
    return Object.values(this.lines);
  }

  /** What is announced in the same round of the event loop, as the intents of all that was decided together, shares jobs. */
  private async addAnnounced(): Promise<unknown> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const announced = [...this.announced.values()];
    this.announced.clear();
    this.adding = null;
    const of = (place: Place): Announced[] => announced.filter((one) => one.place === place);
    return Promise.all(
      (['first', 'in turn'] as const).map((place) =>
        this.lines[place].add(of(place).flatMap((one) => this.jobsOf(one))),
      ),
    );
  }

  private jobsOf({ org, ids }: Announced): Array<{ jobId: string; data: object }> {
    const all = [...ids];
    return Array.from({ length: Math.ceil(all.length / IDS_IN_JOB) }, (_, n) => ({
      jobId: `${this.name}-${++this.jobs}`,
      data: { ids: all.slice(n * IDS_IN_JOB, (n + 1) * IDS_IN_JOB), ...(org === '' ? {} : { org }) },
    }));
  }

  private isRunningAgain(id: string, org: string): boolean {
    if (!this.turns.isRunning(id)) return false;
    this.turns.add([id], org);
    return true;
  }

  /** Whether the id began here after this process announced it by this job: two jobs that waited side by side may name it. */
  private hasBegunSince(id: string, job: Pick<Job<unknown>, 'id'>): boolean {
    const [, number] = String(job.id).split(`${this.name}-`);
    return number !== undefined && (this.begunAfter.get(id) ?? 0) >= Number(number);
  }

  /** The job is over when all its ids have begun. What comes after the end of taking is left to the sweep, and to other workers. */
  private async take(job: Pick<Job<unknown>, 'id' | 'data'>): Promise<void> {
    const { ids, org } = contentOf(job.data);
    const begun = ids.map(
      (id) =>
        new Promise<void>((resolve) => {
          if (this.isClosing || this.hasBegunSince(id, job) || this.isRunningAgain(id, org)) return resolve();
          this.inHand.set(id, [...(this.inHand.get(id) ?? []), resolve]);
          this.turns.add([id], org);
        }),
    );
    await Promise.all(begun);
  }

  private begins(id: string): void {
    this.begunAfter.set(id, this.jobs);
    for (const goOn of this.inHand.get(id) ?? []) goOn();
    this.inHand.delete(id);
  }
}

/** Whoever may write to our Redis may write anything: what is no id is left out, and the store knows which ids there are. */
function contentOf(data: unknown): { ids: string[]; org: string } {
  const { ids, org } = (data ?? {}) as { ids?: unknown; org?: unknown };
  return {
    ids: Array.isArray(ids) ? [...new Set(ids.slice(0, IDS_IN_JOB))].filter((id) => typeof id === 'string') : [],
    org: typeof org === 'string' ? org : '',
  };
}

/** So many ids of an organization go first at once, … */
const BURST = 40;
/** … and so many more with each second. */
const PER_S = 10;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * Which wake-ups go into a queue of their own, before those that wait in one queue of all organizations: as many of each organization as an ordinary day
 * brings. What an organization announces beyond that waits behind everybody's share. A rate and no turns, since no process sees what others have put into the list
 * on the server, and none can order it. Knows no clock: times are told, in ms of one that only grows.
 */
export class FirstShare {
  readonly #buckets = new Map<string, Bucket>();

  /** @returns how many of so many ids go first */
  take(org: string, count: number, nowMs: number): number {
    let bucket = this.#buckets.get(org);
    if (!bucket) this.#buckets.set(org, (bucket = { left: BURST, atMs: nowMs }));
    bucket.left = Math.min(BURST, bucket.left + ((nowMs - bucket.atMs) / 1000) * PER_S);
    bucket.atMs = nowMs;
    const taken = Math.min(count, Math.floor(bucket.left));
    bucket.left -= taken;
    return taken;
  }
}
