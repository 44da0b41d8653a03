import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Scheduler } from './scheduler.js';

const EVERY_MS = 1_000;

/** The framework's timer only wakes; which occurrences are due, and who fires them, is decided by the scheduler and the store. */
@Injectable()
export class ScheduleTimer {
  constructor(private readonly scheduler: Scheduler) {}

  @Interval('forgehand.schedules', EVERY_MS)
  async wake(): Promise<void> {
    await this.scheduler.wake();
  }
}
