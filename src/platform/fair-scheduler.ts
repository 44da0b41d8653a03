import { PassingMap, PassingSet } from './passing.js';

/** Whose turn it is. */
export interface Turn<Item, Lane extends string = string> {
  readonly item: Item;
  readonly owner: string;
  readonly lane: Lane;
}

/** What may begin at this moment; without limits everything may. */
export interface Limits<Lane> {
  /** Turns under way at once, and of one owner. */
  readonly places?: number;
  readonly placesOfOne?: number;
  /** Lanes that may begin now. Default: all. */
  readonly lanes?: readonly Lane[];
  /** Whose turns may begin now. Default: everybody's. */
  readonly mayBegin?: (owner: string) => boolean;
}

/** Of what was used of late. */
const NEXT_TO_NOTHING = 0.01;

/** Items that wait in one lane. */
interface Line<Item, Lane> {
  readonly lane: Lane;
  /** The items of an owner in the order they came; among owners who used as much, whose turn it is first. */
  readonly owners: PassingMap<string, PassingSet<Item>>;
  readonly share: number;
  /** Grows with each turn by the inverse of the share; the lane that is least far goes next. */
  way: number;
}

/**
 * Decides who is next at a gate: among lanes by their shares, within a lane the owner who used the gate least, of one owner what came first. So an
 * owner with many items, or with long turns, delays nobody else. Whoever was quiet for long saves nothing up.
 *
 * A gate adds what waits, begins what `next` returns, and tells when its turn has ended. An item waits once and has one turn at a time: one that is
 * added during its turn waits for the end of it. The scheduler knows no clock; how fast a gate may go is the gate's own matter.
 */
export class FairScheduler<Item, Lane extends string = string> {
  /** In order of precedence among lanes that are equally far. */
  readonly #lines: ReadonlyMap<Lane, Line<Item, Lane>>;
  readonly #firstLane: Lane;
  readonly #waiting = new PassingMap<Item, { readonly lane: Lane; readonly owner: string }>();
  /** Each item under way with its owner. */
  readonly #underWay = new PassingMap<Item, string>();
  /** What the turns of each owner took, and the level of the last turn, at which a new owner starts. */
  readonly #used = new Map<string, number>();
  #usedByLast = 0;
  /** How far the lane of the last turn was. */
  #way = 0;

  /**
   * @param shares turns that a lane gets while all lanes wait, the upper lane first; `Infinity` goes before all others. Default: one lane
   * @param use what counts: `since all were equal`, at which a new owner stands beside the others, and all are equal when nothing waits; or `of late`, until
   * the gate lets it fade, so that an owner who needs little goes before all who need much. Default: the former
   */
  constructor(
    shares: Readonly<Record<Lane, number>> = { all: 1 } as Readonly<Record<Lane, number>>,
    private readonly use: 'since all were equal' | 'of late' = 'since all were equal',
  ) {
    const lanes = Object.entries(shares) as Array<[Lane, number]>;
    this.#lines = new Map(lanes.map(([lane, share]) => [lane, { lane, owners: new PassingMap(), share, way: 0 }]));
    const [first] = this.#lines.keys();
    if (first === undefined) throw new Error('a scheduler needs a lane');
    this.#firstLane = first;
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

  /** Items that wait in one lane. */
  in(lane: Lane): number {
    return [...this.#line(lane).owners.values()].reduce((sum, items) => sum + items.size, 0);
  }

  /**
   * An item that waits already keeps its place.
   * @param lane default: the upper one
   */
  add(item: Item, owner: string, lane: Lane = this.#firstLane): void {
    if (this.#waiting.has(item)) return;
    this.#waiting.set(item, { lane, owner });
    const line = this.#line(lane);
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
    const { owners } = this.#line(place.lane);
    const items = owners.get(place.owner);
    items?.delete(item);
    if (items?.size === 0) owners.delete(place.owner);
    if (this.#waiting.size === 0 && this.use !== 'of late') this.#forgetUse();
  }

  /** Begins the next turn: the item counts as under way until `ended`. Undefined = nothing may begin now. */
  next(limits: Limits<Lane> = {}): Turn<Item, Lane> | undefined {
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

  #linesInTurn({ lanes }: Limits<Lane>): Iterable<Line<Item, Lane>> {
    // A gate of one lane is asked for each delivery.
    if (this.#lines.size === 1 && !lanes) return this.#lines.values();
    const mayBegin = ({ lane, owners }: Line<Item, Lane>): boolean =>
      owners.size > 0 && (lanes?.includes(lane) ?? true);
    return [...this.#lines.values()].filter(mayBegin).sort((a, b) => a.way - b.way);
  }

  #nextIn(
    { lane, owners }: Line<Item, Lane>,
    { placesOfOne = Infinity, mayBegin }: Limits<Lane>,
  ): Turn<Item, Lane> | undefined {
    let next: Turn<Item, Lane> | undefined;
    for (const [owner, items] of owners) {
      if (next && this.#usedBy(owner) >= this.#usedBy(next.owner)) continue;
      if (mayBegin && !mayBegin(owner)) continue;
      if (placesOfOne !== Infinity && this.#underWayOf(owner) >= placesOfOne) continue;
      for (const item of items) {
        if (this.#underWay.has(item)) continue;
        next = { owner, item, lane };
        break;
      }
    }
    return next;
  }

  #begin(line: Line<Item, Lane>, { item, owner }: Turn<Item, Lane>): void {
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

  #line(lane: Lane): Line<Item, Lane> {
    const line = this.#lines.get(lane);
    if (!line) throw new Error(`there is no lane ${lane}`);
    return line;
  }
}
