import { Inject, Injectable } from '@nestjs/common';
import type { EarlierStep } from '../../actions/define-action.js';
import { LookupReader, type LookupAnswer } from '../../actions/lookups/lookup-reader.port.js';
import { callingAs } from '../../core/caller.js';
import { Clock } from '../../core/clock.js';
import { BotError, ForgeError, UserError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import type { NewIntent } from '../../core/run.js';
import { within } from '../../core/within.js';
import { askKey, isForOwnersAlone, readEach } from '../../pipeline/decide/answer-lookups.js';
import { ObjectEvents, type ObjectEvent } from '../../pipeline/decide/object-events.js';
import { planIntents, type Plan } from '../../pipeline/decide/plan-intents.js';
import { PlanningTools } from '../../pipeline/decide/planning-tools.js';
import { Rehearser } from '../../pipeline/execute/rehearse.js';
import { FACTS_USE } from '../../rules/language/propose/asked-facts.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { BotSelves } from '../bot-self.js';
import { comparable } from '../wanted-effects.js';
import { Drafts } from './drafts.js';
import { TrialWaits } from './trial-waits.js';
import { eventFacts } from './tried-event.js';
import type { LookedAt, ObjectTrial } from './try-answers.js';
import type { Draft, ObjectRound } from './try-orders.js';

/** Most lookups that one trial makes; each element of a `for_each` is one. */
const MAX_READS = 50;
/** Most effects that one trial looks at. */
const MAX_LOOKS = 50;
/** Most characters of answers that one trial holds, as JSON. */
const MAX_ANSWER_CHARS = 8 * 1024 * 1024;
/** Trials at once; one of them for each caller. */
const MAX_TRIALS = 4;
/** Longest that one trial asks the forge. */
const TRIAL_MS = 30_000;

interface TriedObject {
  readonly forge: string;
  readonly org: string;
  /** Without its owner. */
  readonly repo: string;
  readonly number: number;
  /** The kind of event; null = the opening of the object. */
  readonly as: string | null;
  /** What only owners may see is read for this caller. */
  readonly isOpen: boolean;
  /** Name of the caller. */
  readonly by: string;
}

/** Rules tried on an issue or pull request as it is now. The forge is read alone, and nothing is stored. */
@Injectable()
export class ObjectTrials {
  readonly #callers = new Set<string>();

  constructor(
    private readonly drafts: Drafts,
    private readonly objects: ObjectEvents,
    @Inject(LookupReader) private readonly lookups: Pick<LookupReader, 'read'>,
    private readonly tools: PlanningTools,
    @Inject(Rehearser) private readonly rehearser: Pick<Rehearser, 'rehearse'>,
    @Inject(BotSelves) private readonly selves: Pick<BotSelves, 'of'>,
    @Inject(TrialWaits) private readonly waits: Pick<TrialWaits, 'of'>,
    private readonly clock: Clock,
  ) {}

  /** @throws UserError NOT_FOUND, BAD_KIND, NOT_OFFERED, TRY_TOO_MUCH; ForgeError while the forge cannot be asked */
  async try(draft: Draft, object: TriedObject): Promise<ObjectTrial> {
    const { by } = object;
    if (this.#callers.has(by) || this.#callers.size >= MAX_TRIALS)
      throw new UserError(
        'TRY_TOO_MUCH',
        `${this.#callers.has(by) ? 'a trial of yours' : `${MAX_TRIALS} trials of others`} is not done yet: try again when it is`,
      );
    this.#callers.add(by);
    try {
      const { ok, problems } = await this.drafts.check(draft);
      if (!ok) return { problems, event: null, rules: [], reads: 0, notes: [] };
      return await callingAs({ priority: 'interactive', org: object.org }, () => this.#tryLoaded(draft, object));
    } finally {
      this.#callers.delete(by);
    }
  }

  async #tryLoaded(draft: Draft, object: TriedObject): Promise<ObjectTrial> {
    const objectEvent = await this.objects.make(object, object.as);
    const { event } = objectEvent;
    if (!object.isOpen && !isPublic(objectEvent))
      throw new UserError(
        'NOT_FOUND',
        `${object.org}/${object.repo} is not public: owners of the organization and the owner of the host try rules on its objects`,
      );
    const deadline = new Deadline(this.clock);
    const reads = new LiveReads(this.lookups, objectEvent, object.isOpen, deadline);
    let round: ObjectRound;
    do {
      const { answers } = reads;
      round = await this.drafts.onObject(draft, { event, bot: this.selves.of(event.forge, event.org), answers });
    } while (await reads.answer(round.requests));
    const looked = await this.#lookAt(round, objectEvent, object.isOpen, deadline);
    return {
      problems: [],
      event: eventFacts(event),
      rules: round.rules.map((line) => ({ ...line, waits: [], effects: [], ...looked.get(line.rule) })),
      reads: reads.count,
      notes: [
        `the event was made from the object as it is now: it may never have happened, and ${event.actor ? `${event.actor.login} counts as who did it` : 'nobody counts as who did it'}`,
        ...reads.notes,
      ],
    };
  }

  /** What each effect would do now, rule by rule. */
  async #lookAt(
    { decisions, rules }: ObjectRound,
    objectEvent: ObjectEvent,
    isOpen: boolean,
    deadline: Deadline,
  ): Promise<Map<string, LookedRule>> {
    let remaining = MAX_LOOKS;
    const looked = new Map<string, LookedRule>();
    for (const decision of decisions) {
      const { rule, window } = decision;
      const { run, intents } = this.#plan(decision, objectEvent, rules.find((line) => line.rule === rule)?.mode);
      const problem =
        run.state === 'error' ? textOf(run.reason) : window && 'problem' in window ? window.problem : null;
      if (problem !== null) {
        looked.set(rule, { verdict: 'error', reason: problem });
        continue;
      }
      const above: LookedIntent[] = [];
      for (const intent of intents) {
        remaining -= 1;
        if (!isOpen) above.push(this.#show(intent, 'sealed', SEALED));
        else if (remaining < 0) above.push(this.#show(intent, 'not-looked', MANY));
        else above.push(await this.#rehearse(intent, above, deadline));
      }
      const effects = above.map(({ effect }) => effect);
      looked.set(rule, { effects, waits: await this.waits.of(objectEvent.event.org, decision, intents, isOpen) });
    }
    return looked;
  }

  #plan(
    { rule, report, steps }: ObjectRound['decisions'][number],
    { event, ownership }: ObjectEvent,
    mode: string | undefined,
  ): Plan {
    const { forge, org, id: eventId, repo, storedAt: decidedAt, actor } = event;
    return planIntents(
      {
        ...{ forge, org, rule, kind: 'rule', revisionId: 'trial', repo, ownership, actor, decidedAt },
        mode: mode === 'live' ? mode : 'dry-run',
        ...{ cause: { kind: 'event', eventId }, report, steps, lookups: {} },
      },
      { ...this.tools, account: this.selves.of(forge, org)?.login ?? '' },
    );
  }

  async #rehearse(intent: NewIntent, above: readonly LookedIntent[], deadline: Deadline): Promise<LookedIntent> {
    const earlier = above.filter((one) => one.intent.itemKey === intent.itemKey && one.intent.stepNo < intent.stepNo);
    const first = earlier.findIndex((one) => this.#isFurtherStep(one.intent, intent));
    const open = first < 0 ? undefined : earlier.slice(first).find(({ effect }) => effect.does !== 'nothing');
    if (open) return this.#show(intent, 'waits', `it stands on what comes of ${named(open)}, above it`);
    try {
      const rehearsal = await deadline.within(() => this.rehearser.rehearse(intent, earlier.map(asStep)));
      if (rehearsal === LATE) return this.#show(intent, 'not-looked', TOO_LATE);
      if (rehearsal.does === 'write') return this.#show(intent, 'write', null, rehearsal);
      const { does, reason } = rehearsal;
      const maker = does === 'cannot' ? above.findLast((one) => makesFor(one, intent)) : undefined;
      return maker
        ? this.#show(intent, 'waits', `it needs what ${named(maker)} makes, above it (${textOf(reason)})`)
        : this.#show(intent, does, textOf(reason), { code: reason.code });
    } catch (error) {
      if (!(error instanceof BotError)) throw error;
      return this.#show(intent, 'not-looked', error.message);
    }
  }

  #isFurtherStep({ action, stepNo }: NewIntent, later: NewIntent): boolean {
    const { laterSteps = [] } = this.tools.actions.get(action) ?? {};
    return laterSteps.some((step) => step.action === later.action) && later.stepNo - stepNo <= laterSteps.length;
  }

  #show(
    intent: NewIntent,
    does: LookedAt['does'],
    reason: string | null,
    { operation = null, code = null }: { readonly operation?: string | null; readonly code?: string | null } = {},
  ): LookedIntent {
    const { stepId, action, itemKey } = intent;
    const params = comparable(intent.params, this.tools.actions.get(action) as never);
    return { intent, effect: { stepId, action, itemKey, params, does, operation, reason }, code };
  }
}

type LookedRule =
  | Pick<ObjectTrial['rules'][number], 'effects' | 'waits'>
  | Pick<ObjectTrial['rules'][number], 'verdict' | 'reason'>;

/** What was found about an effect that stands above another one. */
interface LookedIntent {
  readonly intent: NewIntent;
  readonly effect: LookedAt;
  /** Of the reason why nothing is to be written. */
  readonly code: string | null;
}

function named({ intent: { action, itemKey } }: LookedIntent): string {
  return `${action} ${itemKey}`;
}

/** As it would end where nothing has to be written. */
function asStep({ intent: { action }, code }: LookedIntent): EarlierStep {
  return { action, state: 'unchanged', code };
}

/** Whether an effect that is not made yet makes something that the other one needs. */
function makesFor({ intent, effect }: LookedIntent, { names = [] }: NewIntent): boolean {
  return effect.does === 'write' && intent.object !== undefined && names.includes(intent.object);
}

const LATE = Symbol('late');

/** The end of a trial, whatever the forge does. */
class Deadline {
  readonly #endsAtMs: number;

  constructor(private readonly clock: Clock) {
    this.#endsAtMs = clock.monotonicMs() + TRIAL_MS;
  }

  get isOver(): boolean {
    return this.clock.monotonicMs() >= this.#endsAtMs;
  }

  /** The work goes on by itself when the time is over. */
  async within<Result>(work: () => Promise<Result>): Promise<Result | typeof LATE> {
    if (this.isOver) return LATE;
    const answer = work();
    try {
      return await within(this.#endsAtMs - this.clock.monotonicMs(), answer);
    } catch (error) {
      if (this.isOver) {
        answer.catch(() => undefined);
        return LATE;
      }
      throw error;
    }
  }
}

const TOO_LATE = `a trial takes ${TRIAL_MS / 1000} seconds at most`;
const MANY = `a trial looks at ${MAX_LOOKS} effects`;
// The bot looks with its own rights: whether a value is there already would tell what the caller may not read.
const SEALED = 'what stands at the forge is looked at for owners of the organization and the owner of the host';

function isPublic({ ownership }: ObjectEvent): boolean {
  return ownership.is === 'ours' && ownership.repository.private === false;
}

/** What the rules of one trial asked for, read once each. */
class LiveReads {
  readonly answers: Array<{ readonly rule: string; readonly lookups: JsonObject }> = [];
  readonly notes: string[] = [];
  readonly #askKeys = new Set<string>();
  #count = 0;
  #chars = 0;

  constructor(
    private readonly reader: Pick<LookupReader, 'read'>,
    private readonly objectEvent: ObjectEvent,
    private readonly isOpen: boolean,
    private readonly deadline: Deadline,
  ) {}

  get count(): number {
    return this.#count;
  }

  /** @returns whether anything new was read */
  async answer(requests: ObjectRound['requests']): Promise<boolean> {
    const before = this.answers.length;
    for (const { rule, request } of requests) {
      const key = askKey(request);
      if (this.#askKeys.has(key)) continue;
      this.#askKeys.add(key);
      const cost = request.each?.length ?? 1;
      if (this.#isSealed(request))
        this.notes.push(
          `${rule}: what ${request.use === FACTS_USE ? 'the bot knows of itself' : `lookups.${request.as} reads`} is sealed: owners of the organization and the owner of the host see it`,
        );
      else if (this.#count + cost > MAX_READS)
        this.notes.push(`${rule}: lookups.${request.as} was not read: a trial makes ${MAX_READS} lookups`);
      else {
        this.#count += cost;
        this.answers.push({ rule, lookups: { [request.as]: { ...(await this.#read(request)), asked: key } } });
      }
    }
    return this.answers.length > before;
  }

  /** What the forge tells owners alone, and what the bot knows of itself, is for those who may see all of the organization. */
  #isSealed({ use }: LookupRequest): boolean {
    return !this.isOpen && (use === FACTS_USE || isForOwnersAlone([use]));
  }

  async #read(request: LookupRequest): Promise<LookupAnswer> {
    const { forge, org, repo } = this.objectEvent.event;
    try {
      // Nobody wants an answer of before: it is read for this trial.
      const { maxAgeS: _, ...fresh } = request;
      const answer = await this.deadline.within(() =>
        readEach(fresh, (one) => this.reader.read(one, { forge, org, repo })),
      );
      if (answer === LATE) return { failed: TOO_LATE };
      this.#chars += JSON.stringify(answer).length;
      return this.#chars > MAX_ANSWER_CHARS ? { failed: 'a trial holds 8 MB of answers: ask for fewer' } : answer;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return { failed: `the forge cannot be asked: ${error.message}` };
    }
  }
}
