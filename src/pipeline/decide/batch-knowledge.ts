import { sourceOf, type Arrival, type ArrivalState } from '../../core/arrival.js';
import { withTold } from '../../core/event-knowledge.js';
import type { EventSource, ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import {
  isOpenTo,
  keyOfObject,
  MOST_CANDIDATES,
  REPORTED_BY,
  type ArrivalBatch,
  type ArrivalNews,
  type BatchFacts,
  type BatchNeeds,
  type EventDecision,
  type FactNeed,
  type FoundEvent,
  type KnownObject,
  type NewEvent,
  type ObjectNeed,
  type StatedObject,
  type TextAct,
  type ToldEvent,
  type ToldMore,
  type Touched,
} from '../inbox-store.port.js';

/** What deciding about one arrival needs to know, by what it says. */
export interface ArrivalNeeds {
  readonly facts?: ReadonlyArray<{ readonly factKey: string; readonly discussionKey?: string | undefined }>;
  readonly objects?: readonly StatedObject[];
  /** Keys of texts (see `equal-texts.ts`). */
  readonly texts?: readonly string[];
  readonly touched?: readonly Touched[];
}

/** An event as deduplication sees it, with what the batch made of it so far. */
interface BatchEvent extends ToldEvent {
  sources: EventSource[];
  data: JsonObject;
}

type Candidate = Pick<FoundEvent, 'id' | 'isOfDiscussion'>;

/**
 * What the store knows of all that a batch of one organization needs, in maps that stand for what it will know after the commit: each arrival sees what was decided about
 * those before it.
 */
export class BatchKnowledge {
  private readonly events = new Map<string, BatchEvent>();
  /** Each in the order in which they were stored. */
  private readonly candidates: ReadonlyMap<string, readonly Candidate[]>;
  private readonly made: Array<{ readonly id: string; readonly fact: string; readonly discussion: string | null }> = [];
  private readonly objects: Map<string, KnownObject>;
  private readonly texts: Map<string, TextAct | null>;
  private readonly sentEffects: ReadonlyMap<string, boolean>;
  private readonly heldOrderKeys: ReadonlyMap<string, boolean>;
  private unwritten: ArrivalNews[] = [];

  private constructor(
    private readonly batch: Pick<ArrivalBatch, 'receivedBetween' | 'write'>,
    needs: BatchNeeds,
    facts: BatchFacts,
  ) {
    for (const { isOfDiscussion: _, ...event } of facts.facts.flat())
      this.events.set(event.id, { ...event, sources: [...event.sources] });
    this.candidates = paired(needs.facts.map(nameOfNeed), facts.facts);
    this.objects = paired(needs.objects.map(nameOfObject), facts.objects);
    this.texts = paired(
      needs.texts.map(({ key }) => key),
      facts.texts,
    );
    this.sentEffects = paired(needs.effects, facts.effects);
    this.heldOrderKeys = paired(needs.orderKeys, facts.orderKeys);
  }

  /** Locks and reads all that these arrivals need. */
  static async load(
    batch: Pick<ArrivalBatch, 'load' | 'receivedBetween' | 'write'>,
    org: string,
    all: ReadonlyArray<ArrivalNeeds & { readonly arrival: Arrival }>,
  ): Promise<BatchKnowledge> {
    const needs: BatchNeeds = {
      org,
      facts: each(
        all.flatMap(({ arrival, facts = [] }) =>
          facts.map(({ factKey, discussionKey }) => ({
            forge: arrival.forge,
            factKey,
            discussionKey,
            source: sourceOf(arrival),
          })),
        ),
        nameOfNeed,
      ),
      objects: each(
        all.flatMap(({ arrival: { forge }, objects = [] }) => objects.map((object) => ({ forge, object }))),
        nameOfObject,
      ),
      texts: each(
        all.flatMap(({ arrival: { forge }, texts = [] }) => texts.map((key) => ({ forge, key }))),
        ({ key }) => key,
      ),
      effects: [...new Set(all.flatMap(({ touched = [] }) => touched.flatMap(({ effectKeys }) => effectKeys)))],
      orderKeys: [...new Set(all.flatMap(({ touched = [] }) => touched.flatMap(({ orderKey }) => orderKey ?? [])))],
    };
    return new BatchKnowledge(batch, needs, await batch.load(needs));
  }

  /** What was decided counts for those behind it. */
  keep(decision: ArrivalDecision): void {
    if (decision.hasNews) this.unwritten.push(decision);
  }

  async write(): Promise<void> {
    const news = this.unwritten;
    this.unwritten = [];
    if (news.length > 0) await this.batch.write(news);
  }

  eventsOfFact(need: FactNeed): ToldEvent[] {
    const [fact, discussion] = [nameOfFact(need), nameOfDiscussion(need)];
    const made = this.made.flatMap((one): Candidate[] => {
      const isOfDiscussion = discussion !== null && one.discussion === discussion;
      return isOfDiscussion || one.fact === fact ? [{ id: one.id, isOfDiscussion }] : [];
    });
    return [...needed(this.candidates.get(nameOfNeed(need)), 'fact'), ...made]
      .map(({ id, isOfDiscussion }) => ({ event: needed(this.events.get(id), 'event'), isOfDiscussion }))
      .filter(({ event, isOfDiscussion }) => isOfDiscussion || isOpenTo(need.source, event.sources))
      .map(({ event }) => ({ ...event, sources: [...event.sources] }))
      .slice(-MOST_CANDIDATES);
  }

  object(need: ObjectNeed): KnownObject {
    return needed(this.objects.get(nameOfObject(need)), 'object');
  }

  /** Whoever reads it later named it before, so that it is known. */
  note(need: ObjectNeed, news: Partial<KnownObject>): void {
    const name = nameOfObject(need);
    const object = this.objects.get(name);
    if (object) this.objects.set(name, { ...object, ...news });
  }

  isKnown({ effectKeys, orderKey }: Touched): boolean {
    const wasSent = effectKeys.some((effectKey) => needed(this.sentEffects.get(effectKey), 'effect'));
    return wasSent || (orderKey !== null && needed(this.heldOrderKeys.get(orderKey), 'orderKey'));
  }

  actOfText(key: string): TextAct | null {
    return needed(this.texts.get(key), 'text');
  }

  claimText(key: string, { id, hook, deliveryId, receivedAt }: TextAct): void {
    this.texts.set(key, { id, hook, deliveryId, receivedAt });
  }

  /** Rare: twice the same within seconds. What was decided before stands in the store then. */
  async receivedBetween(...question: Parameters<ArrivalBatch['receivedBetween']>): Promise<Between> {
    await this.write();
    return this.batch.receivedBetween(...question);
  }

  make({ forge, id, kind, factKey, factAt, data }: ForgeEvent, discussionKey: string | undefined): void {
    const seen = discussionKey === undefined ? {} : data;
    this.events.set(id, { id, kind, factKey, factAt, data: seen, sources: [], deniedAt: null });
    const names = { forge, factKey, discussionKey };
    this.made.push({ id, fact: nameOfFact(names), discussion: nameOfDiscussion(names) });
  }

  join(eventId: string, source: EventSource): void {
    this.events.get(eventId)?.sources.push(source);
  }

  tell({ eventId, details, from }: ToldMore): void {
    const event = this.events.get(eventId);
    if (event && Object.keys(event.data).length > 0)
      event.data = withTold({ actor: null, repo: null, data: event.data }, details, from).data;
  }
}

type Between = Awaited<ReturnType<ArrivalBatch['receivedBetween']>>;

/** What deciding about one arrival sees, and what comes of it. */
export class ArrivalDecision implements ArrivalNews {
  readonly made: NewEvent[] = [];
  readonly joined: string[] = [];
  readonly objectStates: Array<ArrivalNews['objectStates'][number]> = [];
  readonly additions: ToldMore[] = [];
  closed: ArrivalNews['closed'] = null;
  claimed: ArrivalNews['claimed'] = null;
  countedWith: string | null = null;

  constructor(
    private readonly knowledge: BatchKnowledge,
    readonly arrival: Arrival,
  ) {}

  get source(): EventSource {
    return sourceOf(this.arrival);
  }

  get hasNews(): boolean {
    const { made, joined, objectStates, closed, claimed } = this;
    return made.length + joined.length + objectStates.length > 0 || closed !== null || claimed !== null;
  }

  actsOfText(keys: readonly string[]): Array<TextAct | null> {
    return keys.map((key) => this.knowledge.actOfText(key));
  }

  /** See `ArrivalBatch.receivedBetween`. */
  receivedBetween(first: TextAct, factKeys: readonly string[]): Promise<Between> {
    return this.knowledge.receivedBetween(first, this.arrival, factKeys);
  }

  /** The delivery counts under this key, and is of this event type. */
  claimText(key: string, eventType: string): void {
    this.claimed = { key, eventType };
    if (this.arrival.kind === 'delivery') this.knowledge.claimText(key, this.arrival);
  }

  /** The delivery is no act of its own. To be closed as well. */
  countWith(first: TextAct): void {
    this.countedWith = first.id;
  }

  /** Events that the arrival may tell once more (see `BatchFacts.facts`). */
  eventsOfFact(factKey: string, discussionKey?: string): ToldEvent[] {
    const { forge } = this.arrival;
    return this.knowledge.eventsOfFact({ forge, factKey, discussionKey, source: this.source });
  }

  objectState(object: StatedObject): JsonObject | null {
    return this.knowledge.object({ forge: this.arrival.forge, object }).state;
  }

  /** Whether an event of this object is not decided yet. */
  hasUndecided(object: StatedObject): boolean {
    return this.knowledge.object({ forge: this.arrival.forge, object }).isOpen;
  }

  isKnown(touched: Touched): boolean {
    return this.knowledge.isKnown(touched);
  }

  keepObjectState(object: StatedObject, state: JsonObject): void {
    const { forge } = this.arrival;
    this.objectStates.push({ forge, object, state });
    this.knowledge.note({ forge, object }, { state });
  }

  insertEvent(
    event: ForgeEvent,
    discussionKey?: string,
    object: StatedObject | null = null,
    decision: EventDecision | null = null,
  ): void {
    this.made.push({ event, discussionKey, object, decision });
    this.knowledge.make(event, discussionKey);
    if (object && !decision) this.knowledge.note({ forge: event.forge, object }, { isOpen: true });
  }

  /** The arrival tells this event, new or known. */
  join(eventId: string): void {
    if (this.joined.includes(eventId)) return;
    this.joined.push(eventId);
    this.knowledge.join(eventId, this.source);
  }

  tell(more: ToldMore): void {
    this.additions.push(more);
    this.knowledge.tell(more);
  }

  close(state: ArrivalState, reason: string, code: string | null = null): void {
    this.closed = { state, reason, code };
  }
}

/** What was not named before the decision began was neither locked nor read: a fault of ours. */
function needed<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`a decision reads a ${what} that its needs do not name`);
  return value;
}

function paired<Value>(names: readonly string[], values: readonly Value[]): Map<string, Value> {
  return new Map(names.map((name, n) => [name, values[n] as Value]));
}

/** Of several of one name the last. */
function each<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [nameOf(item), item])).values()];
}

function nameOfObject({ forge, object }: ObjectNeed): string {
  return `${forge}\n${keyOfObject(object)}`;
}

type FactNames = Omit<FactNeed, 'source'>;

function nameOfFact({ forge, factKey }: FactNames): string {
  return `${forge}\n${factKey}`;
}

function nameOfDiscussion({ forge, discussionKey }: FactNames): string | null {
  return discussionKey === undefined ? null : `${forge}\n${discussionKey}`;
}

/** Sources of one class ask alike. */
function nameOfNeed(need: FactNeed): string {
  return [nameOfFact(need), nameOfDiscussion(need) ?? '', REPORTED_BY[need.source]].join('\n\n');
}
