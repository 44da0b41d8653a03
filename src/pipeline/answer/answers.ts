import { Inject, Injectable } from '@nestjs/common';
import { LookupReader } from '../../actions/lookups/lookup-reader.port.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../core/clock.js';
import { isForAnybody } from '../../core/event-kinds.js';
import { escapeMarkdown } from '../../core/escape-markdown.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { numberOf } from '../../core/event-subject.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { textOf, type Reason } from '../../core/reason.js';
import { runReason } from '../../core/run-reasons.js';
import type { Run } from '../../core/run.js';
import { commandOf } from '../../rules/language/match/where-filter.js';
import { commandsFor } from '../../rules/language/propose/command-help.js';
import type { ProposedStep } from '../../rules/language/revision.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { proveWithin, type ActProver } from '../decide/act-proof.js';
import { ActProofs } from '../decide/act-proofs.js';
import type { Plan } from '../decide/plan-intents.js';
import { Forges, isSelf } from '../execute/forge-access.js';
import { JournalStore, pauseOf } from '../journal-store.port.js';
import { Accounts } from '../rule-engine.port.js';
import { ANSWER_RULE } from '../../core/own-rules.js';
import { answerReason, answerWith } from './answer-reasons.js';
import { isHeldCode, judgeAnswer, type AskedRun, type Judged, type Standing } from './judge-answer.js';
import { OwnRuns } from './own-runs.js';

/** What an organization wants of answers. */
interface AnswerSettings {
  /** Accounts of other bots, which are never answered. */
  readonly bots: readonly string[];
  /** Whether the forge takes reactions. */
  readonly reacts: boolean;
}

/** What an answer is about; kept in the trace of its run. */
interface About {
  /** Rules that the act asked. */
  readonly rules: string[];
  /** The command, without its slash; null = a label. */
  readonly command: string | null;
  /** Answers to this act before it. */
  readonly stage: number;
  /** What the person was told last. */
  readonly lastStanding: Standing | null;
}

/** A command that the bot answers by itself, unless a rule takes it. */
const HELP = 'help';
/** The first look: most work has ended by then. */
const FIRST_LOOK_MS = 1_000;
const LAST_LOOK_MS = 5 * 60_000;
/** What waits longer is not answered any more. */
const GIVEN_UP_MS = 5 * 24 * 3_600_000;
/** Runs of one event that are looked at. */
const MOST_RUNS = 1_000;
/** Logins by which bots are known; others are named in the config. */
const BOT_LOGIN = /(^|[-_.])bot$|\[bot\]$/i;

/**
 * People who asked for something by a command or a label are told when it was refused, held or failed. An answer is a run of its own beside the runs
 * of the event, written in the same transaction; it waits as a run that gathers, is decided when what was asked for has come to something, and what it
 * wants are intents as any other's.
 */
@Injectable()
export class Answers {
  constructor(
    private readonly config: AppConfig,
    private readonly forges: Forges,
    private readonly accounts: Accounts,
    @Inject(ActProofs) private readonly acts: ActProver,
    /** Asked what somebody may do, for `/help`. */
    private readonly lookups: LookupReader,
    @Inject(JournalStore)
    private readonly journal: Pick<
      JournalStore,
      'recordDecision' | 'putOffRun' | 'run' | 'runs' | 'workOfRuns' | 'paused'
    >,
    private readonly runs: OwnRuns,
    private readonly clock: Clock,
  ) {}

  /** The run that will answer, of an event that was decided; none where nobody asked for anything, or nobody is to be answered. */
  planned(active: ActiveRevision, event: ForgeEvent, plans: readonly Plan[]): Plan[] {
    const { forge, org, actor, repo } = event;
    const settings = this.settings(forge, org);
    if (!settings || !actor || !repo || numberOf(event.data['number']) === null || this.isBot(event, actor, settings))
      return [];
    const command = commandOf(event)?.name ?? null;
    const askedPlans = command === null ? byLabel(event, plans) : byCommand(active, plans);
    if (askedPlans.length === 0 && !(command === HELP && takesCommands(active))) return [];
    const mode = askedPlans.length === 0 || askedPlans.some(({ run }) => run.mode === 'live') ? 'live' : 'dry-run';
    const about: About = { rules: askedPlans.map(({ run }) => run.rule), command, stage: 0, lastStanding: null };
    return [this.waiting(event, { mode, revisionId: active.id }, about, FIRST_LOOK_MS)];
  }

  /**
   * What a run that waited for its answer comes to. Safe in many processes at once.
   * @returns null when it is too early: it was put off
   * @throws ForgeError while the forge cannot be asked who wrote the command
   */
  async decide(run: Run, event: ForgeEvent, active: ActiveRevision): Promise<Plan | null> {
    const about = aboutOf(run);
    if (about.rules.length === 0) return this.help(run, event, about, active);
    const judged = await this.judge(event, about);
    const now = this.clock.now();
    const ageMs = now.getTime() - event.storedAt.getTime();
    // Who was told once that it waits is told next how it ended.
    if (judged && (judged.standing === 'open' || (about.lastStanding !== null && isHeldCode(judged.standing)))) {
      if (ageMs < GIVEN_UP_MS) {
        await this.journal.putOffRun(run.id, nextLookMs(ageMs));
        return null;
      }
      return this.silent(run);
    }
    const isNews = judged !== null && (judged.standing !== 'well' || about.lastStanding !== null);
    const acts = isNews ? await this.confirmed(event, ageMs) : null;
    if (!isNews || acts === null) return this.silent(run);
    // First who looks on: after a crash between the two, this run is decided again and the other exists already.
    if (isHeldCode(judged.standing))
      await this.journal.recordDecision({}, [
        this.waiting(
          event,
          run,
          { ...about, stage: about.stage + 1, lastStanding: judged.standing },
          nextLookMs(ageMs),
        ),
      ]);
    return { ...this.answer(run, event, about, judged), acts };
  }

  /** `/help`, where no rule takes it. */
  private async help(run: Run, event: ForgeEvent, about: About, { revision }: ActiveRevision): Promise<Plan> {
    const { accounts, lookups, clock } = this;
    const { forge, org, repo } = event;
    const acts = await this.confirmed(event, clock.now().getTime() - event.storedAt.getTime());
    if (acts === null) return this.silent(run);
    const self = accounts.self(forge, org);
    const context = { botLogin: self?.login ?? null, botId: self?.id ?? null, others: self?.others ?? [] };
    let listing = commandsFor(revision, event, context, {});
    if (listing.kind === 'needs-lookup') {
      const answer = await lookups.read(listing.request, { forge, org, repo });
      listing = commandsFor(revision, event, context, { [listing.request.as]: answer });
    }
    const commands = listing.kind === 'decided' ? [...listing.commands] : [];
    const reason = answerReason('answer.help', { commands });
    const body = `${addressOf(event.actor)}: ${textOf(reason)}`;
    const reacts = this.settings(forge, org)?.reacts ? '+1' : null;
    const steps = stepsOf(event, about, body, reacts);
    return { ...this.plan(run, event, reason, steps, { ...about, answered: reason.code }), acts };
  }

  private async judge(event: ForgeEvent, { rules }: About): Promise<Judged | null> {
    const { journal, clock } = this;
    const runs = await journal.runs({ org: event.org, eventId: event.id, limit: MOST_RUNS });
    const ruleRuns = await Promise.all(
      runs
        .filter(({ rule }) => rules.includes(rule))
        .map(async (run) => (run.coalescedInto ? ((await journal.run(run.coalescedInto)) ?? run) : run)),
    );
    const work = await journal.workOfRuns(ruleRuns.map(({ id }) => id));
    const askedRuns = ruleRuns.map((run, n): AskedRun => ({
      run,
      intents: (work[n] ?? []).map(({ intent }) => intent),
    }));
    const pauses = await journal.paused();
    return judgeAnswer(askedRuns, {
      now: clock.now(),
      isPaused: (intent) => pauseOf(pauses, intent) !== undefined,
      command: commandOf(event),
    });
  }

  private answer(run: Run, event: ForgeEvent, about: About, { standing, runId, detail }: Judged): Plan {
    const code = standing === 'well' || standing === 'open' ? 'answer.done' : standing;
    const settings = this.settings(run.forge, run.org);
    const reason = answerWith(code, { because: detail, on: isOnPull(event) ? 'pull request' : 'issue' });
    const body = [
      `${addressOf(event.actor)}${about.command === null ? '' : ` \`/${about.command}\``}: ${textOf(reason)}`,
      `<sub>For admins: \`forgehand runs ${runId}\`</sub>`,
    ].join('\n\n');
    const steps = stepsOf(event, about, body, settings?.reacts ? reactionFor(code) : null);
    return this.plan(run, event, reason, steps, { ...about, answered: code, run: runId });
  }

  private plan(run: Run, event: ForgeEvent, because: Reason, steps: readonly ProposedStep[], trace: JsonObject): Plan {
    const actor = isForAnybody(event.kind) ? event.actor : null;
    const outcome = { reason: runReason('run.answer', { because }), trace: { answer: trace }, steps, actor };
    return this.runs.decided(run, event, outcome);
  }

  private silent(run: Run): Plan {
    return this.runs.silent(run, runReason('run.answer.none'));
  }

  private waiting(
    event: ForgeEvent,
    { mode, revisionId }: Pick<Run, 'mode' | 'revisionId'>,
    about: About,
    windowMs: number,
  ): Plan {
    const part = String(about.stage);
    const waiting = {
      ...{ rule: ANSWER_RULE, mode, revisionId, part, reason: runReason('run.answer.waits') },
      trace: { answer: { ...about } },
      gathering: { key: `${event.id} ${part}`, windowMs },
    };
    return this.runs.waiting(event, waiting);
  }

  /** Where an organization wants its people answered, and its forge takes comments; null = they are not. */
  private settings(forge: string, name: string): AnswerSettings | null {
    const answers = this.config.orgs.find((org) => org.key === name && org.forge === forge)?.answers;
    const access = answers?.enabled ? this.forges.get(forge, name) : null;
    if (!answers || !access?.offers('createComment') || !access.offers('listComments')) return null;
    return { bots: answers.bots, reacts: access.offers('addCommentReaction') && access.offers('addIssueReaction') };
  }

  /** The bot's own accounts, those of the forge itself, and other bots. */
  private isBot({ forge, org }: ForgeEvent, actor: EventActor, { bots }: AnswerSettings): boolean {
    const self = this.accounts.self(forge, org);
    if (actor.id.startsWith('-') || (self !== null && isSelf(actor, self))) return true;
    return BOT_LOGIN.test(actor.login) || bots.some((login) => login.toLowerCase() === actor.login.toLowerCase());
  }

  /**
   * Anybody may comment, and a delivery may say anything: nobody is spoken to whom the forge does not name, or of an act for which there was an answer.
   * @returns what shows the act; null = nothing does
   */
  private async confirmed(event: ForgeEvent, waitedMs: number): Promise<readonly string[] | null> {
    if (!isForAnybody(event.kind)) return [];
    const proof = await proveWithin(this.acts, event, [], waitedMs, ANSWER_RULE);
    return proof.proven && proof.actor !== null ? proof.acts : null;
  }
}

function takesCommands({ revision }: ActiveRevision): boolean {
  return revision.rules.some(({ program }) => program.where.command);
}

/** Rules that take commands, whatever they decided. */
function byCommand({ revision }: ActiveRevision, plans: readonly Plan[]): Plan[] {
  const commands = new Set(revision.rules.filter(({ program }) => program.where.command).map(({ id }) => id));
  return plans.filter(({ run }) => commands.has(run.rule));
}

/** A label asks for something where a rule wanted something of it; conditions that do not hold are no refusal. */
function byLabel({ kind }: ForgeEvent, plans: readonly Plan[]): Plan[] {
  if (kind !== 'issue.labeled' && kind !== 'pull_request.labeled') return [];
  return plans.filter(({ run, intents }) => run.kind === 'rule' && (intents.length > 0 || run.state === 'gathering'));
}

function isOnPull({ kind, data }: ForgeEvent): boolean {
  return kind.startsWith('pull_request.') || data['is_pull'] === true;
}

function commentIn({ data }: ForgeEvent): string | null {
  const comment = data['comment'] ?? null;
  return isJsonObject(comment) && typeof comment['id'] === 'string' ? comment['id'] : null;
}

/** Soon while it is fresh, then ever more rarely. */
function nextLookMs(ageMs: number): number {
  return Math.min(Math.max(ageMs / 4, FIRST_LOOK_MS), LAST_LOOK_MS);
}

/** Logins have no signs that Markdown knows but underscores and dots; an odd one is escaped and mentions nobody. */
function addressOf(actor: EventActor | null): string {
  const login = actor?.login ?? '';
  return /^[A-Za-z0-9][\w.-]*$/.test(login) ? `@${login}` : escapeMarkdown(login);
}

function reactionFor(code: string): string {
  if (code === 'answer.done') return '+1';
  return code.startsWith('answer.held.') ? 'eyes' : 'confused';
}

/** One comment for each command, edited when there is news of it; then a reaction to the command itself. A label has no comment: its event stands for it. */
function stepsOf(event: ForgeEvent, { stage }: About, body: string, reaction: string | null): ProposedStep[] {
  const number = numberOf(event.data['number']) ?? '';
  const comment = commentIn(event);
  const itemKey = String(stage);
  const key = `answer ${comment ?? event.id}`;
  const reacts = reaction === null ? [] : [{ itemKey, params: { number, comment, reaction } }];
  return [
    { stepId: 'comment', stepNo: 0, action: 'issue.comment', items: [{ itemKey, params: { number, key, body } }] },
    { stepId: 'reaction', stepNo: 1, action: 'issue.react', items: reacts },
  ];
}

function aboutOf({ trace }: Pick<Run, 'trace'>): About {
  const about = isJsonObject(trace) && isJsonObject(trace['answer'] ?? null) ? (trace['answer'] as JsonObject) : {};
  const { rules, command, stage, lastStanding } = about;
  return {
    rules: Array.isArray(rules) ? rules.map(String) : [],
    command: typeof command === 'string' ? command : null,
    stage: typeof stage === 'number' ? stage : 0,
    lastStanding: typeof lastStanding === 'string' ? (lastStanding as Standing) : null,
  };
}
