import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { StoreHealth } from './open-store.port.js';

export abstract class Readiness {
  /** What is not ready, in words; empty = ready. */
  abstract missing(): Promise<string[]>;
}

const ROOM_ASKED_EVERY_MS = 5_000;

/** Of a running bot: whether it is up, and whether its store can take what comes. */
@Injectable()
export class BotReadiness implements Readiness {
  /** From the end of the start to the beginning of the stop. */
  isUp = false;
  private room: { askAtMs: number; answer: Promise<boolean> } = { askAtMs: 0, answer: Promise.resolve(true) };

  constructor(
    private readonly store: StoreHealth,
    private readonly clock: Clock,
  ) {}

  async missing(): Promise<string[]> {
    const starting = this.isUp ? [] : ['start or stop under way'];
    if (!(await this.store.ping())) return [...starting, 'the store does not answer'];
    return (await this.hasRoom()) ? starting : [...starting, 'the disk of the store is full'];
  }

  /** Anybody may ask whether the bot is ready: the store is asked for room now and then. */
  private async hasRoom(): Promise<boolean> {
    const now = this.clock.monotonicMs();
    if (now >= this.room.askAtMs) this.room = { askAtMs: now + ROOM_ASKED_EVERY_MS, answer: this.store.hasRoom() };
    return this.room.answer;
  }
}
