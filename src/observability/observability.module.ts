import { Global, Module } from '@nestjs/common';
import { APP_CONFIG } from '../config/config.module.js';
import { ALERTS, RAISED_ALERTS } from '../core/alerts.js';
import { CLOCK } from '../core/clock.js';
import { LOGGER } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { part } from '../core/part.js';
import { SECURITY_LOG } from '../core/security-log.js';
import { AlertSender } from './alert-sender.js';
import { CountedSecurityLog } from './counted-security-log.js';
import { Metrics } from './metrics.js';

const PARTS = [
  part(Metrics, {}, () => new Metrics(true)),
  part(
    AlertSender,
    { config: APP_CONFIG, metrics: Metrics, clock: CLOCK, logger: LOGGER, opened: Opened },
    ({ config, metrics, clock, logger, opened }) =>
      opened.keep(
        () => new AlertSender(logger, metrics, clock, config.alerts),
        (alerts) => alerts.close(),
      ),
  ),
  part(ALERTS, { alerts: AlertSender }, ({ alerts }) => alerts),
  part(RAISED_ALERTS, { alerts: AlertSender }, ({ alerts }) => alerts),
  part(
    SECURITY_LOG,
    { metrics: Metrics, alerts: ALERTS, clock: CLOCK, logger: LOGGER, opened: Opened },
    ({ opened, ...deps }) =>
      opened.keep(
        () => new CountedSecurityLog(deps),
        (security) => security.close(),
      ),
  ),
];

/** Metrics, alerts and the security log: made first and closed last, for whatever starts and stops reports to them. */
@Global()
@Module({ providers: PARTS, exports: [Metrics, ALERTS, RAISED_ALERTS, SECURITY_LOG] })
export class ObservabilityModule {}
