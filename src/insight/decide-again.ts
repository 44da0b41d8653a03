import type { ForgeEvent } from '../core/event.js';
import type { BotSelf, Candidate, DecisionFacts, RuleEngine } from '../pipeline/rule-engine.port.js';
import type { LookupAnswer } from '../actions/lookups/lookup-reader.port.js';
import type { Recall } from '../rules/language/propose/input.js';
import type { Evaluation, LookupAnswers, LookupRequest, Revision } from '../rules/language/revision.js';
import { emptyTable } from '../core/table.js';

/** More than any rule can ask for; a guard against an evaluation that never decides. */
const MAX_ASKED = 1000;

/** The deciding side without waiting: history is tried in one process, in one order. */
export interface PureRules extends Omit<RuleEngine, 'evaluate'> {
  /** May ask `recall` for answers as it goes, or ask for them one by one as requests. */
  evaluate(
    revision: Revision,
    candidate: Candidate,
    facts: DecisionFacts,
    answers: LookupAnswers,
    recall?: Recall,
  ): Evaluation;
}

export type DecidedAgain = {
  /** Lookups that were asked for, in order. */
  readonly requests: readonly LookupRequest[];
} & (
  | { readonly kind: 'decided'; readonly evaluation: Extract<Evaluation, { kind: 'decided' }> }
  /** It asks for something that nobody knows the answer to. */
  | { readonly kind: 'unknown'; readonly request: LookupRequest }
);

/** The facts of a decision about an event. */
export function factsOfEvent(event: ForgeEvent, bot: BotSelf | null, now: Date): DecisionFacts {
  return { org: event.org, event, repo: event.repo, bot, now };
}

/**
 * Decide as the bot does: evaluate, answer what is asked for, evaluate again. Pure. Answers are given one by one as they are asked for,
 * never all at once: a condition that is false before a read was made ends a decision without it.
 */
export function decideAgain(
  rules: Pick<PureRules, 'evaluate'>,
  revision: Revision,
  candidate: Candidate,
  facts: DecisionFacts,
  answer: (request: LookupRequest) => LookupAnswer | null,
): DecidedAgain {
  const answers: Record<string, LookupAnswer> = emptyTable();
  const requests: LookupRequest[] = [];
  const recall: Recall = (request) => {
    const lookupAnswer = requests.length <= MAX_ASKED ? answer(request) : null;
    if (lookupAnswer) requests.push(request);
    return lookupAnswer;
  };
  while (requests.length <= MAX_ASKED) {
    const evaluation = rules.evaluate(revision, candidate, facts, answers, recall);
    if (evaluation.kind === 'decided') return { kind: 'decided', evaluation, requests };
    const { request } = evaluation;
    const lookupAnswer = answer(request);
    if (!lookupAnswer) return { kind: 'unknown', request, requests };
    requests.push(request);
    answers[request.as] = lookupAnswer;
  }
  throw new Error(`an evaluation asked for more than ${MAX_ASKED} lookups`);
}
