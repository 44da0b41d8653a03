import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from '../core/logger.js';
import { LOGGER } from '../core/logger.js';
import { ArchiveInbox } from './archive-inbox.js';

const EVERY_MS = 10 * 60_000;

/** Often and little rather than all at once at night. */
@Injectable()
export class ArchiveWake {
  constructor(
    private readonly archive: ArchiveInbox,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval('forgehand.archive', EVERY_MS)
  async wake(): Promise<void> {
    await this.archive.run().catch((error: unknown) => this.logger.warn({ error }, 'old arrivals could not be archived'));
  }
}
