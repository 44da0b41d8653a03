import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PollLoop } from './poll-loop.js';

const EVERY_MS = 250;

/** The framework's timer only calls the loop, which decides which sources are due. */
@Injectable()
export class PollTimer {
  constructor(private readonly loop: PollLoop) {}

  @Interval('forgehand.polls', EVERY_MS)
  wake(): void {
    this.loop.wake();
  }
}
