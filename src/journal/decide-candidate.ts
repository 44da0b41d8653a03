import type { Clock } from '../core/clock.js';
import type { EventRepository, ForgeEvent } from '../core/event.js';
import type { Logger } from '../core/logger.js';
import type { Evaluation, LookupAnswers, Report } from '../rules/revision.js';
import { answerLookups } from './answer-lookups.js';
import type { JournalStore } from './journal-store.js';
import { planIntents, type Decision, type Plan, type PlanTools } from './plan-intents.js';
import type { Cause } from './run.js';
import type { Accounts, ActiveRevision, Candidate, LookupReader, RuleEngine } from './rule-engine.js';

export interface DeciderDeps {
  readonly rules: RuleEngine;
  readonly lookups: LookupReader;
  readonly accounts: Accounts;
  readonly journal: Pick<JournalStore, 'runs'>;
  readonly tools: Omit<PlanTools, 'account'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a decision is about. */
export interface Subject {
  readonly forge: string;
  readonly org: string;
  readonly cause: Cause;
  readonly event: ForgeEvent | null;
  readonly repo: EventRepository | null;
  /** When the cause was stored. */
  readonly since: Date;
  /** Time of the decision as rules see it: the occurrence of a tick, else the moment. */
  readonly now: Date | null;
}

const HOUR_MS = 3_600_000;
/** Of the newest runs, so many times the limit are looked at: those that wanted nothing lie in between. */
const LOOK_BACK = 10;

/** One rule or policy and one cause: evaluate, with the reads it asks for, and plan. Stores nothing. */
export class CandidateDecider {
  constructor(private readonly deps: DeciderDeps) {}

  /**
   * @param replayNo runs of this rule and cause that wanted nothing, before a replay by hand
   * @throws ForgeError while the forge cannot be asked
   */
  async decide(active: ActiveRevision, candidate: Candidate, subject: Subject, replayNo = 0): Promise<Plan> {
    const { forge, org, cause, event, repo, since, now } = subject;
    const { rules, lookups: reader, clock, tools, accounts } = this.deps;
    const bot = accounts.self(forge);
    const decidedAt = clock.now();
    const facts = { org, event, repo, bot, now: now ?? decidedAt };
    const evaluate = (answers: LookupAnswers): Promise<Evaluation> => this.safely(candidate, () => rules.evaluate(active.revision, candidate, facts, answers));
    const base = { forge, org, cause, repo, rule: candidate.id, kind: candidate.kind, mode: candidate.mode, revisionId: active.id, decidedAt, replayNo };
    const held = await this.overLimit(org, candidate, decidedAt);
    if (held) return planIntents({ ...base, report: held, steps: [], lookups: {} }, { ...tools, account: '' });
    const { evaluation, lookups } = await answerLookups(evaluate, { reader, scope: { forge, org, repo }, clock, since });
    const decision: Decision = { ...base, report: evaluation.report, steps: evaluation.steps, lookups };
    return planIntents(decision, { ...tools, account: bot?.login ?? '' });
  }

  /** Deciding is pure: what throws once throws always, so a fault of ours ends as an error of that rule and holds up nothing. */
  private async safely({ id }: Candidate, evaluate: () => Evaluation | Promise<Evaluation>): Promise<Evaluation> {
    try {
      return await evaluate();
    } catch (error) {
      this.deps.logger.error({ rule: id, error }, 'a rule could not be evaluated');
      const name = error instanceof Error ? error.name : typeof error;
      return { kind: 'decided', report: { rule: id, verdict: 'error', reason: `internal fault (${name})`, trace: null }, steps: [] };
    }
  }

  /** `limits.runs_per_hour`: a rule that fires too often is held, and says so. */
  private async overLimit(org: string, { id, runsPerHour }: Candidate, now: Date): Promise<Report | null> {
    if (runsPerHour === undefined || runsPerHour === null) return null;
    const newest = await this.deps.journal.runs({ org, rule: id, limit: runsPerHour * LOOK_BACK + LOOK_BACK });
    const sinceMs = now.getTime() - HOUR_MS;
    const wanting = newest.filter((run) => run.decidedAt.getTime() > sinceMs && run.state !== 'not-fired' && run.state !== 'error');
    if (wanting.length < runsPerHour) return null;
    return {
      rule: id,
      verdict: 'error',
      reason: `held: ${wanting.length} runs in the last hour, the limit is ${runsPerHour} (limits.runs_per_hour)`,
      trace: null,
    };
  }
}
