import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { messageOf } from '../../core/errors.js';
import { Clock } from '../../core/clock.js';
import type { EventSource, ForgeEvent } from '../../core/event.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { actTimeOf } from '../../events/act-time.js';
import { TenantMismatch } from '../../events/bind-tenant.js';
import {
  mayBeSecondAct,
  oppositesOf,
  quarantineKeyOf,
  secondKeyOf,
  stillWaits,
  textKeyOf,
  type TextAct,
} from '../../events/equal-texts.js';
import type { EventFact } from '../../events/event-fact.js';
import { sourceOf, type Arrival, type StoredDelivery } from '../../core/arrival.js';
import type { ToldEvent, Touched } from '../inbox-store.port.js';
import type { ArrivalDecision, ArrivalNeeds } from './batch-knowledge.js';
import { DELIVERY } from '../../core/event-knowledge.js';
import { AwaitedDeliveries } from './awaited-deliveries.js';
import { AtHandDecider, type DecidedAtOnce } from './decide-at-hand.js';
import { EventReader } from './event-reader.js';

/** What the arrival says, and what deciding about it needs of the store. */
export interface ReadArrival extends ArrivalNeeds {
  readonly arrival: Arrival;
  readonly content: Facts | NoFacts;
  /** Of a delivery: by what equal ones know each other. */
  readonly textKey: string | null;
  /** What of ours each fact may have to do with; null = it takes the longer way in any case. */
  readonly touches: ReadonlyMap<EventFact, Touched | null>;
}

function textKeyOfArrival(arrival: Arrival, content: Facts | NoFacts): string | null {
  if (arrival.kind === 'entry') return null;
  if (!('facts' in content) || content.eventType === null) return quarantineKeyOf(arrival);
  return textKeyOf({ ...arrival, textHash: content.facts[0]?.actKey ?? arrival.textHash }, content.eventType);
}

export interface Outcome {
  created: ForgeEvent[];
  /** By id of those events that were decided at once. */
  readonly decisions: Map<string, DecidedAtOnce>;
  joined: string[];
  /** Of the joined events those that it told more of. */
  readonly enriched: string[];
  closed: string | null;
  /** Of a delivery that makes no event. */
  code?: string;
  mismatch?: Mismatch;
  oldAct?: OldAct;
}

interface OldAct {
  readonly kind: string;
  readonly actAt: Date;
}

type Mismatch = Pick<TenantMismatch, 'code' | 'place' | 'named'>;

/** Decides about one arrival, over what is known in memory. */
@Injectable()
export class ArrivalDecider {
  private readonly maxActAgeMs: number | null;

  constructor(
    { retention }: AppConfig,
    @Inject(EventReader) private readonly events: EventReader,
    @Inject(AtHandDecider) private readonly atHand: Pick<AtHandDecider, 'touchedBy' | 'decide'>,
    @Inject(AwaitedDeliveries) private readonly deliveries: Pick<AwaitedDeliveries, 'waitMs'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.maxActAgeMs = retention.maxAgeMs;
  }

  /**
   * Pure.
   * @param number of its organization; null = not known
   */
  read(arrival: Arrival, number: string | null): ReadArrival {
    const content = this.contentOf(arrival, number);
    const facts = 'facts' in content ? content.facts : [];
    const textKey = textKeyOfArrival(arrival, content);
    const now = this.clock.now();
    const touches = new Map(facts.map((fact) => [fact, this.atHand.touchedBy(eventOf(arrival, fact, now))]));
    return {
      arrival,
      content,
      textKey,
      touches,
      facts,
      objects: facts.flatMap((fact) => this.events.statedObjectOf(fact) ?? []),
      texts: textKey === null ? [] : [textKey, secondKeyOf(textKey)],
      touched: [...touches.values()].filter((one) => one !== null),
    };
  }

  /**
   * What becomes of one arrival, over what is known in memory.
   * @returns `waits`: not before another, or a delivery that is on its way; it is brought again
   */
  async decide(tx: ArrivalDecision, { content: read, textKey, touches }: ReadArrival): Promise<Outcome | 'waits'> {
    const { arrival } = tx;
    const facts = 'facts' in read ? read.facts : [];
    const eventType = 'facts' in read ? read.eventType : null;
    if (arrival.kind === 'delivery' && textKey !== null) {
      const place = await placeAmongEqual(tx, arrival, textKey, facts, this.clock.now());
      if (place === 'later') return 'waits';
      if (typeof place !== 'string') {
        tx.countWith(place.first);
        const reason = `it says what delivery ${place.first.id} said`;
        tx.close('decided', reason, DUPLICATE);
        return { ...nothing(), closed: reason, code: DUPLICATE };
      }
      tx.claimText(place, eventType ?? arrival.eventType);
    }
    if (!('facts' in read)) {
      // Rows that tell nothing are ordinary; a delivery that cannot be read is not, nor is what names another organization.
      const isOrdinary = arrival.kind === 'entry' && !read.broken && !read.mismatch;
      tx.close(isOrdinary ? 'decided' : 'quarantined', read.reason, read.code);
      const { reason: closed, code, mismatch } = read;
      return { ...nothing(), closed, code, ...(mismatch ? { mismatch } : {}) };
    }
    if (this.awaitsDelivery(tx, facts)) return 'waits';
    const oldAct = this.oldActOf(arrival, facts);
    if (oldAct) {
      const reason = `its act (${oldAct.kind}) happened at ${oldAct.actAt.toISOString()}, longer before its arrival than retention.max_age allows`;
      tx.close('quarantined', reason, 'act_too_old');
      return { ...nothing(), closed: reason, code: 'act_too_old', oldAct };
    }
    const outcome = await this.decideFacts(tx, facts, touches);
    if (facts.some(({ hasMoved }) => hasMoved) && outcome.closed === null)
      tx.close('decided', HAS_MOVED, 'repository_moved');
    return outcome;
  }

  /** A row that may be a comment or a review: its delivery, which says it, may be on its way. */
  private awaitsDelivery(tx: ArrivalDecision, facts: readonly EventFact[]): boolean {
    const { arrival } = tx;
    const unsure = facts.find(({ mayBeReview }) => mayBeReview);
    if (!unsure || arrival.kind !== 'entry') return false;
    const { org, forge, source } = arrival;
    const waitedMs = this.clock.now().getTime() - arrival.readAt.getTime();
    if (waitedMs >= this.deliveries.waitMs({ org, forge, kind: unsure.kind, source })) return false;
    return this.findDuplicateOf(tx, unsure) === null;
  }

  /**
   * The act of a delivery that came too long after it. The time of arrival counts, not that of the decision: what arrived in time stays in time while it waits
   * for a worker.
   */
  private oldActOf(arrival: Arrival, facts: readonly EventFact[]): OldAct | null {
    const { maxActAgeMs } = this;
    if (maxActAgeMs === null || arrival.kind !== 'delivery' || arrival.isAgeAccepted) return null;
    const earliest = arrival.receivedAt.getTime() - maxActAgeMs;
    for (const fact of facts) {
      const actAt = actTimeOf(fact);
      if (actAt && actAt.getTime() < earliest) return { kind: fact.kind, actAt };
    }
    return null;
  }

  private async decideFacts(
    tx: ArrivalDecision,
    facts: readonly EventFact[],
    touches: ReadArrival['touches'],
  ): Promise<Outcome> {
    const outcome = nothing();
    if (facts.some(({ listed }) => listed)) return this.decideListed(tx, facts, touches);
    for (const fact of facts) {
      const duplicate = this.findDuplicateOf(tx, fact);
      const derived = this.derive(tx, fact);
      if (duplicate !== null) {
        join(tx, outcome, fact, duplicate);
        continue;
      }
      await this.make(tx, outcome, fact, derived, mayTouchOurs(tx, touches.get(fact)));
    }
    return outcome;
  }

  /** Stores the event, decided where nothing stands against it: an event of an object is decided behind those before it. */
  private async make(
    tx: ArrivalDecision,
    outcome: Outcome,
    fact: EventFact,
    derived: JsonObject | null,
    touchesOurs: boolean,
  ): Promise<void> {
    const data = derived === null ? fact.data : { ...fact.data, derived };
    const event = eventOf(tx.arrival, { ...fact, data }, this.clock.now());
    const object = this.events.statedObjectOf(fact);
    const isFree = !touchesOurs && !(object && tx.hasUndecided(object));
    const decision = isFree ? await this.atHand.decide(event) : null;
    tx.insertEvent(event, fact.discussionKey, object, decision);
    tx.join(event.id);
    outcome.created.push(event);
    if (decision) outcome.decisions.set(event.id, decision);
  }

  /**
   * All facts are about one object, and each is seen against the state as it was before the list was read, but for what an object is made with: that
   * is told by facts of their own, as deliveries do.
   */
  private async decideListed(
    tx: ArrivalDecision,
    facts: readonly EventFact[],
    touches: ReadArrival['touches'],
  ): Promise<Outcome> {
    const { isNews, deriveFacts, statedObjectOf } = this.events;
    const object = facts.map((fact) => statedObjectOf(fact)).find((one) => one !== null) ?? null;
    const before = object && tx.objectState(object);
    let [seenAgainst, newState] = [before, before];
    const outcome = nothing();
    for (const fact of facts) {
      const derived = deriveFacts(fact, seenAgainst);
      const news = isNews(fact, seenAgainst);
      newState = deriveFacts(fact, newState).state ?? newState;
      if (!news) continue;
      const duplicate = fact.listed?.isNewsUnheld ? this.findDuplicateOf(tx, fact) : null;
      if (duplicate !== null) {
        join(tx, outcome, fact, duplicate);
        continue;
      }
      if (fact.listed?.change === null) seenAgainst = derived.state ?? seenAgainst;
      await this.make(tx, outcome, fact, derived.facts, mayTouchOurs(tx, touches.get(fact)));
    }
    if (object && newState && newState !== before) tx.keepObjectState(object, newState);
    if (outcome.created.length + outcome.joined.length === 0) {
      tx.close('decided', NOTHING_NEW, 'nothing_new');
      return { ...outcome, closed: NOTHING_NEW };
    }
    return outcome;
  }

  /** Also of a fact that is told once more: the second telling may show what the first did not. */
  private derive(tx: ArrivalDecision, fact: EventFact): JsonObject | null {
    const object = this.events.statedObjectOf(fact);
    const { facts, state } = this.events.deriveFacts(fact, object && tx.objectState(object));
    if (object && state) tx.keepObjectState(object, state);
    return facts;
  }

  private contentOf(arrival: Arrival, number: string | null): Facts | NoFacts {
    try {
      const read =
        arrival.kind === 'delivery' ? this.events.readDelivery(arrival, number) : this.events.normalizeEntry(arrival);
      if (Array.isArray(read)) return { facts: this.countSkipped(arrival, read), eventType: null };
      if ('fact' in read) return { facts: this.countSkipped(arrival, [read.fact]), eventType: read.eventType };
      const { reason, code } = read;
      return read instanceof TenantMismatch ? { reason, code, mismatch: read } : { reason, code };
    } catch (error) {
      // Reading is pure: what throws once throws always, and must not hold up the arrivals behind it.
      this.logger.error({ arrivalId: arrival.id, org: arrival.org, error: messageOf(error) }, 'arrival.unreadable');
      return { reason: 'reading it failed', code: 'reading_failed', broken: true };
    }
  }

  /** Null entries of its lists are skipped, and not in silence. */
  private countSkipped({ id, org }: Arrival, facts: readonly EventFact[]): readonly EventFact[] {
    for (const { kind, skippedEntries: skipped } of facts)
      if (skipped !== undefined)
        this.logger.warn({ arrivalId: id, org, kind, skipped }, 'arrival.null-entries-skipped');
    return facts;
  }

  private findDuplicateOf(tx: ArrivalDecision, fact: EventFact): ToldEvent | null {
    const candidates = tx.eventsOfFact(fact.factKey, fact.discussionKey);
    const id = this.events.deduplicateInto(
      tx.source,
      fact,
      candidates.map(({ id: eventId, ...candidate }) => ({ eventId, ...candidate })),
    );
    return candidates.find((event) => event.id === id) ?? null;
  }
}

/**
 * Where a delivery stands among those of its text.
 * @returns the key under which it counts; or the first of them, of which it is a duplicate; or that it cannot be told yet
 */
async function placeAmongEqual(
  tx: ArrivalDecision,
  delivery: StoredDelivery,
  textKey: string,
  facts: readonly EventFact[],
  now: Date,
): Promise<string | { first: TextAct } | 'later'> {
  const secondKey = secondKeyOf(textKey);
  const [first, second] = tx.actsOfText([textKey, secondKey]);
  if (!first || first.id === delivery.id) return textKey;
  if (second?.id === delivery.id) return secondKey;
  const opposites = facts.flatMap((fact) => oppositesOf(fact));
  if (second || opposites.length === 0 || !mayBeSecondAct(first, delivery)) return { first };
  const between = await tx.receivedBetween(first, opposites);
  if (between === 'undecided' && stillWaits(first, delivery, now)) return 'later';
  return between === 'opposite' ? secondKey : { first };
}

export const DUPLICATE = 'duplicate';

/** The arrival tells a known event once more; where it knows what the first source left out, the event learns it. */
function join(tx: ArrivalDecision, outcome: Outcome, fact: EventFact, duplicate: ToldEvent): void {
  outcome.joined.push(duplicate.id);
  tx.join(duplicate.id);
  if (!tellsMore(tx.source, fact, duplicate)) return;
  const { actor, data } = fact;
  tx.tell({ eventId: duplicate.id, details: { actor, data }, from: tx.source === 'webhook' ? [DELIVERY] : [] });
  outcome.enriched.push(duplicate.id);
}

/** A delivery tells more than anything that polling reads, and a row of the feed tells who did what a list shows. */
function tellsMore(source: EventSource, { kind }: EventFact, duplicate: ToldEvent): boolean {
  if (duplicate.kind !== kind) return false;
  if (source === 'webhook') return !duplicate.sources.includes('webhook');
  return source === 'feed' && duplicate.sources.every((one) => one === 'lists');
}

function nothing(): Outcome {
  return { created: [], decisions: new Map(), joined: [], enriched: [], closed: null };
}

/** Whether it may have to do with an effect of ours, which is looked at outside of this transaction. */
function mayTouchOurs(tx: ArrivalDecision, touched: Touched | null | undefined): boolean {
  return !touched || tx.isKnown(touched);
}

const NOTHING_NEW = 'it shows nothing new';
const HAS_MOVED = 'its repository belongs to another owner by now: its event is about no repository';

interface NoFacts {
  readonly reason: string;
  readonly code: string;
  readonly broken?: boolean;
  readonly mismatch?: Mismatch;
}

interface Facts {
  readonly facts: readonly EventFact[];
  /** Of a delivery, as its body tells it where its headers do not. */
  readonly eventType: string | null;
}

function eventOf(arrival: Arrival, fact: EventFact, now: Date): ForgeEvent {
  return {
    id: newId(),
    forge: arrival.forge,
    org: arrival.org,
    kind: fact.kind,
    source: sourceOf(arrival),
    factKey: fact.factKey,
    factAt: fact.factAt,
    actor: fact.actor,
    repo: fact.repo,
    data: fact.data,
    storedAt: now,
  };
}
