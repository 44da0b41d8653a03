import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from '../../core/logger.js';
import { LOGGER } from '../../core/logger.js';
import { GapKeeper } from './gap-keeper.js';

const EVERY_MS = 5_000;

/** In processes that schedule: entries are matched to deliveries. */
@Injectable()
export class GapWake {
  constructor(
    private readonly keeper: GapKeeper,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval('forgehand.gaps', EVERY_MS)
  async wake(): Promise<void> {
    await this.keeper.pass().catch((error: unknown) => this.logger.warn({ error }, 'entries could not be matched; it is tried again'));
  }
}

/** In processes that receive: says that deliveries can come. */
@Injectable()
export class BeatWake {
  constructor(
    private readonly keeper: GapKeeper,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval('forgehand.beat', EVERY_MS)
  async wake(): Promise<void> {
    await this.keeper.beat().catch((error: unknown) => this.logger.debug({ error }, 'the beat could not be kept'));
  }
}
