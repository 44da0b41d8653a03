import type { Job, JobOptions, Queue } from 'bull';
import type { Redis } from 'ioredis';
import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import { NewestMap } from '../core/newest-map.js';
import type { Topic } from '../pipeline/wake-queue.port.js';
import { cutRedis } from './redis-options.js';
import { TopicTurns } from './topic-turns.js';

/** Ids in one job: a job costs the server and both sides the same however many it wakes. */
const IDS_IN_JOB = 16;
/** Jobs whose ids have not all begun. With two, one is there when the other is used up; more would wait here while other workers have room. */
const JOBS_IN_HAND = 2;

/** Ids that began lately and are remembered. One that is forgotten may be handled once more, which does no harm. */
const BEGUN_KEPT = 1_000;

/** Waiting jobs that nobody starts for so long mean that the consumer does not hear them. */
const DEAF_AFTER_MS = 10_000;

/** Ids of one organization that are announced together. */
interface Announced {
  readonly org: string;
  readonly place: 'first' | 'in turn';
  readonly ids: Set<string>;
}

/**
 * One topic: its Bull queue and, in a worker, the consumer. All that reaches into Bull's internals stands here.
 *
 * The consumer is no `@Processor` class of @nestjs/bull. That package begins to take jobs in `onModuleInit` of a global module, in every process
 * that knows the class: before forges and rules are ready (https://github.com/nestjs/bull/issues/760; only @nestjs/bullmq can be told to wait,
 * https://github.com/nestjs/bull/pull/2038). `@Process` takes its concurrency when the class is defined, before any config is read; its author's
 * answer is to use Bull itself then (https://github.com/nestjs/bull/issues/395). And at a stop it waits for the server, which may be away.
 */
export class BullTopic {
  /** What of each organization goes first. */
  readonly share = new FirstShare();
  private readonly turns: TopicTurns;
  /** Ids of jobs in hand that have not begun, each with what ends the wait of its job. */
  private readonly inHand = new Map<string, Array<() => void>>();
  /** Names the jobs of this process: NAME-NUMBER. */
  private readonly name = newId();
  private jobs = 0;
  /** What waits to be added, by place and organization, and the adding of it. */
  private readonly announced = new Map<string, Announced>();
  private adding: Promise<void> | null = null;
  /** For each id that began here lately, the newest job of this process that was there before it began. */
  private readonly begunAfter = new NewestMap<string, number>(BEGUN_KEPT);
  /** Monotonic ms of the last time a job was started or none waited. */
  private heardAt = 0;
  private isClosing = false;

  constructor(
    readonly topic: Topic,
    private readonly queue: Queue,
    private readonly logger: Logger,
    private readonly now: () => number,
  ) {
    this.turns = new TopicTurns(topic, logger, (id) => this.begins(id), now);
    // Without a listener, an error event ends the process.
    queue.on('error', (error) => this.logger.warn({ topic, reason: error.message }, 'queue.error'));
    // The name of a connection is for people's eyes; when Redis no longer lets us in, its failure would end the process too.
    const named = queue as unknown as { setWorkerName(): Promise<unknown> };
    const setName = named.setWorkerName.bind(queue);
    named.setWorkerName = () => setName().catch(() => undefined);
    // What @nestjs/bull would do at a stop waits for a server that may be away; `close` is bounded.
    Object.assign(queue, { onApplicationShutdown: () => undefined });
  }

  get isConnected(): boolean {
    return (this.queue.client as Redis).status === 'ready';
  }

  get isConsuming(): boolean {
    return this.turns.isConsuming;
  }

  /** Open the connection now, for `isConnected` to come true; does not wait for it. */
  connect(): void {
    void this.queue.isReady().catch(() => undefined);
  }

  /**
   * An id that waits here already is not told again; one that runs here is handled again afterwards. What this process has room for begins here,
   * without the way over the server; what it dies with is found by the sweep, as any lost job is.
   * @param place `first`: before all that wait in turn
   */
  async add(ids: readonly string[], org: string, place: 'first' | 'in turn'): Promise<void> {
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
    this.heardAt = this.now();
    // Settled only when the queue is closed; failures come as error events.
    void this.queue.process(JOBS_IN_HAND, (job: Job) => this.take(job)).catch(() => undefined);
  }

  /** Whether jobs wait that this consumer could take and does not. Where ids of jobs in hand wait for their organization's turn, it has heard. */
  async isDeaf(): Promise<boolean> {
    if (!this.isConsuming) return false;
    const couldStart = this.turns.hasRoom && this.inHand.size === 0 && (await this.queue.getWaitingCount()) > 0;
    if (!couldStart) this.heardAt = this.now();
    return this.now() - this.heardAt > DEAF_AFTER_MS;
  }

  /** Connect the blocking read anew; Bull then asks again. It may stay deaf after a reconnect: https://github.com/OptimalBits/bull/issues/1873. */
  wake(): void {
    this.heardAt = this.now();
    const { bclient } = this.queue as unknown as { bclient: Redis };
    bclient.disconnect(true);
  }

  async ping(): Promise<boolean> {
    return (await (this.queue.client as Redis).ping()) === 'PONG';
  }

  /** What Redis says about itself under this heading. */
  async info(section: string): Promise<string> {
    return (this.queue.client as Redis).info(section);
  }

  /** Take no more and wait for what runs. */
  async stop(): Promise<void> {
    this.isClosing = true;
    const running = this.turns.stop();
    for (const goOn of [...this.inHand.values()].flat()) goOn();
    this.inHand.clear();
    // Waited for: it connects the blocking read anew, which must not happen behind the close.
    const paused = this.isConsuming && this.isConnected ? this.queue.pause(true, true).catch(() => undefined) : null;
    await Promise.all([paused, running]);
  }

  async close(): Promise<void> {
    await this.queue.close(true);
  }

  /** `close` hangs without a server; the connections themselves can always be cut. */
  cut(): void {
    const { clients } = this.queue as unknown as { clients: Redis[] };
    for (const client of clients) cutRedis(client);
  }

  /** What is announced in the same round of the event loop, as the intents of all that was decided together, shares jobs. */
  private async addAnnounced(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const announced = [...this.announced.values()];
    this.announced.clear();
    this.adding = null;
    await this.queue.addBulk(announced.flatMap((one) => this.jobsOf(one)));
  }

  private jobsOf({ org, place, ids }: Announced): Array<{ data: object; opts: JobOptions }> {
    // A job without a priority waits behind all that have one.
    const opts = { removeOnComplete: true, removeOnFail: true, ...(place === 'first' ? { priority: 1 } : {}) };
    const all = [...ids];
    return Array.from({ length: Math.ceil(all.length / IDS_IN_JOB) }, (_, n) => ({
      data: { ids: all.slice(n * IDS_IN_JOB, (n + 1) * IDS_IN_JOB), ...(org === '' ? {} : { org }) },
      opts: { ...opts, jobId: `${this.name}-${++this.jobs}` },
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
    this.heardAt = this.now();
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
 * Which wake-ups go before those that wait in one queue of all organizations: as many of each organization as an ordinary day brings. What an
 * organization announces beyond that waits behind everybody's share. A rate and no turns, since no process sees what others have put into the list
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
