import { seededRandom, type SeededRandom } from '../seeded-random.js';
import type { HookEventType } from './hook-events.js';

/** Narrows a fault to some deliveries; nothing given = all. */
export interface FaultScope {
  readonly hook?: string | undefined;
  readonly eventType?: HookEventType | undefined;
}

interface Subject {
  readonly hook: string;
  readonly eventType: HookEventType;
}

export type CopyId = 'same' | 'new';

interface Counted extends FaultScope {
  left: number;
}

/** What a delivery suffers when its turn comes. */
export interface Fate {
  readonly isDropped: boolean;
  /** A second copy goes out right after the first. */
  readonly copy: CopyId | null;
}

/** Faults asked for ahead of time; each counted one is used up by the deliveries it meets, in their order. */
export class DeliveryFaults {
  #drops: Counted[] = [];
  #copies: (Counted & { id: CopyId })[] = [];
  #percent: (FaultScope & { percent: number; random: SeededRandom }) | null = null;

  dropNext(count: number, scope: FaultScope = {}): void {
    this.#drops.push({ ...scope, left: count });
  }

  /** Drop about so many of a hundred from now on; the same seed drops the same ones of the same sequence. 0 ends it. */
  dropPercent(percent: number, seed: number, scope: FaultScope = {}): void {
    this.#percent = percent <= 0 ? null : { ...scope, percent, random: seededRandom(seed) };
  }

  duplicateNext(count: number, id: CopyId, scope: FaultScope = {}): void {
    this.#copies.push({ ...scope, left: count, id });
  }

  clear(): void {
    this.#drops = [];
    this.#copies = [];
    this.#percent = null;
  }

  /** Decide the fate of the next delivery. */
  meet(subject: Subject): Fate {
    if (takeOne(this.#drops, subject) !== null || this.#meetsPercent(subject)) return { isDropped: true, copy: null };
    return { isDropped: false, copy: takeOne(this.#copies, subject)?.id ?? null };
  }

  #meetsPercent(subject: Subject): boolean {
    const percent = this.#percent;
    return percent !== null && isInScope(percent, subject) && percent.random.next() * 100 < percent.percent;
  }
}

function takeOne<T extends Counted>(list: T[], subject: Subject): T | null {
  const found = list.find((fault) => fault.left > 0 && isInScope(fault, subject));
  if (found === undefined) return null;
  found.left -= 1;
  return found;
}

function isInScope(scope: FaultScope, subject: Subject): boolean {
  return (scope.hook === undefined || scope.hook === subject.hook) && (scope.eventType === undefined || scope.eventType === subject.eventType);
}
