import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import { tellsOfOwner, type RepositoryOwners } from '../../core/repository-owner.js';
import { orderKeyOf } from '../../core/target.js';
import type { ActiveRevision, ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import type { Proposals } from '../../rules/revisions/proposals.js';
import type { Answers } from '../answer/answers.js';
import type { EventDecision, Touched } from '../inbox-store.port.js';
import type { Accounts, Candidate, EchoDetector, RuleEngine } from '../rule-engine.port.js';
import { subjectOfEvent, type CandidateDecider } from './decide-candidate.js';
import type { Plan } from './plan-intents.js';
import { isStaged } from './rollout.js';

export interface AtHandDeps {
  readonly rules: RuleEngine;
  readonly revisions: ActiveRevisions;
  readonly accounts: Accounts;
  readonly owners: Pick<RepositoryOwners, 'forget'>;
  /** Absent = what an event may have to do with is not known, and none is decided at once. */
  readonly echoes?: Pick<EchoDetector, 'effectsToldBy'>;
  /** Tells people what became of what they asked for; absent = nobody is told. */
  readonly answers?: Pick<Answers, 'planned'>;
  /** Absent = no pull request proposes rules. */
  readonly proposals?: Pick<Proposals, 'mayPropose'>;
}

/** What the rules made of an event at once. */
export interface DecidedAtOnce extends EventDecision {
  readonly runs: readonly Plan[];
}

/**
 * What of ours an event may have to do with: where any of it is known, the event takes the longer way. Null = it does so in any case. After an event
 * that may change whose a repository is, those behind it must not rely on what was known before.
 * @param awaited kinds of events for which intents wait
 */
export function touchedBy(
  { owners, echoes }: AtHandDeps,
  event: ForgeEvent,
  awaited: ReadonlySet<EventKind>,
): Touched | null {
  const { kind, forge, repo } = event;
  const hasNewOwner = tellsOfOwner(kind);
  if (repo && hasNewOwner) owners.forget(forge, repo.id);
  const effectKeys = hasNewOwner ? null : (echoes?.effectsToldBy(event) ?? null);
  const orderKey = repo && awaited.has(kind) ? orderKeyOf(forge, { kind: 'repository', ...repo }) : null;
  return effectKeys && { effectKeys, orderKey };
}

/**
 * What all rules make of an event by what is at hand: above all what no rule wants, and what a rule wants in a repository whose owner is known already.
 * @returns null = somebody has to be asked first
 */
export async function decideAtHand(
  { rules, revisions, accounts, answers, proposals }: AtHandDeps,
  decider: Pick<CandidateDecider, 'say'>,
  event: ForgeEvent,
): Promise<DecidedAtOnce | null> {
  const { forge, org } = event;
  const active = await revisions.active(org);
  if (!active || proposals?.mayPropose(event) || (await revisions.shadow?.(org))) return null;
  const bot = accounts.self(forge, org);
  const candidates = rules.candidates(active.revision, event, bot);
  if (!candidates.every((candidate) => isAtHand(rules, active, candidate))) return null;
  const subject = subjectOfEvent(event);
  const runs: Plan[] = [];
  for (const candidate of candidates) {
    const said = await decider.say(active, candidate, subject);
    if (said.is === 'needs') return null;
    runs.push(said.plan);
  }
  const isAnswered = (answers?.planned(active, event, runs) ?? []).length > 0;
  return isAnswered ? null : { by: { revisionId: active.id, bot }, runs };
}

/** Its stage, its limit and its window are kept in the store, and what may take long has no place in a transaction. */
function isAtHand(rules: RuleEngine, { revision }: ActiveRevision, candidate: Candidate): boolean {
  return (
    candidate.kind === 'rule' &&
    !isStaged(candidate) &&
    (candidate.runsPerHour ?? null) === null &&
    candidate.gathers !== true &&
    rules.isCheap?.(revision, candidate) !== false
  );
}
