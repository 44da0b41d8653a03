import { createHash } from 'node:crypto';
import type { ForgeEvent } from '../../core/event.js';
import { textOf } from '../../core/reason.js';
import type { BotSelf, Candidate } from '../../pipeline/rule-engine.port.js';
import type { Revision } from '../../rules/language/revision.js';
import type { ActionFacts, LookupFacts } from '../../rules/language/catalogue.js';
import { decideAgain, factsOfEvent } from '../decide-again.js';
import type { PureRules } from '../decide-again.js';
import type { HistoryPage, HistoryRun } from '../history-store.port.js';
import { AnswersOfEvent } from '../recorded-answers.js';
import { effectsOf, effectsText } from '../wanted-effects.js';
import type { WantedEffect } from '../wanted-effects.js';
import type { BacktestReport } from './backtest-report.js';
import { RuleTally } from './rule-tally.js';
import type { Did, Would } from './rule-tally.js';
import { emptyTable } from '../../core/table.js';

const HOUR_MS = 3_600_000;
/** A rule whose decisions were ended so often, because they take too much, is not tried on further events. */
const MAX_STOPPED = 3;

/** `limits.runs_per_hour` over history: runs that wanted something, by the time of their decision. */
class HourLimits {
  readonly #fired = new Map<string, number[]>();

  isSpent({ id, runsPerHour }: Candidate, now: Date): boolean {
    if (runsPerHour === undefined || runsPerHour === null) return false;
    const since = now.getTime() - HOUR_MS;
    const recent = (this.#fired.get(id) ?? []).filter((at) => at > since);
    this.#fired.set(id, recent);
    return recent.length >= runsPerHour;
  }

  count({ id, runsPerHour }: Candidate, now: Date): void {
    if (runsPerHour === undefined || runsPerHour === null) return;
    this.#fired.set(id, [...(this.#fired.get(id) ?? []), now.getTime()]);
  }
}

interface BacktestDeps {
  readonly revision: Revision;
  readonly rules: Pick<PureRules, 'candidates' | 'evaluate'>;
  readonly actions: ReadonlyMap<string, ActionFacts>;
  readonly lookups: ReadonlyMap<string, LookupFacts>;
}

/**
 * Stored events, decided again by other rules. Pure: give it the pages of history in order, then ask for the report. Nothing is read from
 * a forge; what a rule asks for and history does not hold makes its decision unknown.
 */
export class Backtest {
  readonly #tallies = new Map<string, RuleTally>();
  readonly #hash = createHash('sha256');
  readonly #limits = new HourLimits();
  /** How many decisions of a rule had to be ended. */
  readonly #stopped = new Map<string, number>();
  #events = 0;
  #decisions = 0;

  constructor(private readonly deps: BacktestDeps) {
    const { revision } = deps;
    for (const { id, mode } of revision.rules) this.#tallies.set(id, new RuleTally(id, 'rule', mode));
    for (const { id, mode } of revision.policies) this.#tallies.set(id, new RuleTally(id, 'policy', mode));
    this.#hash.update(revision.hash);
  }

  /** @param bot who the bot is on this forge; its own acts start no rule */
  add({ events, runs }: Pick<HistoryPage, 'events' | 'runs'>, bot: BotSelf | null): void {
    const runsOf = new Map<string, HistoryRun[]>();
    for (const run of runs) {
      const of = runsOf.get(run.eventId);
      if (of) of.push(run);
      else runsOf.set(run.eventId, [run]);
    }
    for (const event of events) this.#event(event, runsOf.get(event.id) ?? [], bot);
  }

  report({ org, since, until, notes }: Pick<BacktestReport, 'org' | 'since' | 'until' | 'notes'>): BacktestReport {
    const rules = [...this.#tallies.values()].map((tally) => tally.report());
    const calls: Record<string, number> = emptyTable();
    for (const rule of rules)
      for (const [operation, count] of Object.entries(rule.calls)) calls[operation] = (calls[operation] ?? 0) + count;
    return {
      org,
      revision: this.deps.revision.hash,
      since,
      until,
      events: this.#events,
      decisions: this.#decisions,
      rules,
      calls,
      hash: this.#hash.copy().digest('hex'),
      notes,
    };
  }

  #event(event: ForgeEvent, runs: readonly HistoryRun[], bot: BotSelf | null): void {
    this.#events += 1;
    const answers = new AnswersOfEvent(runs);
    // Of several runs of one rule (replays) the newest tells what the journal holds.
    const newest = new Map(runs.map((run) => [run.rule, run]));
    for (const candidate of this.deps.rules.candidates(this.deps.revision, event, bot)) {
      const run = newest.get(candidate.id) ?? null;
      newest.delete(candidate.id);
      this.#decisions += 1;
      const would = this.#decide(candidate, event, run, answers, bot);
      this.#hash.update(`${event.id} ${candidate.id} ${would.verdict} ${would.text.length} ${would.text}\n`);
      this.#tallyOf(candidate).add(event, would, run && this.#did(run));
    }
    for (const run of newest.values()) {
      const would: Would = {
        verdict: 'rejected',
        reason: 'on or where turn it away now, or the rule is gone',
        effects: 0,
        text: '',
        calls: [],
        unknown: null,
      };
      this.#tallyOf({ id: run.rule, kind: run.kind }).add(event, would, this.#did(run));
    }
  }

  #decide(
    candidate: Candidate,
    event: ForgeEvent,
    run: HistoryRun | null,
    answers: AnswersOfEvent,
    bot: BotSelf | null,
  ): Would {
    const { rules, revision } = this.deps;
    const now = run?.decidedAt ?? event.storedAt;
    const nothing = { effects: 0, text: '', calls: [], unknown: null };
    if (this.#limits.isSpent(candidate, now))
      return { verdict: 'held', reason: `over its limit of ${candidate.runsPerHour} runs per hour`, ...nothing };
    const stopped = this.#stopped.get(candidate.id) ?? 0;
    if (stopped >= MAX_STOPPED)
      return { verdict: 'error', reason: `not tried: ${stopped} of its decisions took too much before`, ...nothing };
    const facts = { ...factsOfEvent(event, bot, now), untraced: true as const };
    const decided = decideAgain(rules, revision, candidate, facts, (request) => answers.find(candidate.id, request));
    const calls = decided.requests.flatMap(({ use }) => this.deps.lookups.get(use)?.operations ?? []);
    if (decided.kind === 'unknown') {
      const { as, use } = decided.request;
      return {
        ...nothing,
        verdict: 'unknown',
        reason: `history does not hold what lookup "${as}" (${use}) asks for`,
        calls,
        unknown: as,
      };
    }
    const { report, steps } = decided.evaluation;
    if (report.reason.code === 'verdict.stopped') this.#stopped.set(candidate.id, stopped + 1);
    const effects = effectsOf(steps);
    const withoutTarget = event.repo
      ? undefined
      : effects.find(({ action }) => this.deps.actions.get(action)?.target === 'repository');
    if (withoutTarget)
      return {
        ...nothing,
        verdict: 'error',
        reason: `${withoutTarget.action} needs a repository, and this event is about none`,
        calls,
      };
    if (report.verdict === 'fired') this.#limits.count(candidate, now);
    return {
      verdict: report.verdict,
      reason: textOf(report.reason),
      effects: effects.length,
      text: effectsText(effects, this.deps.actions),
      calls: [...calls, ...effects.flatMap(({ action }) => this.deps.actions.get(action)?.operations ?? [])],
      unknown: null,
    };
  }

  #did(run: HistoryRun): Did {
    const { state, reason, code, intents } = run;
    return {
      state,
      reason,
      code,
      effects: intents.length,
      text: effectsText(intents as readonly WantedEffect[], this.deps.actions),
    };
  }

  #tallyOf({ id, kind }: Pick<Candidate, 'id' | 'kind'>): RuleTally {
    let tally = this.#tallies.get(id);
    if (!tally) this.#tallies.set(id, (tally = new RuleTally(id, kind, null)));
    return tally;
  }
}
