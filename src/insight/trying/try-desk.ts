import { BotError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import { Secret } from '../../core/secret.js';
import { loadRules } from '../../rules/language/load/load-rules.js';
import { beyondLimits } from '../../rules/revisions/operator-limits.js';
import type { CompiledRule, LoadResult, Revision } from '../../rules/language/revision.js';
import type { Backtest } from '../backtest/backtest.js';
import { decideAgain, factsOfEvent, type DecidedAgain } from '../decide-again.js';
import { explainForEvent, type StoredFacts } from '../explain-for-event.js';
import { shortAnswer } from '../short-json.js';
import { recordFixture } from '../fixtures/record-fixture.js';
import type { HistoryRun, HistoryAnswer } from '../history-store.port.js';
import { rankRules, type RankedRun } from '../rank-rules.js';
import { AnswersOfEvent, answersOf } from '../recorded-answers.js';
import type { Trial } from '../trial.js';
import { comparable, effectsOf, type WantedEffect } from '../wanted-effects.js';
import { eventFacts } from './tried-event.js';
import type { EventTrial } from './try-answers.js';
import type { Draft, ObjectRound, TryAnswer, TryOrder } from './try-orders.js';

/** What one rule or policy of the draft makes of an event, by the answers that history holds. */
interface DecidedDraft {
  readonly again: DecidedAgain;
  readonly ranked: RankedRun;
  readonly effects: readonly WantedEffect[];
}

type Facts = Omit<StoredFacts, 'answers'>;

/** Carries out what is asked about drafts, one order after the other. Without a store, a forge or a clock. */
export class TryDesk {
  #backtest: Backtest | null = null;

  constructor(private readonly trial: Trial) {}

  answer(order: TryOrder): TryAnswer {
    switch (order.kind) {
      case 'check':
        return { kind: 'checked', check: checkOf(this.#load(order.draft)) };
      case 'event':
        return this.#with(order.draft, (revision) => ({
          kind: 'tried',
          trial: this.#onEvent(revision, order.history, order.rule),
        }));
      case 'object':
        return this.#with(order.draft, (revision) => ({
          kind: 'object-tried',
          round: this.#onObject(revision, order),
        }));
      case 'fixture':
        return this.#with(order.draft, (revision) => this.#record(revision, order));
      case 'begin':
        this.#backtest = null;
        return this.#with(order.draft, (revision) => {
          this.#backtest = this.trial.backtest(revision);
          return { kind: 'begun', rules: revision.rules.length + revision.policies.length };
        });
      case 'add':
        this.#begun().add(order.page, order.page.bot);
        return { kind: 'added' };
      case 'report': {
        const report = this.#begun().report(order.about);
        this.#backtest = null;
        return { kind: 'reported', report };
      }
    }
  }

  #begun(): Backtest {
    if (!this.#backtest) throw new Error('no back-test was begun');
    return this.#backtest;
  }

  #load({ name: org, files, powers, secrets, mirrorHosts, notifyHosts, limits }: Draft): LoadResult {
    const { actions, lookups, engine } = this.trial;
    const ofOrg = { org, powers: new Set(powers), secrets: new Set(secrets), mirrorHosts, notifyHosts };
    const loaded = loadRules(files, { ...ofOrg, actions, lookups, engine, checkTypes: true });
    const beyond = loaded.ok ? beyondLimits(loaded.revision, limits) : [];
    return beyond.length > 0 ? { ...loaded, ok: false, problems: beyond } : loaded;
  }

  #with(draft: Draft, use: (revision: Revision) => TryAnswer): TryAnswer {
    const loaded = this.#load(draft);
    return loaded.ok ? use(loaded.revision) : { kind: 'refused', problems: loaded.problems };
  }

  #onEvent(revision: Revision, { events: [event], runs, bot }: HistoryAnswer, ruleId: string | null): EventTrial {
    if (!event) throw new Error('there is no event to try the draft on');
    const newest = new Map(runs.map((run) => [run.rule, run]));
    const facts = { event, revision, bot, now: event.storedAt };
    const decided = this.#decideAll(facts, new AnswersOfEvent(runs), newest);
    const lines = this.#rank(facts, decided);
    const rule = revision.rules.find(({ id }) => id === ruleId);
    return {
      event: { ...eventFacts(event), id: event.id, source: event.source, storedAt: event.storedAt },
      rules: lines.map((line) => ({
        ...line,
        runId: newest.get(line.rule)?.id ?? null,
        effects: decided.get(line.rule)?.effects.length ?? 0,
        did: didOf(newest.get(line.rule)),
      })),
      steps: rule ? this.#stepsOf(rule, facts, decided.get(rule.id)) : null,
      notes: bot ? [] : ['no forge said which account the bot has: its own acts count as acts of people'],
    };
  }

  /** By rule: what the draft makes of the event, as far as the answers go. */
  #decideAll(
    { event, revision, bot }: Facts,
    answers: AnswersOfEvent,
    newest: ReadonlyMap<string, HistoryRun>,
  ): Map<string, DecidedDraft> {
    const { rules } = this.trial;
    const decided = new Map<string, DecidedDraft>();
    for (const candidate of rules.candidates(revision, event, bot)) {
      const run = newest.get(candidate.id);
      const now = run?.decidedAt ?? event.storedAt;
      const lookups: JsonObject = {};
      const again = decideAgain(rules, revision, candidate, factsOfEvent(event, bot, now), (request) => {
        const answer = answers.find(candidate.id, request);
        if (answer) lookups[request.as] = { ...answer };
        return answer;
      });
      const effects = again.kind === 'decided' ? effectsOf(again.evaluation.steps) : [];
      decided.set(candidate.id, { again, ranked: { id: run?.id ?? null, lookups, decidedAt: now }, effects });
    }
    return decided;
  }

  #rank(facts: Facts, decided: ReadonlyMap<string, DecidedDraft>): ReturnType<typeof rankRules> {
    const ranked = new Map([...decided].map(([id, one]) => [id, one.ranked]));
    return rankRules(facts, ranked, this.trial.engine, ({ id, position: place }) => {
      const again = decided.get(id)?.again;
      if (!again) return { verdict: 'rejected', reason: `${facts.event.kind} is no cause for this policy`, place };
      if (again.kind === 'unknown')
        return { verdict: 'unknown', reason: `history does not hold what "${again.request.as}" asks for`, place };
      const { verdict, reason } = again.evaluation.report;
      return { verdict, reason: textOf(reason), place };
    });
  }

  /** What the rules make of an event that was made from an object, and what is to be read before more can be told. */
  #onObject(revision: Revision, { event, bot, answers }: Extract<TryOrder, { kind: 'object' }>): ObjectRound {
    const facts = { event, revision, bot, now: event.storedAt };
    const { rules } = this.trial;
    const decided = this.#decideAll(facts, new AnswersOfEvent(answers), new Map());
    const candidates = new Map(rules.candidates(revision, event, bot).map((one) => [one.id, one]));
    const modes = new Map([...revision.rules, ...revision.policies].map(({ id, mode }) => [id, mode]));
    const compiled = new Map(revision.rules.map((rule) => [rule.id, rule]));
    return {
      rules: this.#rank(facts, decided).map(({ runId: _, ...line }) => {
        const rule = compiled.get(line.rule);
        return {
          ...line,
          mode: modes.get(line.rule) ?? 'live',
          steps: rule && decided.has(line.rule) ? this.#stepsOf(rule, facts, decided.get(line.rule)) : null,
        };
      }),
      requests: [...decided].flatMap(([rule, { again }]) =>
        again.kind === 'unknown' ? [{ rule, request: again.request }] : [],
      ),
      decisions: [...decided].flatMap(([rule, { again }]) => {
        const candidate = candidates.get(rule);
        if (!candidate || again.kind !== 'decided' || again.evaluation.report.verdict !== 'fired') return [];
        const { report, steps } = again.evaluation;
        const window = rules.windowOf(revision, candidate, factsOfEvent(event, bot, event.storedAt));
        return [{ rule, report, steps, window, runsPerHour: candidate.runsPerHour ?? null }];
      }),
    };
  }

  #stepsOf(rule: CompiledRule, facts: Facts, decided: DecidedDraft | undefined): NonNullable<EventTrial['steps']> {
    const answers = decided ? answersOf(decided.ranked) : {};
    const now = decided?.ranked.decidedAt ?? facts.now;
    const { reason, look, filters, conditions, steps } = explainForEvent(
      rule,
      { ...facts, answers, now },
      this.trial.engine,
    );
    return {
      rule: rule.id,
      reason,
      place: look ?? rule.position,
      filters,
      conditions,
      steps,
      lookups: Object.entries(decided?.ranked.lookups ?? {}).map(([name, answer]) => ({
        name,
        answer: shortAnswer(answer),
      })),
      effects: (decided?.effects ?? []).map(({ params, ...effect }) => ({
        ...effect,
        params: comparable(params, this.trial.actions.get(effect.action)),
      })),
    };
  }

  #record(revision: Revision, { history, secrets }: Extract<TryOrder, { kind: 'fixture' }>): TryAnswer {
    const { rules, actions } = this.trial;
    const hidden = secrets.map((value) => new Secret(value));
    try {
      return { kind: 'recorded', fixture: recordFixture(history, { revision, rules, actions, secrets: hidden }) };
    } catch (error) {
      if (!(error instanceof BotError)) throw error;
      return { kind: 'not-recorded', code: error.code, message: error.message };
    }
  }
}

function checkOf(loaded: LoadResult): Extract<TryAnswer, { kind: 'checked' }>['check'] {
  const { warnings = [] } = loaded;
  if (!loaded.ok) return { ok: false, problems: loaded.problems, warnings, rules: [] };
  const { rules, policies } = loaded.revision;
  const showAs =
    (kind: 'rule' | 'policy') =>
    ({ id, mode, position }: (typeof rules)[number] | (typeof policies)[number]) => ({
      id,
      kind,
      mode,
      place: position,
    });
  return { ok: true, problems: [], warnings, rules: [...rules.map(showAs('rule')), ...policies.map(showAs('policy'))] };
}

function didOf(run: HistoryRun | undefined): EventTrial['rules'][number]['did'] {
  return run ? { state: run.state, reason: run.reason, effects: run.intents.length } : null;
}
