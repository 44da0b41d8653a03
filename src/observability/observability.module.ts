import { Global, Module } from '@nestjs/common';
import { APP_CONFIG } from '../config/config.module.js';
import { Alerts, RaisedAlerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { part } from '../core/part.js';
import { SecurityLog } from '../core/security-log.js';
import { AlertSender } from './alert-sender.js';
import { CountedSecurityLog } from './counted-security-log.js';
import { Metrics } from './metrics.js';

const PARTS = [
  part(Metrics, {}, () => new Metrics(true)),
  part(
    AlertSender,
    { config: APP_CONFIG, metrics: Metrics, clock: Clock, logger: Logger, opened: Opened },
    ({ config, metrics, clock, logger, opened }) =>
      opened.keep(
        () => new AlertSender(logger, metrics, clock, config.alerts),
        (alerts) => alerts.close(),
      ),
  ),
  part(Alerts, { alerts: AlertSender }, ({ alerts }) => alerts),
  part(RaisedAlerts, { alerts: AlertSender }, ({ alerts }) => alerts),
  part(
    SecurityLog,
    { metrics: Metrics, alerts: Alerts, clock: Clock, logger: Logger, opened: Opened },
    ({ opened, ...deps }) =>
      opened.keep(
        () => new CountedSecurityLog(deps),
        (security) => security.close(),
      ),
  ),
];

/** Metrics, alerts and the security log: made first and closed last, for whatever starts and stops reports to them. */
@Global()
@Module({ providers: PARTS, exports: [Metrics, Alerts, RaisedAlerts, SecurityLog] })
export class ObservabilityModule {}
