import { PassingMap, PassingSet } from './passing.js';

/** Whose turn it is. */
export interface Turn<Item, Priority extends string = string> {
  readonly item: Item;
  readonly owner: string;
  readonly priority: Priority;
}

/** What may begin at this moment; without limits everything may. */
export interface Limits<Priority> {
  /** Turns under way at once, and of one owner. */
  readonly places?: number;
  readonly placesOfOne?: number;
  /** Priorities that may begin now. Default: all. */
  readonly priorities?: readonly Priority[];
  /** Whose turns may begin now. Default: everybody's. */
  readonly mayBegin?: (owner: string) => boolean;
}

/** Of what was used of late. */
const NEXT_TO_NOTHING = 0.01;

/** Items that wait in one priority. */
interface Line<Item, Priority> {
  readonly priority: Priority;
  /** The items of an owner in the order they came; among owners who used as much, whose turn it is first. */
  readonly owners: PassingMap<string, PassingSet<Item>>;
  readonly share: number;
  /** Grows with each turn by the inverse of the share; the priority that is least far goes next. */
  way: number;
}

/**
 * Decides who is next at a gate: among priorities by their shares, within a priority the owner who used the gate least, of one owner what came first. So an
 * owner with many items, or with long turns, delays nobody else. Whoever was quiet for long saves nothing up.
 *
 * A gate adds what waits, begins what `next` returns, and tells when its turn has ended. An item waits once and has one turn at a time: one that is
 * added during its turn waits for the end of it. The scheduler knows no clock; how fast a gate may go is the gate's own matter.
 */
export class FairScheduler<Item, Priority extends string = string> {
  /** In order of precedence among priorities that are equally far. */
  readonly #lines: ReadonlyMap<Priority, Line<Item, Priority>>;
  readonly #firstPriority: Priority;
  readonly #waiting = new PassingMap<Item, { readonly priority: Priority; readonly owner: string }>();
  /** Each item under way with its owner. */
  readonly #underWay = new PassingMap<Item, string>();
  /** What the turns of each owner took, and the level of the last turn, at which a new owner starts. */
  readonly #used = new Map<string, number>();
  #usedByLast = 0;
  /** How far the priority of the last turn was. */
  #way = 0;

  /**
   * @param shares turns that a priority gets while all priorities wait, the upper priority first; `Infinity` goes before all others. Default: one priority
   * @param use what counts: `since all were equal`, at which a new owner stands beside the others, and all are equal when nothing waits; or `of late`, until
   * the gate lets it fade, so that an owner who needs little goes before all who need much. Default: the former
   */
  constructor(
    shares: Readonly<Record<Priority, number>> = { all: 1 } as Readonly<Record<Priority, number>>,
    private readonly use: 'since all were equal' | 'of late' = 'since all were equal',
  ) {
    const priorities = Object.entries(shares) as Array<[Priority, number]>;
    this.#lines = new Map(
      priorities.map(([priority, share]) => [priority, { priority, owners: new PassingMap(), share, way: 0 }]),
    );
    const [first] = this.#lines.keys();
    if (first === undefined) throw new Error('a scheduler needs a priority');
    this.#firstPriority = first;
  }

  /** Items that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Owners of whom something waits. */
  get owners(): number {
    return new Set([...this.#lines.values()].flatMap(({ owners }) => [...owners.keys()])).size;
  }

  /** Items that wait of one owner. */
  of(owner: string): number {
    return [...this.#lines.values()].reduce((sum, { owners }) => sum + (owners.get(owner)?.size ?? 0), 0);
  }

  /** Items that wait in one priority. */
  in(priority: Priority): number {
    return [...this.#line(priority).owners.values()].reduce((sum, items) => sum + items.size, 0);
  }

  /**
   * An item that waits already keeps its place.
   * @param priority default: the upper one
   */
  add(item: Item, owner: string, priority: Priority = this.#firstPriority): void {
    if (this.#waiting.has(item)) return;
    this.#waiting.set(item, { priority, owner });
    const line = this.#line(priority);
    if (line.owners.size === 0) line.way = Math.max(line.way, this.#way);
    const items = line.owners.get(owner);
    if (items) {
      items.add(item);
      return;
    }
    line.owners.set(owner, new PassingSet<Item>().add(item));
    if (this.use !== 'of late' && this.#usedBy(owner) < this.#usedByLast) this.#used.set(owner, this.#usedByLast);
  }

  /** It does not want its place any more. */
  remove(item: Item): void {
    const place = this.#waiting.get(item);
    if (!place) return;
    this.#waiting.delete(item);
    const { owners } = this.#line(place.priority);
    const items = owners.get(place.owner);
    items?.delete(item);
    if (items?.size === 0) owners.delete(place.owner);
    if (this.#waiting.size === 0 && this.use !== 'of late') this.#forgetUse();
  }

  /** Begins the next turn: the item counts as under way until `ended`. Undefined = nothing may begin now. */
  next(limits: Limits<Priority> = {}): Turn<Item, Priority> | undefined {
    if (this.#waiting.size === 0 || this.#underWay.size >= (limits.places ?? Infinity)) return undefined;
    for (const line of this.#linesInTurn(limits)) {
      const turn = this.#nextIn(line, limits);
      if (!turn) continue;
      this.#begin(line, turn);
      return turn;
    }
    return undefined;
  }

  /** @param used what the turn took, in any unit. Default: nothing, so that each turn is as good as another */
  ended(item: Item, used = 0): void {
    const owner = this.#underWay.get(item);
    this.#underWay.delete(item);
    if (owner !== undefined) this.charge(owner, used);
  }

  /** The owner used the gate, in its turn or beside it. */
  charge(owner: string, used: number): void {
    if (used > 0 && (this.use === 'of late' || this.#waiting.size > 0))
      this.#used.set(owner, this.#usedBy(owner) + used);
  }

  /** Whether another owner, or any, used more than this one. */
  hasUsedLess(owner: string, other?: string): boolean {
    const used = this.#usedBy(owner);
    return other === undefined ? [...this.#used.values()].some((more) => more > used) : this.#usedBy(other) > used;
  }

  /** What was used so far counts this much of what it did; what is next to nothing is forgotten. */
  fade(share: number): void {
    for (const [owner, used] of this.#used)
      if (used * share < NEXT_TO_NOTHING) this.#used.delete(owner);
      else this.#used.set(owner, used * share);
  }

  #linesInTurn({ priorities }: Limits<Priority>): Iterable<Line<Item, Priority>> {
    // A gate of one priority is asked for each delivery.
    if (this.#lines.size === 1 && !priorities) return this.#lines.values();
    const mayBegin = ({ priority, owners }: Line<Item, Priority>): boolean =>
      owners.size > 0 && (priorities?.includes(priority) ?? true);
    return [...this.#lines.values()].filter(mayBegin).sort((a, b) => a.way - b.way);
  }

  #nextIn(
    { priority, owners }: Line<Item, Priority>,
    { placesOfOne = Infinity, mayBegin }: Limits<Priority>,
  ): Turn<Item, Priority> | undefined {
    let next: Turn<Item, Priority> | undefined;
    for (const [owner, items] of owners) {
      if (next && this.#usedBy(owner) >= this.#usedBy(next.owner)) continue;
      if (mayBegin && !mayBegin(owner)) continue;
      if (placesOfOne !== Infinity && this.#underWayOf(owner) >= placesOfOne) continue;
      for (const item of items) {
        if (this.#underWay.has(item)) continue;
        next = { owner, item, priority };
        break;
      }
    }
    return next;
  }

  #begin(line: Line<Item, Priority>, { item, owner }: Turn<Item, Priority>): void {
    const level = this.#usedBy(owner);
    this.#way = Math.max(this.#way, line.way);
    line.way += 1 / line.share;
    const items = line.owners.get(owner);
    this.#usedByLast = Math.max(this.#usedByLast, level);
    this.remove(item);
    // Among owners who used the same, another one is next.
    if (items && line.owners.delete(owner)) line.owners.set(owner, items);
    this.#underWay.set(item, owner);
  }

  #underWayOf(owner: string): number {
    let count = 0;
    for (const one of this.#underWay.values()) if (one === owner) count += 1;
    return count;
  }

  #usedBy(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  /** Forgets owners without items; otherwise the map would grow for ever. */
  #forgetUse(): void {
    this.#used.clear();
    this.#usedByLast = 0;
  }

  #line(priority: Priority): Line<Item, Priority> {
    const line = this.#lines.get(priority);
    if (!line) throw new Error(`there is no priority ${priority}`);
    return line;
  }
}
