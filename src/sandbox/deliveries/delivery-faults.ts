import { seededRandom, type SeededRandom } from '../../core/seeded-random.js';
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
  remaining: number;
}

interface Percent extends FaultScope {
  readonly percent: number;
  readonly random: SeededRandom;
}

/** Faults injected into a delivery when its turn comes. */
interface Fate {
  readonly isDropped: boolean;
  /** A second copy goes out right after the first. */
  readonly copy: CopyId | null;
  /** It goes out so much later, others pass it. */
  readonly delayMs: number;
}

/** So many go out in another order. */
interface Reordering {
  readonly window: number;
  readonly random: SeededRandom;
}

/** Faults asked for ahead of time; each counted one is used up by the deliveries it meets, in their order. */
export class DeliveryFaults {
  #drops: Counted[] = [];
  #copies: (Counted & { id: CopyId })[] = [];
  #percent: Percent | null = null;
  #copyPercent: (Percent & { readonly id: CopyId }) | null = null;
  #delay: (Percent & { readonly ms: readonly [number, number] }) | null = null;
  #reordering: Reordering | null = null;
  #hits = { dropped: 0, duplicated: 0, delayed: 0, reordered: 0 };

  /** How many met which fault since the last `clear`. */
  get hits(): Readonly<Record<'dropped' | 'duplicated' | 'delayed' | 'reordered', number>> {
    return { ...this.#hits };
  }

  get reordering(): Reordering | null {
    return this.#reordering;
  }

  dropNext(count: number, scope: FaultScope = {}): void {
    this.#drops.push({ ...scope, remaining: count });
  }

  /** Drop about so many of a hundred from now on; the same seed drops the same ones of the same sequence. 0 ends it. */
  dropPercent(percent: number, seed: number, scope: FaultScope = {}): void {
    this.#percent = percent <= 0 ? null : { ...scope, percent, random: seededRandom(seed) };
  }

  duplicateNext(count: number, id: CopyId, scope: FaultScope = {}): void {
    this.#copies.push({ ...scope, remaining: count, id });
  }

  duplicatePercent(percent: number, id: CopyId, seed: number, scope: FaultScope = {}): void {
    this.#copyPercent = percent <= 0 ? null : { ...scope, percent, id, random: seededRandom(seed) };
  }

  /** Hold about so many of a hundred back for a time out of this range. */
  delayPercent(percent: number, ms: readonly [number, number], seed: number, scope: FaultScope = {}): void {
    this.#delay = percent <= 0 ? null : { ...scope, percent, ms, random: seededRandom(seed) };
  }

  /** Send so many at a time in another order; below two ends it. */
  reorder(window: number, seed: number): void {
    this.#reordering = window < 2 ? null : { window, random: seededRandom(seed) };
  }

  /** Told by the queue, which does it. */
  reordered(count: number): void {
    this.#hits.reordered += count;
  }

  clear(): void {
    this.#drops = [];
    this.#copies = [];
    this.#percent = this.#copyPercent = this.#delay = this.#reordering = null;
    this.#hits = { dropped: 0, duplicated: 0, delayed: 0, reordered: 0 };
  }

  /** Decide the fate of the next delivery. */
  meet(subject: Subject): Fate {
    if (takeOne(this.#drops, subject) !== null || isMet(this.#percent, subject)) {
      this.#hits.dropped += 1;
      return { isDropped: true, copy: null, delayMs: 0 };
    }
    const copy =
      takeOne(this.#copies, subject)?.id ??
      (isMet(this.#copyPercent, subject) ? (this.#copyPercent?.id ?? null) : null);
    if (copy !== null) this.#hits.duplicated += 1;
    const delayMs = this.#delay && isMet(this.#delay, subject) ? between(this.#delay.ms, this.#delay.random) : 0;
    if (delayMs > 0) this.#hits.delayed += 1;
    return { isDropped: false, copy, delayMs };
  }
}

function isMet(fault: Percent | null, subject: Subject): boolean {
  return fault !== null && isInScope(fault, subject) && fault.random.next() * 100 < fault.percent;
}

function between([from, to]: readonly [number, number], random: SeededRandom): number {
  return Math.round(from + (to - from) * random.next());
}

function takeOne<T extends Counted>(list: T[], subject: Subject): T | null {
  const fault = list.find((fault) => fault.remaining > 0 && isInScope(fault, subject));
  if (fault === undefined) return null;
  fault.remaining -= 1;
  return fault;
}

function isInScope(scope: FaultScope, subject: Subject): boolean {
  return (
    (scope.hook === undefined || scope.hook === subject.hook) &&
    (scope.eventType === undefined || scope.eventType === subject.eventType)
  );
}
