import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PollLoop } from './poll-loop.js';

const EVERY_MS = 250;

/** The framework's timer only wakes; which sources are due is decided by the loop. */
@Injectable()
export class PollTimer {
  constructor(private readonly loop: PollLoop) {}

  @Interval('forgehand.polls', EVERY_MS)
  wake(): void {
    this.loop.wake();
  }
}
