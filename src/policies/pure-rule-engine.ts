import type { LookupAnswer } from '../actions/lookups/lookup-reader.port.js';
import type { EventKind } from '../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../core/event.js';
import type { BotSelf, Candidate, DecisionFacts, RuleEngine } from '../pipeline/rule-engine.port.js';
import type { PolicyProgram, RuleProgram } from '../rules/language/compile/program.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import { ledToBy } from '../rules/language/match/led-to.js';
import { matchEvent, tickSubjects } from '../rules/language/match/matcher.js';
import { rejectRepository } from '../rules/language/match/where-filter.js';
import { type Window, windowOf } from '../rules/language/propose/coalesce-key.js';
import { evaluateRule } from '../rules/language/propose/evaluate-rule.js';
import type { BotFacts, ConfigFacts, Recall } from '../rules/language/propose/input.js';
import type { CompiledPolicy, CompiledRule, Evaluation, LookupAnswers, Revision } from '../rules/language/revision.js';
import { evaluatePolicy } from './evaluate-policy.js';

/** What can be said of rules and policies without deciding: which of them an event or a tick concerns. Pure. */
export abstract class RuleMatcher {
  constructor(readonly expressions: ExpressionEngine) {}

  candidates(revision: Revision, event: ForgeEvent, bot: BotSelf | null): Candidate[] {
    const { candidates } = matchEvent(revision, event, {
      botLogin: bot?.login ?? null,
      botId: bot?.id ?? null,
      others: bot?.others ?? [],
    });
    return [
      ...candidates.map((rule) => asCandidate('rule', rule)),
      ...policiesForEvent(revision, event).map((policy) => asCandidate('policy', policy)),
    ];
  }

  find(revision: Revision, id: string): Candidate | null {
    const { rules, policies } = shared(revision);
    const rule = rules.get(id);
    if (rule) return asCandidate('rule', rule);
    const policy = policies.get(id);
    return policy ? asCandidate('policy', policy) : null;
  }

  subjects(
    revision: Revision,
    candidate: Candidate,
    repositories: readonly EventRepository[],
  ): Array<EventRepository | null> {
    return candidate.kind === 'rule'
      ? tickSubjects(ruleOf(revision, candidate), repositories)
      : policySubjects(policyOf(revision, candidate), repositories);
  }

  /** What was compiled of it. */
  programOf(revision: Revision, candidate: Candidate): RuleProgram | PolicyProgram {
    return (candidate.kind === 'rule' ? ruleOf(revision, candidate) : policyOf(revision, candidate)).program;
  }

  ledToBy(revision: Revision, id: string): ReadonlySet<string> {
    return ledToBy(revision, id);
  }

  windowOf(revision: Revision, candidate: Candidate, { event, repo, bot, now, awaits }: DecisionFacts): Window | null {
    if (candidate.kind !== 'rule') return null;
    const { org, hash } = revision;
    const input = { org, now, bot: botFacts(bot), config: { revision: hash }, awaits, event, repo, lookups: {} };
    return windowOf(ruleOf(revision, candidate), input, this.expressions);
  }
}

/** The pure functions of rules and policies behind the port of the flow. */
export class PureRuleEngine extends RuleMatcher implements RuleEngine {
  /** Nothing bounds it otherwise. */
  isCheap(): boolean {
    return true;
  }

  /** @param recall answers that are at hand: a rule then asks for them as it goes, and is not evaluated again for each */
  evaluate(
    revision: Revision,
    candidate: Candidate,
    { event, repo, bot, now, untraced, awaits }: DecisionFacts,
    answers: LookupAnswers,
    recall?: Recall,
  ): Evaluation {
    const { config } = shared(revision);
    if (candidate.kind === 'rule')
      return evaluateRule(
        ruleOf(revision, candidate),
        { org: revision.org, now, bot: botFacts(bot), config, untraced, awaits, event, repo, lookups: answers, recall },
        this.expressions,
      );
    const policy = policyOf(revision, candidate);
    if (!repo && policy.program.scope === 'repository') throw new Error(`policy ${candidate.id} needs a repository`);
    return evaluatePolicy(
      policy,
      { org: revision.org, now, bot: botFacts(bot), config, repo, lookups: withoutRoutes(answers) },
      this.expressions,
    );
  }
}

function asCandidate(kind: Candidate['kind'], one: CompiledRule | CompiledPolicy): Candidate {
  const { id, mode, limits, program } = one;
  const staged =
    'canary' in one && (one.canary !== null || mode === 'shadow') ? { canary: one.canary, ruleHash: one.textHash } : {};
  return {
    id,
    kind,
    mode,
    ...staged,
    runsPerHour: limits?.runsPerHour ?? null,
    ...('coalesce' in program && program.coalesce ? { gathers: true } : {}),
  };
}

/** What all decisions of a revision share. A revision never changes, and is asked with every event. */
interface Shared {
  readonly config: ConfigFacts;
  readonly rules: ReadonlyMap<string, CompiledRule>;
  readonly policies: ReadonlyMap<string, CompiledPolicy>;
}

const sharedBy = new WeakMap<Revision, Shared>();

function shared(revision: Revision): Shared {
  let parts = sharedBy.get(revision);
  if (!parts) {
    const rules = new Map(revision.rules.map((rule) => [rule.id, rule]));
    const policies = new Map(revision.policies.map((policy) => [policy.id, policy]));
    sharedBy.set(revision, (parts = { config: { revision: revision.hash }, rules, policies }));
  }
  return parts;
}

function ruleOf(revision: Revision, { id }: Candidate): CompiledRule {
  const rule = shared(revision).rules.get(id);
  if (!rule) throw new Error(`no rule ${id} in this revision`);
  return rule;
}

function policyOf(revision: Revision, { id }: Candidate): CompiledPolicy {
  const policy = shared(revision).policies.get(id);
  if (!policy) throw new Error(`no policy ${id} in this revision`);
  return policy;
}

const NOBODY: BotFacts = { login: null, id: null };
const botFactsOf = new WeakMap<BotSelf, BotFacts>();

/** One object for one account, so that it is converted for expressions once. */
function botFacts(bot: BotSelf | null): BotFacts {
  if (!bot) return NOBODY;
  let facts = botFactsOf.get(bot);
  if (!facts) botFactsOf.set(bot, (facts = { login: bot.login, id: bot.id }));
  return facts;
}

/** To a policy, a list that the forge does not offer is one that is not there: it may then go by the journal, where it says so. */
function withoutRoutes(answers: LookupAnswers): LookupAnswers {
  const entries = Object.entries(answers as Readonly<Record<string, LookupAnswer>>);
  return Object.fromEntries(
    entries.map(([name, answer]) => [
      name,
      'failed' in answer && answer.notOffered ? { missing: true as const } : answer,
    ]),
  );
}

/** Kinds after which a repository may not be as its policies say. */
const POLICY_KINDS: readonly EventKind[] = ['repository.created', 'repository.transferred', 'repository.renamed'];

/** Policies to reconcile because of an event: a repository appeared, or is another one by name. Whoever did it, the bot included. */
export function policiesForEvent(revision: Pick<Revision, 'policies'>, event: ForgeEvent): CompiledPolicy[] {
  const { repo } = event;
  if (!repo || !POLICY_KINDS.includes(event.kind)) return [];
  return revision.policies.filter((policy) => policy.program.scope === 'repository' && isSubject(policy, repo));
}

/** Repositories a policy is about: on its schedule, and once for each new revision. */
export function policySubjects(
  policy: CompiledPolicy,
  inventory: readonly EventRepository[],
): Array<EventRepository | null> {
  if (policy.program.scope === 'organization') return [null];
  return inventory.filter((repo) => isSubject(policy, repo));
}

/** A repository that is not told to be archived is taken as one that is not: the forge refuses the write if it is. */
function isSubject(policy: CompiledPolicy, repo: EventRepository): boolean {
  return rejectRepository(policy.program.subjects, { ...repo, archived: repo.archived ?? false }) === null;
}
