import { messageOf } from '../../core/errors.js';
import type { Clock } from '../../core/clock.js';
import type { EventSource, ForgeEvent } from '../../core/event.js';
import { newId } from '../../core/ids.js';
import { traceOf } from '../../core/trace.js';
import { alert, type Alerts } from '../../core/alerts.js';
import type { JsonObject } from '../../core/json.js';
import type { Logger } from '../../core/logger.js';
import type { Derived, StatedObject } from '../../events/derive/derive-facts.js';
import type { SecurityLog } from '../../core/security-log.js';
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
import type { EventFact, Misfit } from '../../events/event-fact.js';
import type { DuplicateCandidate, ToldAgain } from '../../events/deduplicate.js';
import type { ReadDelivery } from '../../events/normalize-delivery.js';
import type { WorkQueue } from '../work-queue.port.js';
import type { Arrival, NewEntry, StoredDelivery } from '../../core/arrival.js';
import type { ArrivalDecision, DecisionNeeds, InboxStore, ToldEvent, Touched } from '../inbox-store.port.js';
import { DELIVERY } from '../../core/event-knowledge.js';
import type { JournalStore } from '../journal-store.port.js';
import type { ArrivalDecider } from '../rule-engine.port.js';
import type { LaterArrivals, WaitsFor } from './later-arrivals.js';
import type { AtOnceDecider, DecidedAtOnce } from './decide-at-once.js';

/** How arrivals become events; pure functions of `events/`, handed in by the module. */
export interface EventReader {
  /** @param number of the organization; null = not known */
  readDelivery(delivery: StoredDelivery, number: string | null): ReadDelivery | Misfit | TenantMismatch;
  normalizeEntry(entry: NewEntry): EventFact[] | Misfit | TenantMismatch;
  /** Id of the event that the arrival tells once more, or null. */
  deduplicateInto(source: EventSource, fact: ToldAgain, candidates: readonly DuplicateCandidate[]): string | null;
  /** The object whose earlier state the fact is to be seen against; null when it has none. */
  statedObjectOf(fact: EventFact): StatedObject | null;
  /** Whether what a list lets one guess happened, by the state held before. */
  isNews(fact: EventFact, state: JsonObject | null): boolean;
  /** What the forge does not say, from the state held so far. */
  deriveFacts(fact: EventFact, state: JsonObject | null): Derived;
}

export interface OrgIdentity {
  /** The number that the forge told; null = none so far. */
  numberOf(forge: string, org: string): Promise<string | null>;
  /** The same without a question to the store; undefined = the store must be asked. */
  numberAtHand(forge: string, org: string): string | null | undefined;
  /** Whether the forge says now that the organization has another name. Never throws. */
  isRenamed(forge: string, org: string): Promise<boolean>;
}

export interface DecideArrivalDeps {
  readonly inbox: Pick<InboxStore, 'decide'>;
  readonly queue: Pick<WorkQueue, 'ring'>;
  /** Told of events that a later arrival told more of. Optional. Default: runs that wait for it find out in time. */
  readonly journal?: Pick<JournalStore, 'hastenRuns'>;
  readonly events: EventReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Decides about events in the transaction that makes them, where it can. Optional. Without it, each is decided afterwards. */
  readonly atOnce?: Pick<AtOnceDecider, 'touchedBy' | 'decide' | 'written'>;
  /**
   * Longest time between an act and its delivery, in ms; a delivery of an older act is quarantined until a person releases it (see `act-time.ts`). Polled
   * entries are exempt: the forge itself tells them. Optional. Without it, acts of any age make events.
   */
  readonly maxActAgeMs?: number | null;
  /** Knows organizations by their number. Optional. Without it, only names are compared. */
  readonly orgs?: OrgIdentity;
  /**
   * How long after an entry was read a delivery may still say what of two kinds it is, in ms; 0 = none does. Optional. Default: 0
   */
  readonly awaitMs?: (fact: Pick<ForgeEvent, 'org' | 'forge' | 'kind' | 'source'>) => number;
  /** Hears of each arrival that names another organization's repository or tells of an act that is too old. Default: nobody does. */
  readonly security?: SecurityLog;
  /** Hears of each delivery that is quarantined for what it says. Default: nobody does. */
  readonly alerts?: Pick<Alerts, 'raise'>;
  /** Hears of each arrival that cannot be decided before another, and of each that was decided. Optional. Without it, the next turn brings it again. */
  readonly later?: Pick<LaterArrivals, 'wake' | 'decided'>;
  /** Told after commit about each new event, and about each arrival that made none. */
  readonly counted?: (what: { org: string; kind: string; source: EventSource }, event?: ForgeEvent) => void;
  /** Told after commit about each delivery that is quarantined, or a duplicate. */
  readonly setAside?: (what: { org: string; hook: string; code: string }) => void;
}

export function arrivalDecider(deps: DecideArrivalDeps): ArrivalDecider {
  const { atOnce: _, ...stepwise } = deps;
  return { decide: (arrivalId, manner) => decideArrival(manner === 'at once' ? deps : stepwise, arrivalId) };
}

/** What became of an arrival. */
interface DecidedArrival {
  readonly arrivalId: string;
  /** Events it told first, and events that another arrival had told already. */
  readonly created: readonly string[];
  readonly joined: readonly string[];
  /** Why it makes no event. */
  readonly closed: string | null;
}

/**
 * Turn one stored arrival into its event or events, deduplicate, and decide about what can be decided at once, all in the arrival's transaction. Safe to
 * call any number of times: an arrival that is not `stored` any more is left alone.
 * @returns null when there was nothing to decide, or cannot be decided before another
 */
export async function decideArrival(deps: DecideArrivalDeps, arrivalId: string): Promise<DecidedArrival | null> {
  let told: { arrival: Arrival; outcome: Outcome } | null = null;
  const unknown: Arrival[] = [];
  const waiting: Array<{ arrival: Arrival; for: WaitsFor }> = [];
  const decided = await deps.inbox.decide(
    arrivalId,
    async (tx, read: ReadArrival) => {
      const { arrival } = tx;
      // The embedded store has one connection: whoever asked it within the transaction would wait for ever.
      if (read.content === null) {
        unknown.push(arrival);
        return null;
      }
      const outcome = await decideInside(deps, tx, read, read.content);
      if (typeof outcome === 'string') {
        waiting.push({ arrival, for: outcome });
        return null;
      }
      told = { arrival, outcome };
      return {
        arrivalId,
        created: outcome.created.map(({ id }) => id),
        joined: outcome.joined,
        closed: outcome.closed,
      } satisfies DecidedArrival;
    },
    (arrival) => prepare(deps, arrival),
  );
  for (const { forge, org } of unknown) {
    await deps.orgs?.numberOf(forge, org);
    return decideArrival(deps, arrivalId);
  }
  for (const { arrival, for: what } of waiting.slice(-1)) deps.later?.wake(arrival, what);
  if (!decided) return null;
  deps.later?.decided();
  const { arrival, outcome } = told as unknown as { arrival: Arrival; outcome: Outcome };
  await report(deps, arrival, decided, outcome);
  for (const decision of outcome.decisions.values()) await deps.atOnce?.written(decision);
  if (outcome.told.length > 0) await deps.journal?.hastenRuns(outcome.told);
  const undecided = decided.created.filter((id) => !outcome.decisions.has(id));
  if (undecided.length > 0) deps.queue.ring('events', arrival.org);
  return decided;
}

/** What the arrival says, and what deciding about it needs of the store. */
interface ReadArrival extends DecisionNeeds {
  /** Null = the number of its organization is not at hand, by which it is read. */
  readonly content: Facts | NoFacts | null;
  /** Of a delivery: by what equal ones know each other. */
  readonly textKey: string | null;
  /** What of ours each fact may have to do with; null = it takes the longer way in any case. */
  readonly touches: ReadonlyMap<EventFact, Touched | null>;
}

function prepare(deps: DecideArrivalDeps, arrival: Arrival): ReadArrival {
  const number = arrival.kind === 'delivery' ? deps.orgs?.numberAtHand(arrival.forge, arrival.org) : null;
  if (number === undefined && deps.orgs) return { content: null, textKey: null, touches: new Map() };
  const content = readArrival(deps, arrival, number ?? null);
  const facts = 'facts' in content ? content.facts : [];
  const textKey = textKeyOfArrival(arrival, content);
  const now = deps.clock.now();
  const touches = new Map(facts.map((fact) => [fact, deps.atOnce?.touchedBy(eventOf(arrival, fact, now)) ?? null]));
  return {
    content,
    textKey,
    touches,
    facts,
    objects: facts.flatMap((fact) => deps.events.statedObjectOf(fact) ?? []),
    texts: textKey === null ? [] : [textKey, secondKeyOf(textKey)],
    touched: [...touches.values()].filter((one) => one !== null),
  };
}

function textKeyOfArrival(arrival: Arrival, content: Facts | NoFacts): string | null {
  if (arrival.kind === 'entry') return null;
  if (!('facts' in content) || content.eventType === null) return quarantineKeyOf(arrival);
  return textKeyOf({ ...arrival, textHash: content.facts[0]?.actKey ?? arrival.textHash }, content.eventType);
}

interface Outcome {
  created: ForgeEvent[];
  /** By id of those events that were decided at once. */
  readonly decisions: Map<string, DecidedAtOnce>;
  joined: string[];
  /** Of the joined events those that it told more of. */
  readonly told: string[];
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

/** @returns what it waits for: it is brought again */
async function decideInside(
  deps: DecideArrivalDeps,
  tx: ArrivalDecision,
  { textKey, touches }: ReadArrival,
  read: Facts | NoFacts,
): Promise<Outcome | WaitsFor> {
  const { arrival } = tx;
  const facts = 'facts' in read ? read.facts : [];
  const eventType = 'facts' in read ? read.eventType : null;
  if (arrival.kind === 'delivery' && textKey !== null) {
    const place = await placeAmongEqual(tx, arrival, textKey, facts, deps.clock.now());
    if (place === 'later') return 'others';
    if (typeof place !== 'string') {
      await tx.countWith(place.first);
      const reason = `it says what delivery ${place.first.id} said`;
      await tx.close('decided', reason, DUPLICATE);
      return { ...nothing(), closed: reason, code: DUPLICATE };
    }
    await tx.claimText(place, eventType ?? arrival.eventType);
  }
  if (!('facts' in read)) {
    // Rows that tell nothing are ordinary; a delivery that cannot be read is not, nor is what names another organization.
    const isOrdinary = arrival.kind === 'entry' && !read.broken && !read.mismatch;
    await tx.close(isOrdinary ? 'decided' : 'quarantined', read.reason, read.code);
    const { reason: closed, code, mismatch } = read;
    return { ...nothing(), closed, code, ...(mismatch ? { mismatch } : {}) };
  }
  if (await awaitsDelivery(deps, tx, facts)) return 'its delivery';
  const oldAct = oldActOf(deps, arrival, facts);
  if (oldAct) {
    const reason = `its act (${oldAct.kind}) happened at ${oldAct.actAt.toISOString()}, longer before its arrival than retention.max_age allows`;
    await tx.close('quarantined', reason, 'act_too_old');
    return { ...nothing(), closed: reason, code: 'act_too_old', oldAct };
  }
  const outcome = await decideFacts(deps, tx, facts, touches);
  if (facts.some(({ hasMoved }) => hasMoved) && outcome.closed === null)
    await tx.close('decided', HAS_MOVED, 'repository_moved');
  return outcome;
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
  const [first, second] = await tx.actsOfText([textKey, secondKey]);
  if (!first || first.id === delivery.id) return textKey;
  if (second?.id === delivery.id) return secondKey;
  const opposites = facts.flatMap((fact) => oppositesOf(fact));
  if (second || opposites.length === 0 || !mayBeSecondAct(first, delivery)) return { first };
  const between = await tx.receivedBetween(first, opposites);
  if (between === 'undecided' && stillWaits(first, delivery, now)) return 'later';
  return between === 'opposite' ? secondKey : { first };
}

/** A row that may be a comment or a review: its delivery, which says it, may be on its way. */
async function awaitsDelivery(
  deps: DecideArrivalDeps,
  tx: ArrivalDecision,
  facts: readonly EventFact[],
): Promise<boolean> {
  const { arrival } = tx;
  const unsure = facts.find(({ mayBeReview }) => mayBeReview);
  if (!unsure || arrival.kind !== 'entry') return false;
  const { org, forge, source } = arrival;
  const waitedMs = deps.clock.now().getTime() - arrival.readAt.getTime();
  if (waitedMs >= (deps.awaitMs?.({ org, forge, kind: unsure.kind, source }) ?? 0)) return false;
  return (await findDuplicateOf(deps, tx, unsure)) === null;
}

const DUPLICATE = 'duplicate';

/**
 * The act of a delivery that came too long after it. The time of arrival counts, not that of the decision: what arrived in time stays in time while it waits
 * for a worker.
 */
function oldActOf({ maxActAgeMs }: DecideArrivalDeps, arrival: Arrival, facts: readonly EventFact[]): OldAct | null {
  if (maxActAgeMs === null || maxActAgeMs === undefined || arrival.kind !== 'delivery' || arrival.isAgeAccepted)
    return null;
  const earliest = arrival.receivedAt.getTime() - maxActAgeMs;
  for (const fact of facts) {
    const actAt = actTimeOf(fact);
    if (actAt && actAt.getTime() < earliest) return { kind: fact.kind, actAt };
  }
  return null;
}

async function decideFacts(
  deps: DecideArrivalDeps,
  tx: ArrivalDecision,
  facts: readonly EventFact[],
  touches: ReadArrival['touches'],
): Promise<Outcome> {
  const outcome = nothing();
  if (facts.some(({ listed }) => listed)) return decideListed(deps, tx, facts, touches);
  for (const fact of facts) {
    const known = await findDuplicateOf(deps, tx, fact);
    const derived = await derive(deps, tx, fact);
    if (known !== null) {
      await join(tx, outcome, fact, known);
      continue;
    }
    await make(deps, tx, outcome, fact, derived, await mayTouchOurs(tx, touches.get(fact)));
  }
  return outcome;
}

/** The arrival tells a known event once more; where it knows what the first source left out, the event learns it. */
async function join(tx: ArrivalDecision, outcome: Outcome, fact: EventFact, known: ToldEvent): Promise<void> {
  outcome.joined.push(known.id);
  await tx.join(known.id);
  if (!tellsMore(sourceOf(tx.arrival), fact, known)) return;
  const { actor, data } = fact;
  await tx.tell(known.id, { actor, data }, sourceOf(tx.arrival) === 'webhook' ? [DELIVERY] : []);
  outcome.told.push(known.id);
}

/** A delivery tells more than anything that polling reads, and a row of the feed tells who did what a list shows. */
function tellsMore(source: EventSource, { kind }: EventFact, known: ToldEvent): boolean {
  if (known.kind !== kind) return false;
  if (source === 'webhook') return !known.sources.includes('webhook');
  return source === 'feed' && known.sources.every((one) => one === 'lists');
}

function nothing(): Outcome {
  return { created: [], decisions: new Map(), joined: [], told: [], closed: null };
}

/** Whether it may have to do with an effect of ours, which is looked at outside of this transaction. */
async function mayTouchOurs(tx: ArrivalDecision, touched: Touched | null | undefined): Promise<boolean> {
  return !touched || (await tx.isKnown(touched));
}

/** Stores the event, decided where nothing stands against it: an event of an object is decided behind those before it. */
async function make(
  { atOnce, events, clock }: DecideArrivalDeps,
  tx: ArrivalDecision,
  outcome: Outcome,
  fact: EventFact,
  derived: JsonObject | null,
  touchesOurs: boolean,
): Promise<void> {
  const data = derived === null ? fact.data : { ...fact.data, derived };
  const event = eventOf(tx.arrival, { ...fact, data }, clock.now());
  const object = events.statedObjectOf(fact);
  const isFree = atOnce && !touchesOurs && !(object && (await tx.hasUndecided(event.forge, object)));
  const decision = isFree ? await atOnce.decide(event) : null;
  await tx.insertEvent(event, fact.discussionKey, object, decision);
  await tx.join(event.id);
  outcome.created.push(event);
  if (decision) outcome.decisions.set(event.id, decision);
}

/**
 * All facts are about one object, and each is seen against the state as it was before the list was read, but for what an object is made with: that
 * is told by facts of their own, as deliveries do.
 */
async function decideListed(
  deps: DecideArrivalDeps,
  tx: ArrivalDecision,
  facts: readonly EventFact[],
  touches: ReadArrival['touches'],
): Promise<Outcome> {
  const { arrival } = tx;
  const { isNews, deriveFacts, statedObjectOf } = deps.events;
  const object = facts.map((fact) => statedObjectOf(fact)).find((one) => one !== null) ?? null;
  const before = object && (await tx.objectState(arrival.forge, object));
  let [seenAgainst, kept] = [before, before];
  const outcome = nothing();
  for (const fact of facts) {
    const derived = deriveFacts(fact, seenAgainst);
    const news = isNews(fact, seenAgainst);
    kept = deriveFacts(fact, kept).state ?? kept;
    if (!news) continue;
    const known = fact.listed?.isNewsUnheld ? await findDuplicateOf(deps, tx, fact) : null;
    if (known !== null) {
      await join(tx, outcome, fact, known);
      continue;
    }
    if (fact.listed?.change === null) seenAgainst = derived.state ?? seenAgainst;
    await make(deps, tx, outcome, fact, derived.facts, await mayTouchOurs(tx, touches.get(fact)));
  }
  if (object && kept && kept !== before) await tx.keepObjectState(arrival.forge, object, kept);
  if (outcome.created.length + outcome.joined.length === 0) {
    await tx.close('decided', NOTHING_NEW, 'nothing_new');
    return { ...outcome, closed: NOTHING_NEW };
  }
  return outcome;
}

const NOTHING_NEW = 'it shows nothing new';
const HAS_MOVED = 'its repository belongs to another owner by now: its event is about no repository';

/** Also of a fact that is told once more: the second telling may show what the first did not. */
async function derive({ events }: DecideArrivalDeps, tx: ArrivalDecision, fact: EventFact): Promise<JsonObject | null> {
  const { forge } = tx.arrival;
  const object = events.statedObjectOf(fact);
  const { facts, state } = events.deriveFacts(fact, object && (await tx.objectState(forge, object)));
  if (object && state) await tx.keepObjectState(forge, object, state);
  return facts;
}

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

function readArrival(deps: DecideArrivalDeps, arrival: Arrival, number: string | null): Facts | NoFacts {
  try {
    const read =
      arrival.kind === 'delivery' ? deps.events.readDelivery(arrival, number) : deps.events.normalizeEntry(arrival);
    if (Array.isArray(read)) return { facts: counted(deps, arrival, read), eventType: null };
    if ('fact' in read) return { facts: counted(deps, arrival, [read.fact]), eventType: read.eventType };
    const { reason, code } = read;
    return read instanceof TenantMismatch ? { reason, code, mismatch: read } : { reason, code };
  } catch (error) {
    // Reading is pure: what throws once throws always, and must not hold up the arrivals behind it.
    deps.logger.error({ arrivalId: arrival.id, org: arrival.org, error: messageOf(error) }, 'arrival.unreadable');
    return { reason: 'reading it failed', code: 'reading_failed', broken: true };
  }
}

/** Null entries of its lists are skipped, and not in silence. */
function counted(deps: DecideArrivalDeps, { id, org }: Arrival, facts: readonly EventFact[]): readonly EventFact[] {
  for (const { kind, skippedEntries: skipped } of facts)
    if (skipped !== undefined) deps.logger.warn({ arrivalId: id, org, kind, skipped }, 'arrival.null-entries-skipped');
  return facts;
}

async function findDuplicateOf(
  deps: DecideArrivalDeps,
  tx: ArrivalDecision,
  fact: EventFact,
): Promise<ToldEvent | null> {
  const known = await tx.eventsOfFact(tx.arrival.forge, fact.factKey, fact.discussionKey);
  const id = deps.events.deduplicateInto(
    sourceOf(tx.arrival),
    fact,
    known.map(({ id: eventId, ...told }) => ({ eventId, ...told })),
  );
  return known.find((event) => event.id === id) ?? null;
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

function sourceOf(arrival: Arrival): EventSource {
  return arrival.kind === 'delivery' ? 'webhook' : arrival.source;
}

async function report(
  deps: DecideArrivalDeps,
  arrival: Arrival,
  decided: DecidedArrival,
  { created, mismatch, oldAct, code }: Outcome,
): Promise<void> {
  const source = sourceOf(arrival);
  for (const event of created) deps.counted?.({ org: event.org, kind: event.kind, source }, event);
  const facts = { arrivalId: arrival.id, org: arrival.org, source };
  const by = arrival.kind === 'delivery' ? { hook: arrival.hook, type: arrival.eventType } : {};
  if (arrival.kind === 'delivery' && code !== undefined)
    deps.setAside?.({ org: arrival.org, hook: arrival.hook, code });
  if (code === DUPLICATE) return deps.logger.debug({ ...facts, reason: decided.closed }, 'delivery.duplicate');
  if (decided.closed !== null) deps.counted?.({ org: arrival.org, kind: 'none', source });
  if (oldAct)
    deps.security?.record({
      class: 'act_too_old',
      ...facts,
      ...by,
      kind: oldAct.kind,
      actAt: oldAct.actAt.toISOString(),
    });
  // A body claims anything: that the organization has another name is said by the forge, which raises its own alert.
  const isRenamed =
    mismatch?.code === 'tenant_renamed' && (await deps.orgs?.isRenamed(arrival.forge, arrival.org)) === true;
  if (mismatch && !isRenamed)
    deps.security?.record({
      class: 'tenant_mismatch',
      ...facts,
      ...by,
      code: mismatch.code,
      place: mismatch.place,
      named: mismatch.named,
    });
  // The security log raises its own.
  if (arrival.kind === 'delivery' && code !== undefined && !oldAct && !mismatch) {
    const what = { org: arrival.org, hook: arrival.hook, code };
    deps.alerts?.raise(
      `delivery.quarantined/${what.org}/${what.hook}/${code}`,
      alert('delivery.quarantined', { ...what, id: arrival.id }),
      facts,
    );
  }
  if (decided.closed !== null) deps.logger.info({ ...facts, reason: decided.closed }, 'arrival.no-event');
  for (const eventId of decided.joined)
    deps.logger.debug({ ...facts, eventId, ...traceOf(eventId, arrival.id) }, 'arrival.duplicate');
  for (const { id, kind } of created)
    deps.logger.debug({ ...facts, eventId: id, kind, ...traceOf(id, id) }, 'event.stored');
}
