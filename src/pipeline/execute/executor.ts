import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Logger } from '../../core/logger.js';
import { JournalStore, type Claim, type DueIntent } from '../journal-store.port.js';
import { LineTurns, type Dealt, type Hands, type TopicWork } from '../line-turns.js';
import { LINES_AT_ONCE, WorkQueue } from '../work-queue.port.js';
import { IntentToEffect } from '../execute.js';
import type { Again } from './settle.js';

type IntentTopic = 'intents' | 'background';

/**
 * Calls under way at once in each topic, so that those which wait for their turn at a forge keep no others from theirs; the forge's own limits are kept by its
 * client.
 */
@Injectable()
export class IntentHands implements Readonly<Record<IntentTopic, Hands>> {
  readonly intents: Hands = { most: 65, refill: 16 };
  readonly background: Hands = { most: 5, refill: 1 };
}

/** Due intents that one look finds: it costs as much as there are repositories with planned ones. */
const LOOK = 256;

type Effects = Pick<IntentToEffect, 'claim' | 'execute' | 'abort'>;

interface ClaimedIntent {
  readonly id: string;
  readonly claim: Claim;
}

/** Deals due intents to free hands, works on each, and goes on with what its end set free. */
@Injectable()
export class Executor {
  private readonly topics: Readonly<Record<IntentTopic, IntentTurns>>;

  constructor(
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring' | 'serve'>,
    @Inject(JournalStore) journal: Pick<JournalStore, 'dueIntents'>,
    @Inject(IntentToEffect) private readonly effects: Effects,
    hands: IntentHands,
    @Inject(Clock) clock: Pick<Clock, 'monotonicMs'>,
    logger: Logger,
  ) {
    const turnsOf = (topic: IntentTopic): IntentTurns =>
      new IntentTurns(topic, queue, journal, effects, (of) => new LineTurns(topic, of, hands[topic], logger, clock));
    this.topics = { intents: turnsOf('intents'), background: turnsOf('background') };
  }

  async start(): Promise<void> {
    for (const topic of ['intents', 'background'] as const)
      await this.queue.serve(
        topic,
        LINES_AT_ONCE[topic],
        (org, help) => this.turn(topic, org, help),
        (org) => this.topics[topic].turns.isDue(org),
      );
  }

  /** @returns whether it left work behind that is due */
  turn(topic: IntentTopic, org: string, help?: () => void): Promise<boolean> {
    return this.topics[topic].turns.turn(org, help);
  }

  /**
   * Take nothing new and wait for what runs; after the time is over, calls under way are ended, and what was sent without an answer is unknown.
   * Call it before the queue and the store are closed.
   */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.effects.abort(), graceMs);
    await Promise.all(Object.values(this.topics).map((topic) => topic.stop()));
    clearTimeout(timer);
  }
}

class IntentTurns implements TopicWork<ClaimedIntent> {
  readonly turns: LineTurns<ClaimedIntent>;
  /** By organization, ids that a look found due and that were not tried yet. */
  private readonly due = new Map<string, readonly string[]>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private isStopping = false;

  constructor(
    private readonly topic: IntentTopic,
    private readonly queue: Pick<WorkQueue, 'ring'>,
    private readonly journal: Pick<JournalStore, 'dueIntents'>,
    private readonly effects: Effects,
    turnsOf: (work: TopicWork<ClaimedIntent>) => LineTurns<ClaimedIntent>,
  ) {
    this.turns = turnsOf(this);
  }

  /** One at most of each repository is due at once: the claim keeps their order. */
  async deal(org: string, most: number, except: ReadonlySet<string>): Promise<Dealt<ClaimedIntent>> {
    const earlier = this.due.get(org);
    const due = (earlier ?? (await this.look(org))).filter((id) => !except.has(id));
    const rest = due.slice(most);
    const claims = await this.effects.claim(due.slice(0, most));
    const items = claims.map((claim) => ({ id: claim.intent.id, claim }));
    if (rest.length > 0 && items.length > 0) this.due.set(org, rest);
    else this.due.delete(org);
    // What an earlier look found says nothing about what is due now.
    return { items, isFull: earlier !== undefined || (rest.length > 0 && items.length > 0) };
  }

  async isDue(org: string, except: ReadonlySet<string>): Promise<boolean> {
    return (await this.look(org)).some((id) => !except.has(id));
  }

  async work({ claim }: ClaimedIntent): Promise<null> {
    for (let next: Claim | undefined = claim; next;) next = await this.workOn(next);
    return null;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearTimeout(timer);
    await this.turns.stop();
  }

  private look(org: string): Promise<string[]> {
    return this.journal.dueIntents(LOOK, { org, background: this.topic === 'background' });
  }

  /** @returns the next of the same repository, run or effect, in the same hand as long as no other line waits for one */
  private async workOn(claim: Claim): Promise<Claim | undefined> {
    const { again, near, org } = await this.effects.execute(claim);
    if (again !== null) this.ringLater(again, org);
    const [next, ...others] = near.filter(({ isBackground }) => isBackground === (this.topic === 'background'));
    for (const one of near.length > 0 && !next ? near : others) this.ring(one, org);
    if (!next) return undefined;
    if (!this.isStopping && !this.turns.isWaitedFor) return (await this.effects.claim([next.id]))[0];
    this.ring(next, org);
    return undefined;
  }

  private ring({ isBackground }: Pick<DueIntent, 'isBackground'>, org: string): void {
    if (!this.isStopping) this.queue.ring(isBackground ? 'background' : 'intents', org);
  }

  /** A kindness of this process only: when it ends meanwhile, the poll finds the intent when it is due. */
  private ringLater({ inMs, ...intent }: Again, org: string): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.ring(intent, org);
    }, inMs + 1);
    timer.unref();
    this.timers.add(timer);
  }
}
