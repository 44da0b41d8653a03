import type { EventActor, ForgeEvent } from '../../../core/event.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Reason } from '../../../core/reason.js';
import { RIGHTS, describeRight, holdsRight, isLevel, type ActorRights, type RightLevel } from '../../../core/rights.js';
import { verdictReason } from '../../../core/run-reasons.js';
import type { RuleProgram } from '../compile/program.js';
import type { LookupAnswers, ProposedStep } from '../revision.js';
import type { ActionFacts } from '../catalogue.js';
import { isUnknown } from '../../../core/event-knowledge.js';
import { NeedsLookup } from './lookups.js';
import { Misfit } from './misfit.js';

/** The read that tells what whoever gave a command may do; its answer is recorded under this name too, which no rule can give a lookup. */
export const RIGHTS_LOOKUP = 'actor.rights';

export interface RightsVerdict {
  /** Null = everything that is wanted may be asked for. */
  readonly refusal: Reason | null;
  readonly trace: JsonObject;
}

interface JudgedRights extends ActorRights {
  /** False = the reason says why not, and nothing about the person. */
  readonly isKnown: boolean;
}

/**
 * A command has the rights of whoever gave it: no step may do what they may not do themselves. What the bot may do beyond that does not
 * count, and rights that cannot be known are those of an outsider. `rights: author` grants the author of the issue or pull request what is
 * done to it, as far as others need no more for it than to keep the tracker.
 * @returns null when the rule takes no commands, or nothing is wanted
 * @throws NeedsLookup
 * @throws Misfit where it depends on whether they are the author, who is not known
 */
export function judgeCommand(
  program: RuleProgram,
  event: ForgeEvent | null,
  answers: LookupAnswers,
  steps: readonly ProposedStep[],
): RightsVerdict | null {
  if (!program.where.command || steps.length === 0) return null;
  const actor = event?.actor ?? null;
  if (!actor)
    return verdict({ level: 'none', units: {}, reason: 'the event does not say who gave the command', isKnown: false });
  const author = program.rights === 'author' ? authorOf(event) : null;
  if (author && isSamePerson(actor, author) && steps.every((step) => isAbout(step, event, program)))
    return {
      refusal: null,
      trace: { actor: actor.login, level: 'none', units: {}, reason: `the author of #${numberOf(event)}` },
    };
  const answer = Object.hasOwn(answers, RIGHTS_LOOKUP) ? answers[RIGHTS_LOOKUP] : undefined;
  if (!answer) {
    const params = { login: actor.login, ...(actor.id === '' ? {} : { id: actor.id }) };
    throw new NeedsLookup({ as: RIGHTS_LOOKUP, use: RIGHTS_LOOKUP, params, onMissing: 'none' });
  }
  const judged = verdict(rightsIn(answer, actor.login));
  const isOpen = program.rights === 'author' && isUnknown(event as ForgeEvent, 'issue.user');
  if (judged.refusal && isOpen && steps.every((step) => isAbout(step, event, program)))
    throw new Misfit('event.issue.user is not known (rights: author)', null, ['event.issue.user']);
  return judged;

  function verdict(rights: JudgedRights): RightsVerdict {
    const needed = [...new Set(steps.map(({ action }) => action))].map(
      (name) => program.steps.find((step) => step.action.name === name)?.action ?? { name, right: undefined },
    );
    const lacking = needed.find((action) => !mayAsk(action, rights));
    const trace = {
      actor: actor?.login ?? null,
      level: rights.level,
      units: { ...rights.units },
      reason: rights.reason,
    };
    return { refusal: lacking ? refusalOf(lacking, rights, actor?.login ?? 'somebody') : null, trace };
  }
}

/** Whether an action only asks for what keeping issues and pull requests takes. */
export function isOfTracker({ right }: Asked): boolean {
  return right !== undefined && right.level === RIGHTS.tracker.level && right.units.every((unit) => TRACKER.has(unit));
}

const TRACKER: ReadonlySet<string> = new Set(RIGHTS.tracker.units);

function isAbout({ action, items }: ProposedStep, event: ForgeEvent | null, program: RuleProgram): boolean {
  const definition = program.steps.find((step) => step.action.name === action)?.action;
  return (
    !!definition && isOfTracker(definition) && items.every(({ params }) => String(params['number']) === numberOf(event))
  );
}

function numberOf(event: ForgeEvent | null): string | null {
  const number = event?.data['number'];
  return number === undefined || number === null ? null : String(number as number);
}

/** The forge confirms them before anything is planned (`restsOn`). */
function authorOf(event: ForgeEvent | null): EventActor | null {
  const issue = event?.data['issue'];
  const user = isJsonObject(issue) ? issue['user'] : null;
  if (!isJsonObject(user)) return null;
  const { id, login } = user;
  return typeof id === 'string' && typeof login === 'string' ? { id, login } : null;
}

function isSamePerson(one: EventActor, other: EventActor): boolean {
  return one.id !== '' && one.id === other.id && one.login.toLowerCase() === other.login.toLowerCase();
}

interface Asked {
  readonly name: string;
  readonly right?: ActionFacts['right'] | undefined;
}

function mayAsk({ right }: Asked, rights: ActorRights): boolean {
  return right !== undefined && holdsRight(right, rights);
}

function refusalOf({ name: action, right }: Asked, rights: JudgedRights, login: string): Reason {
  const why = rights.isKnown ? null : rights.reason;
  return verdictReason('verdict.not-allowed', { login, action, right: right ? describeRight(right) : null, why });
}

function rightsIn(answer: NonNullable<LookupAnswers[string]>, login: string): JudgedRights {
  const outsider = (why: string): JudgedRights => ({
    ...{ level: 'none', units: {}, isKnown: false },
    reason: `an outsider: ${why}`,
  });
  if ('failed' in answer) return outsider(`the rights of ${login} cannot be known: ${answer.failed}`);
  if ('missing' in answer || !isJsonObject(answer.value)) return outsider(`the rights of ${login} cannot be known`);
  const { level, units, reason, is_known: isKnown } = answer.value;
  if (isKnown === false)
    return outsider(typeof reason === 'string' ? reason : `the rights of ${login} cannot be known`);
  const entries = isJsonObject(units ?? null) ? Object.entries(units as JsonObject) : [];
  return {
    level: levelOf(level),
    units: Object.fromEntries(entries.map(([unit, word]) => [unit, levelOf(word)])),
    reason: typeof reason === 'string' ? reason : '',
    isKnown: true,
  };
}

function levelOf(word: unknown): RightLevel {
  return typeof word === 'string' && isLevel(word) ? word : 'none';
}
