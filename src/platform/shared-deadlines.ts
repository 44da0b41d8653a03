import { PassingMap, PassingSet } from './passing.js';

/** Those that begin within a fortieth of the time share a deadline, which comes so much early for the last of them. */
const SHARES = 40;

interface Group<Item> {
  readonly items: PassingSet<Item>;
  readonly timer: NodeJS.Timeout;
}

/** Deadlines of many that wait equally long, without a timer for each. */
export class SharedDeadlines<Item> {
  private readonly groups = new PassingMap<Item, Group<Item>>();
  /** The group that still takes items. */
  private open: Group<Item> | null = null;

  /** @param late called for each that is not done in time */
  constructor(
    private readonly afterMs: number,
    private readonly late: (item: Item) => void,
  ) {}

  begin(item: Item): void {
    const group = this.open ?? this.begun();
    group.items.add(item);
    this.groups.set(item, group);
  }

  /** Safe to call twice. */
  done(item: Item): void {
    const group = this.groups.get(item);
    if (!group) return;
    this.groups.delete(item);
    group.items.delete(item);
    if (group.items.size > 0) return;
    clearTimeout(group.timer);
    if (this.open === group) this.open = null;
  }

  private begun(): Group<Item> {
    const group: Group<Item> = { items: new PassingSet(), timer: setTimeout(() => this.pass(group), this.afterMs) };
    this.open = group;
    setTimeout(() => {
      if (this.open === group) this.open = null;
    }, this.afterMs / SHARES).unref();
    return group;
  }

  private pass({ items }: Group<Item>): void {
    // A copy: nothing may leave a passing set while somebody goes through it.
    for (const item of [...items]) {
      this.done(item);
      this.late(item);
    }
  }
}
