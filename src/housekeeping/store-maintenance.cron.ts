import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { messageOf } from '../core/errors.js';
import { Logger } from '../core/logger.js';
import { StoreMaintenance } from './store-maintenance.port.js';

const ANALYZE_MS = 60_000;
const CHECKPOINT_MS = 5 * 60_000;
const VACUUM_MS = 60 * 60_000;

@Injectable()
export class StoreMaintenanceTimer {
  constructor(
    private readonly store: StoreMaintenance,
    private readonly logger: Logger,
  ) {}

  @Interval('forgehand.analyze', ANALYZE_MS)
  async analyze(): Promise<void> {
    await this.run('analyze');
  }

  @Interval('forgehand.checkpoint', CHECKPOINT_MS)
  async checkpoint(): Promise<void> {
    await this.run('checkpoint');
  }

  @Interval('forgehand.vacuum', VACUUM_MS)
  async vacuum(): Promise<void> {
    await this.run('vacuum');
  }

  private async run(what: Parameters<StoreMaintenance['maintenance']>[0]): Promise<void> {
    await this.store
      .maintenance(what)
      .catch((error: unknown) => this.logger.warn({ what, error: messageOf(error) }, 'store.maintenance-failed'));
  }
}
