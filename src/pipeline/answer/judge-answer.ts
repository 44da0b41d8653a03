import type { Command } from '../../core/command.js';
import { escapeMarkdown } from '../../core/escape-markdown.js';
import { isJsonObject } from '../../core/json.js';
import { openPart, type OwnWord, type Reason } from '../../core/reason.js';
import { LATER_STEP, WAITS, isReason } from '../../core/run-reasons.js';
import type { Intent, Run } from '../../core/run.js';
import { isEnded } from '../../core/states.js';
import { waitsForApproval } from '../../core/state-table.js';
import type { AnswerCode } from './answer-reasons.js';

/** How one thing that a person asked for stands. */
export type Standing = 'open' | 'well' | AnswerCode;

/** A run that the person's act caused, with what it wants. */
export interface AskedRun {
  readonly run: Run;
  readonly intents: readonly Intent[];
}

export interface AnswerFacts {
  readonly now: Date;
  /** Whether a person or a breaker paused this rule. */
  readonly isPaused: (intent: Pick<Intent, 'org' | 'rule'>) => boolean;
  /** What the person wrote; null = they put on a label. */
  readonly command: Command | null;
}

/** What is worth telling, and the run that shows the details to an admin. */
export interface Judged {
  readonly standing: Standing;
  readonly runId: string;
  /** What the action said of it, as far as anybody may read it. */
  readonly detail: Reason | null;
}

/** Work that has not ended so long after its plan is held by something. */
const HELD_AFTER_MS = 30_000;

/** Refusals before holds; what goes well says nothing while another part is open. */
const RANK = (standing: Standing): number =>
  standing === 'well' ? 3 : standing === 'open' ? 2 : isHeldCode(standing) ? 1 : 0;

export function isHeldCode(standing: Standing): boolean {
  return standing.startsWith('answer.held.');
}

/**
 * How it stands with all that one act asked for. A rule whose condition did not hold says nothing where another rule of the same command does
 * something. Pure.
 * @returns null when no run is left to be judged
 */
export function judgeAnswer(askedRuns: readonly AskedRun[], facts: AnswerFacts): Judged | null {
  const all = askedRuns.flatMap(({ run, intents }) =>
    standingsOf(run, intents, facts).map(({ standing, detail = null }) => ({
      standing,
      detail: detail && forPeople(detail, facts.command),
      runId: run.id,
      isIdle: run.state === 'not-fired',
    })),
  );
  const busy = all.filter(({ isIdle }) => !isIdle);
  const [worst] = [...(busy.length > 0 ? busy : all)].sort((a, b) => RANK(a.standing) - RANK(b.standing));
  if (!worst) return null;
  const { standing, runId, detail } = worst;
  return { standing, runId, detail };
}

/** Of a run, or of one of its intents. */
interface Part {
  readonly standing: Standing;
  readonly detail?: Reason | null;
}

function standingsOf(run: Run, intents: readonly Intent[], facts: AnswerFacts): Part[] {
  if (run.state === 'gathering') return [{ standing: 'open' }];
  if (run.state === 'coalesced') return [{ standing: 'well' }];
  if (run.state === 'not-fired' || run.state === 'error') return [{ standing: standingOfVerdict(run) }];
  if (intents.length === 0) return [{ standing: 'well' }];
  return intents.map((intent) => ({ standing: standingOf(intent, facts), detail: saidByAction(intent.reason) }));
}

/** What an action said of the forge; all else is about the bot and its rules. */
function saidByAction(reason: Reason | null): Reason | null {
  const within = reason?.params['because'] ?? null;
  const innerReason =
    isJsonObject(within) && isJsonObject(within['params'] ?? null) ? (within as unknown as Reason) : reason;
  return innerReason && ACTION_CODES.test(innerReason.code) ? innerReason : null;
}

const ACTION_CODES = /^(cannot|found)\./;
/** What a name is wrong for; what is there is nobody's to learn by guessing its name. */
const CANNOT = /^cannot\./;
const MAX_WORD = 100;

/** Without the words of rule files, such as the action that makes what is missing. */
function forPeople({ code, params: { create: _, ...params } }: Reason, command: Command | null): Reason {
  return openPart({ code, params }, CANNOT.test(code) ? ownWords(command) : undefined);
}

/** A word of the command as its writer wrote it, made harmless: whoever reads the answer sees it, and it does nothing. */
function ownWords(command: Command | null): OwnWord {
  const words = command === null ? [] : [...command.args, command.text.trim()];
  const byName = new Map(words.filter((word) => word !== '').map((word) => [word.toLowerCase(), word]));
  return (text) => {
    const word = byName.get(text.trim().toLowerCase());
    if (word === undefined) return null;
    return `${escapeMarkdown(word.slice(0, MAX_WORD))}${word.length > MAX_WORD ? '…' : ''}`;
  };
}

/** What a run that wanted nothing said of it. */
function standingOfVerdict({ state, reason }: Run): Standing {
  // Nobody is known to have asked.
  if (isReason(reason, 'run.not-confirmed') || isReason(reason, 'run.echo')) return 'well';
  if (isReason(reason, 'run.held.limit')) return 'answer.too-often';
  switch (becauseOf(reason)) {
    case 'verdict.not-allowed':
      return 'answer.not-allowed';
    case 'verdict.over-limit':
      return 'answer.too-much';
    default:
      return state === 'not-fired' ? 'answer.condition' : 'answer.failed';
  }
}

function becauseOf({ params }: Reason): string | null {
  const { because = null } = params;
  return isJsonObject(because) && typeof because['code'] === 'string' ? because['code'] : null;
}

function standingOf(intent: Intent, facts: AnswerFacts): Standing {
  const { state, reason, mode } = intent;
  if (isEnded(state)) {
    if (state === 'done' || state === 'unchanged') return 'well';
    if (state === 'suppressed') return mode === 'dry-run' ? 'well' : 'answer.undone';
    if (state === 'dead') return 'answer.failed';
    return state === 'cancelled' ? standingOfCancelled(reason) : standingOfRefused(reason);
  }
  if (waitsForApproval(intent)) return 'answer.held.approval';
  if (state === 'waiting') return 'answer.held.unknown';
  if (reason?.code === WAITS) return 'answer.held.waits';
  if (intent.held) return 'answer.held.budget';
  if (facts.now.getTime() - intent.plannedAt.getTime() < HELD_AFTER_MS) return 'open';
  if (state === 'unknown') return 'answer.held.unknown';
  if (state !== 'planned') return 'open';
  if (facts.isPaused(intent)) return 'answer.held.paused';
  return reason === null ? 'open' : 'answer.held.forge';
}

/** Later steps are told by the step that ended badly. */
function standingOfCancelled(reason: Reason | null): Standing {
  if (reason?.code === LATER_STEP.code) return 'well';
  return isReason(reason, 'intent.denied') ? 'answer.denied' : 'answer.changed';
}

function standingOfRefused(reason: Reason | null): Standing {
  if (isReason(reason, 'intent.waited-in-vain')) return 'answer.gave-up';
  return isNotGranted(reason) ? 'answer.not-granted' : 'answer.refused';
}

/** The operator's config does not allow it. */
function isNotGranted(reason: Reason | null): boolean {
  return (
    isReason(reason, 'intent.no-power') ||
    isReason(reason, 'intent.limit.merges') ||
    isReason(reason, 'intent.limit.private-mirrors') ||
    isReason(reason, 'intent.limit.private-reads')
  );
}
