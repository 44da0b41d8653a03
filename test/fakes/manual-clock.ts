import type { Clock } from '../../src/core/clock.js';

/** A clock that stands until it is moved; both hands move together unless a test moves one alone. */
export class ManualClock implements Clock {
  private wallMs: number;
  private growingMs = 0;

  constructor(start = '2026-11-20T12:00:00Z') {
    this.wallMs = Date.parse(start);
  }

  now(): Date {
    return new Date(this.wallMs);
  }

  monotonicMs(): number {
    return this.growingMs;
  }

  advance(ms: number): void {
    this.wallMs += ms;
    this.growingMs += ms;
  }

  /** The process stood still or the machine's clock was set: only one hand moves. */
  advanceMonotonic(ms: number): void {
    this.growingMs += ms;
  }

  setWall(at: string): void {
    this.wallMs = Date.parse(at);
  }
}
