import type { Problem } from '../../core/problem.js';
import { textOf, type Reason } from '../../core/reason.js';
import { verdictReason } from '../../core/run-reasons.js';
import type { Candidate, DecisionFacts, RuleEngine } from '../../pipeline/rule-engine.port.js';
import { sourcesOf } from '../../rules/language/load/revision-sources.js';
import { STEPS_PER_DECISION } from '../../rules/language/propose/bindings.js';
import { expressionsOf, worstOf } from '../../rules/language/propose/expressions-of.js';
import type { Recall } from '../../rules/language/propose/input.js';
import { formatPosition } from '../../rules/language/propose/misfit.js';
import type { Evaluation, LoadResult, LookupAnswers, Revision, RuleFile } from '../../rules/language/revision.js';
import { RuleMatcher, type PureRuleEngine } from '../pure-rule-engine.js';
import type { LoadOrder, Order } from './messages.js';
import type { Outcome, RuleThread } from './rule-thread.js';

/** Longest that a decision may take whose expressions are not known to be cheap. */
const DEADLINE_MS = 200;
/** Longest that loading may take: each file has its share, and a set of files what it takes to check them against each other. */
const LOAD_MS_PER_FILE = 250;
const LOAD_MS = 1_500;

/** What of it is kept for a revision: its number in the thread, and in which thread it was loaded. */
interface Loaded {
  readonly key: number;
  generation: number;
}

/**
 * Decides in this process what can only be cheap, and in a thread with a deadline what is cheap only as long as lists stay short: the thread
 * is ended when the deadline passes, and the decision is an error that names the place.
 */
abstract class Bounded extends RuleMatcher {
  readonly #loaded = new WeakMap<Revision, Loaded>();
  #keys = 0;

  constructor(
    protected readonly pure: PureRuleEngine,
    protected readonly thread: RuleThread,
    protected readonly deadlineMs = DEADLINE_MS,
  ) {
    super(pure.expressions);
  }

  /** Whether its expressions may be evaluated here. */
  isCheap(revision: Revision, candidate: Candidate): boolean {
    return worstOf(this.programOf(revision, candidate)) <= STEPS_PER_DECISION;
  }

  /** What the thread must be told before it can evaluate; null when it knows the revision, or nobody knows what it was made of. */
  protected toLoad(revision: Revision): { key: number; order: Extract<Order, { kind: 'load' }> | null } | null {
    const sources = sourcesOf(revision);
    if (!sources) return null;
    let loaded = this.#loaded.get(revision);
    if (!loaded) this.#loaded.set(revision, (loaded = { key: (this.#keys += 1), generation: -1 }));
    if (loaded.generation === this.thread.generation) return { key: loaded.key, order: null };
    const { files, org, powers, secrets } = sources;
    return {
      key: loaded.key,
      order: {
        kind: 'load',
        key: loaded.key,
        load: { org, files, powers: [...powers], secrets: [...secrets], checkTypes: false, wasActive: true },
      },
    };
  }

  protected noteLoaded(revision: Revision): void {
    const loaded = this.#loaded.get(revision);
    if (loaded) loaded.generation = this.thread.generation;
  }

  protected evaluationOf(outcome: Outcome, revision: Revision, candidate: Candidate): Evaluation {
    if (outcome.is === 'ended') return this.#stopped(outcome, revision, candidate);
    const { answer } = outcome;
    if (answer.kind === 'evaluated') return answer.evaluation;
    throw new Error(answer.kind === 'failed' ? answer.message : 'the thread for rules answered something else');
  }

  #stopped({ why, at }: Extract<Outcome, { is: 'ended' }>, revision: Revision, candidate: Candidate): Evaluation {
    const stoppedAt = expressionsOf(this.programOf(revision, candidate))[at];
    const place = stoppedAt ? formatPosition(stoppedAt.expression.start) : null;
    const ms = why === 'late' ? this.deadlineMs : null;
    const stopped = (at: string | null): Reason =>
      verdictReason('verdict.stopped', { what: stoppedAt?.place ?? 'the decision', ms, at });
    const failed = { error: textOf(stopped(null)), ...(place ? { at: place } : {}) };
    return {
      kind: 'decided',
      report: {
        rule: candidate.id,
        verdict: 'error',
        reason: stopped(place),
        trace: { conditions: [], steps: [], failed },
      },
      steps: [],
    };
  }
}

/** For the bot: others are served while the thread works. */
export class BoundedRuleEngine extends Bounded implements RuleEngine {
  evaluate(
    revision: Revision,
    candidate: Candidate,
    facts: DecisionFacts,
    answers: LookupAnswers,
  ): Evaluation | Promise<Evaluation> {
    if (this.isCheap(revision, candidate)) return this.pure.evaluate(revision, candidate, facts, answers);
    return this.#inThread(revision, candidate, facts, answers);
  }

  async #inThread(
    revision: Revision,
    candidate: Candidate,
    facts: DecisionFacts,
    answers: LookupAnswers,
  ): Promise<Evaluation> {
    const loading = this.toLoad(revision);
    if (!loading) return this.pure.evaluate(revision, candidate, facts, answers);
    if (loading.order) {
      await this.thread.order(loading.order, loadLimit(loading.order.load.files));
      this.noteLoaded(revision);
    }
    const outcome = await this.thread.order(
      { kind: 'evaluate', key: loading.key, candidate, facts, answers },
      this.deadlineMs,
    );
    // Another decision may have ended the thread in between: the next one loads again.
    if (outcome.is === 'answered' && outcome.answer.kind === 'failed' && this.toLoad(revision)?.order)
      return this.#inThread(revision, candidate, facts, answers);
    return this.evaluationOf(outcome, revision, candidate);
  }
}

/** For commands that try rules: nothing else is to be done meanwhile, so they wait where they stand. */
export class BoundedPureRules extends Bounded {
  evaluate(
    revision: Revision,
    candidate: Candidate,
    facts: DecisionFacts,
    answers: LookupAnswers,
    recall?: Recall,
  ): Evaluation {
    const loading = this.isCheap(revision, candidate) ? null : this.toLoad(revision);
    if (!loading) return this.pure.evaluate(revision, candidate, facts, answers, recall);
    if (loading.order) {
      this.thread.orderNow(loading.order, loadLimit(loading.order.load.files));
      this.noteLoaded(revision);
    }
    return this.evaluationOf(
      this.thread.orderNow({ kind: 'evaluate', key: loading.key, candidate, facts, answers }, this.deadlineMs),
      revision,
      candidate,
    );
  }
}

/**
 * Load files where no harm is done by what they may be, before this process looks at them.
 * @returns why they cannot be loaded; null when they were
 */
export async function tryLoading(
  thread: Pick<RuleThread, 'order'>,
  load: Omit<LoadOrder, 'checkTypes'>,
): Promise<Extract<LoadResult, { ok: false }> | null> {
  const order: Order = { kind: 'load', key: null, load: { ...load, checkTypes: true } };
  const outcome = await thread.order(order, loadLimit(load.files));
  if (outcome.is === 'ended')
    return {
      ok: false,
      problems: [cannotLoad(load, outcome.why)],
      ...(outcome.why === 'late' ? { wasLate: true } : {}),
    };
  const problems = outcome.answer.kind === 'loaded' ? [...outcome.answer.problems] : [];
  return problems.length > 0 ? { ok: false, problems } : null;
}

/** The problem of files whose loading had to be ended. */
export function cannotLoad({ org, files }: Pick<LoadOrder, 'org' | 'files'>, why: 'late' | 'memory'): Problem {
  const what = why === 'late' ? `takes longer than ${loadLimit(files)} ms` : 'takes more than 64 MB';
  const largest = [...files].sort((a, b) => b.text.length - a.text.length)[0];
  return {
    file: largest?.path ?? org,
    line: 1,
    col: 1,
    message: `loading the rules of ${org} ${what}`,
    hint: `make this file, the largest of ${files.length}, smaller`,
  };
}

/** How long loading these files may take. */
export function loadLimit(files: readonly RuleFile[]): number {
  return LOAD_MS + LOAD_MS_PER_FILE * files.length;
}
