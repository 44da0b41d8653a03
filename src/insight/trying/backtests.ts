import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../core/clock.js';
import { BotError, messageOf, UserError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { Logger } from '../../core/logger.js';
import type { Problem } from '../../core/problem.js';
import { loadLimit } from '../../policies/thread/bounded-rules.js';
import type { BacktestReport } from '../backtest/backtest-report.js';
import type { HistoryAnswer } from '../history-store.port.js';
import { expected, tookTooMuch } from './drafts.js';
import type { DraftBacktest } from './try-answers.js';
import type { Draft, TryAnswer, TryOrder } from './try-orders.js';
import type { TryThread } from './try-thread.js';
import { TryThreads } from './try-threads.js';
import { BotLoad } from '../bot-load.js';
import { HistoryReader } from '../history-reader.js';

const DAY_MS = 86_400_000;
const PAGE = 100;
/** Longest that the thread may take for an event, beside its rules. */
const EVENT_MS = 10_000;
/** What the thread has for each rule that may decide about an event; the decision itself is ended after less. */
const RULE_MS = 1_000;
/** After each page the back-test rests so many times as long as the page took: the bot has the processor and the store first. */
const REST_SHARE = { idle: 3, busy: 15 } as const;
const MAX_EVENTS = 50_000;
/** Whoever does not ask how far it is any more has left. */
const ABANDONED_MS = 60_000;
/** A result waits so long for somebody to look at it. */
const KEPT_MS = 10 * 60_000;
/** Of all people, done or not. */
const MAX_KEPT = 50;
/** So many people at once, each with one back-test in a thread of its own; others wait for the first that ends. */
const AT_ONCE = 4;

interface Job {
  readonly id: string;
  readonly by: string;
  readonly draft: Draft;
  readonly days: number;
  readonly isOpen: boolean;
  readonly since: Date;
  readonly until: Date;
  state: DraftBacktest['state'];
  events: number;
  /** When the last event that was tried was stored. */
  reached: Date;
  problems: readonly Problem[];
  failure: string | null;
  report: BacktestReport | null;
  askedAt: Date;
}

/**
 * Back-tests of drafts, one for each person: a page of history after the other, with rests between them. A long one, or one that ends its thread, holds
 * up nobody else's. They are held in memory: what the process did not finish, somebody asks for again.
 */
@Injectable()
export class Backtests {
  readonly #jobs = new Map<string, Job>();
  #waiting: Job[] = [];
  /** By person: one that was cancelled holds the person's place, and nobody else's, until its thread ends what it does. */
  readonly #running = new Map<string, Promise<void>>();
  #isStopped = false;

  constructor(
    @Inject(TryThreads) private readonly threads: Pick<TryThreads, 'make'>,
    @Inject(HistoryReader) private readonly history: Pick<HistoryReader, 'page'>,
    @Inject(BotLoad) private readonly load: Pick<BotLoad, 'isBusy'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'now' | 'monotonicMs'>,
    private readonly logger: Logger,
  ) {}

  /**
   * Takes the place of the person's back-test before.
   * @param isOpen sealed answers of the organization are opened for this person
   * @throws UserError TOO_MANY_BACKTESTS
   */
  start(by: string, draft: Draft, days: number, isOpen: boolean): DraftBacktest {
    this.cancel(by);
    const until = this.clock.now();
    this.#forgetOld(until);
    this.#jobs.delete(by);
    if (this.#jobs.size >= MAX_KEPT)
      throw new UserError('TOO_MANY_BACKTESTS', `${MAX_KEPT} people try rules: try again in ten minutes`);
    const since = new Date(until.getTime() - days * DAY_MS);
    const job: Job = {
      id: newId(),
      by,
      draft,
      days,
      isOpen,
      since,
      until,
      state: 'waiting',
      events: 0,
      reached: since,
      problems: [],
      failure: null,
      report: null,
      askedAt: until,
    };
    this.#jobs.set(by, job);
    const answer = backtestOf(job);
    this.#waiting.push(job);
    this.#runNext();
    return answer;
  }

  /** How far the person's back-test is; null = there is none. */
  of(by: string): DraftBacktest | null {
    const job = this.#jobs.get(by);
    if (!job) return null;
    job.askedAt = this.clock.now();
    return backtestOf(job);
  }

  /** @returns false when none was under way */
  cancel(by: string): boolean {
    const job = this.#jobs.get(by);
    if (!job || !isUnderWay(job)) return false;
    job.state = 'cancelled';
    this.#waiting = this.#waiting.filter((one) => one !== job);
    return true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const by of this.#jobs.keys()) this.cancel(by);
    await Promise.all(this.#running.values());
  }

  protected sleep(ms: number): Promise<unknown> {
    return sleep(ms);
  }

  #runNext(): void {
    while (this.#running.size < AT_ONCE) {
      const job = this.#waiting.find(({ by }) => !this.#running.has(by));
      if (!job) return;
      this.#waiting = this.#waiting.filter((one) => one !== job);
      const run = this.#run(job).finally(() => {
        this.#running.delete(job.by);
        this.#runNext();
      });
      this.#running.set(job.by, run);
    }
  }

  async #run(job: Job): Promise<void> {
    if (!this.#goesOn(job)) return;
    job.state = 'running';
    const thread = this.threads.make();
    try {
      await this.#try(job, thread);
    } catch (error) {
      if (!isUnderWay(job)) return;
      job.state = 'failed';
      job.failure = error instanceof BotError ? error.message : 'the back-test failed; the log says why';
      if (!(error instanceof UserError))
        this.logger.warn({ org: job.draft.org, error: messageOf(error) }, 'backtest.failed');
    } finally {
      await thread.stop();
    }
  }

  async #try(job: Job, thread: TryThread): Promise<void> {
    const { draft, since, until, isOpen } = job;
    const beginning = await ask(thread, { kind: 'begin', draft }, loadLimit(draft.files));
    if (beginning.kind === 'refused') {
      job.state = 'refused';
      job.problems = beginning.problems;
      return;
    }
    // A decision that is ended ends the thread of the rules: the next one loads all files again.
    const limitMs = EVENT_MS + (RULE_MS + loadLimit(draft.files)) * expected(beginning, 'begun').rules;
    const notes = new Set<string>();
    let after: string | null = null;
    do {
      if (!this.#goesOn(job)) return;
      const began = this.clock.monotonicMs();
      const page: HistoryAnswer = await this.history.page({ org: draft.org, since, until, limit: PAGE, after }, isOpen);
      // One by one: rules that take as long as they may are slow together, and break nothing.
      for (const event of page.events) {
        const runs = page.runs.filter(({ eventId }) => eventId === event.id);
        expected(await ask(thread, { kind: 'add', page: { ...page, events: [event], runs } }, limitMs), 'added');
        if (!this.#goesOn(job)) return;
      }
      job.events += page.events.length;
      job.reached = page.events.at(-1)?.storedAt ?? job.reached;
      if (!page.bot) notes.add('no forge said which account the bot has: its own acts count as acts of people');
      after = job.events >= MAX_EVENTS ? null : page.next;
      if (after !== page.next)
        notes.add(`only the first ${MAX_EVENTS} events were tried; \`forgehand backtest\` tries all of them`);
      const tookMs = this.clock.monotonicMs() - began;
      if (after !== null) await this.#rest(tookMs);
    } while (after !== null);
    const about = { org: draft.org, since, until, notes: [...notes] };
    const { report } = expected(await ask(thread, { kind: 'report', about }, EVENT_MS), 'reported');
    if (!this.#goesOn(job)) return;
    job.report = report;
    job.state = 'done';
  }

  async #rest(tookMs: number): Promise<void> {
    const share = (await this.load.isBusy()) ? REST_SHARE.busy : REST_SHARE.idle;
    await this.sleep(share * tookMs);
  }

  #goesOn(job: Job): boolean {
    if (this.#isStopped || this.clock.now().getTime() - job.askedAt.getTime() > ABANDONED_MS)
      job.state = isUnderWay(job) ? 'cancelled' : job.state;
    return isUnderWay(job);
  }

  #forgetOld(now: Date): void {
    for (const [by, job] of this.#jobs)
      if (!isUnderWay(job) && now.getTime() - job.askedAt.getTime() > KEPT_MS) this.#jobs.delete(by);
  }
}

async function ask(thread: TryThread, order: TryOrder, limitMs: number): Promise<TryAnswer> {
  const outcome = await thread.order(order, limitMs);
  if (outcome.is === 'ended') throw tookTooMuch(outcome.why);
  return outcome.answer;
}

function isUnderWay({ state }: Job): boolean {
  return state === 'waiting' || state === 'running';
}

function backtestOf({
  id,
  draft,
  days,
  since,
  until,
  state,
  events,
  reached,
  problems,
  failure,
  report,
}: Job): DraftBacktest {
  const done = state === 'done' ? 1 : (reached.getTime() - since.getTime()) / (until.getTime() - since.getTime());
  return { id, org: draft.org, state, days, since, until, events, done, problems, failure, report };
}
