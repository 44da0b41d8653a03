import { Inject, Injectable } from '@nestjs/common';
import { LookupReader, type LookupAnswer } from '../../actions/lookups/lookup-reader.port.js';
import { callingAs } from '../../core/caller.js';
import { BotError, ForgeError, UserError } from '../../core/errors.js';
import { subjectOf } from '../../core/event-subject.js';
import type { JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import type { NewIntent } from '../../core/run.js';
import { askKey, isForOwnersAlone, readEach } from '../../pipeline/decide/answer-lookups.js';
import { ObjectEvents, type ObjectEvent } from '../../pipeline/decide/object-events.js';
import { planIntents } from '../../pipeline/decide/plan-intents.js';
import { PlanningTools } from '../../pipeline/decide/planning-tools.js';
import { Rehearser } from '../../pipeline/execute/rehearse.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { BotSelves } from '../bot-self.js';
import { comparable } from '../wanted-effects.js';
import { Drafts } from './drafts.js';
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
    const reads = new LiveReads(this.lookups, objectEvent, object.isOpen);
    let round: ObjectRound;
    do {
      const { answers } = reads;
      round = await this.drafts.onObject(draft, { event, bot: this.selves.of(event.forge, event.org), answers });
    } while (await reads.answer(round.requests));
    const effects = await this.#lookAt(round, objectEvent, object.isOpen);
    return {
      problems: [],
      event: {
        kind: event.kind,
        repo: event.repo?.full_name ?? null,
        subject: subjectOf(event),
        actor: event.actor?.login ?? null,
        factAt: event.factAt,
        data: event.data,
      },
      rules: round.rules.map((line) => ({ ...line, effects: effects.get(line.rule) ?? [] })),
      reads: reads.count,
      notes: [
        `the event was made from the object as it is now: it may never have happened, and ${event.actor ? `${event.actor.login} counts as who did it` : 'nobody counts as who did it'}`,
        ...reads.notes,
      ],
    };
  }

  /** What each effect would do now, rule by rule. */
  async #lookAt(
    { decisions }: ObjectRound,
    objectEvent: ObjectEvent,
    isOpen: boolean,
  ): Promise<Map<string, LookedAt[]>> {
    let remaining = MAX_LOOKS;
    const effectsByRule = new Map<string, LookedAt[]>();
    for (const decision of decisions) {
      const effects: LookedAt[] = [];
      for (const intent of this.#intentsOf(decision, objectEvent)) {
        remaining -= 1;
        const hidden = isOpen ? (remaining < 0 ? MANY : null) : SEALED;
        const effect = hidden === null ? await this.#rehearse(intent) : this.#show(intent, 'not-looked', hidden);
        effects.push(effects.some(({ does }) => does === 'write') ? behindWrites(effect) : effect);
      }
      effectsByRule.set(decision.rule, effects);
    }
    return effectsByRule;
  }

  #intentsOf(
    { rule, report, steps }: ObjectRound['decisions'][number],
    { event, ownership }: ObjectEvent,
  ): readonly NewIntent[] {
    const { forge, org, id: eventId, repo, storedAt: decidedAt, actor } = event;
    const plan = planIntents(
      {
        ...{ forge, org, rule, kind: 'rule', mode: 'live', revisionId: 'trial', repo, ownership, actor, decidedAt },
        ...{ cause: { kind: 'event', eventId }, report, steps, lookups: {} },
      },
      { ...this.tools, account: this.selves.of(forge, org)?.login ?? '' },
    );
    return plan.intents;
  }

  async #rehearse(intent: NewIntent): Promise<LookedAt> {
    try {
      const rehearsal = await this.rehearser.rehearse(intent);
      return rehearsal.does === 'write'
        ? { ...this.#show(intent, 'write', null), operation: rehearsal.operation }
        : this.#show(intent, rehearsal.does, textOf(rehearsal.reason));
    } catch (error) {
      if (!(error instanceof BotError)) throw error;
      return this.#show(intent, 'not-looked', error.message);
    }
  }

  #show({ stepId, action, itemKey, params }: NewIntent, does: LookedAt['does'], reason: string | null): LookedAt {
    return {
      ...{ stepId, action, itemKey, does, reason, operation: null },
      params: comparable(params, this.tools.actions.get(action) as never),
    };
  }
}

/** What an earlier step would make may be what this one lacks. */
function behindWrites(effect: LookedAt): LookedAt {
  if (effect.does !== 'cannot') return effect;
  return { ...effect, does: 'not-looked', reason: `${effect.reason}; what stands above it is not made yet` };
}

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
          `${rule}: what lookups.${request.as} reads is sealed: owners of the organization and the owner of the host see it`,
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

  /** Text of a private repository, and what the forge tells owners alone, is for those who may see all of the organization. */
  #isSealed({ use }: LookupRequest): boolean {
    return !this.isOpen && (isForOwnersAlone([use]) || !isPublic(this.objectEvent));
  }

  async #read(request: LookupRequest): Promise<LookupAnswer> {
    const { forge, org, repo } = this.objectEvent.event;
    try {
      // Nobody wants an answer of before: it is read for this trial.
      const { maxAgeS: _, ...fresh } = request;
      const answer = await readEach(fresh, (one) => this.reader.read(one, { forge, org, repo }));
      this.#chars += JSON.stringify(answer).length;
      return this.#chars > MAX_ANSWER_CHARS ? { failed: 'a trial holds 8 MB of answers: ask for fewer' } : answer;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return { failed: `the forge cannot be asked: ${error.message}` };
    }
  }
}
