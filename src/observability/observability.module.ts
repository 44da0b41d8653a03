import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ofOrgs, orgLabels } from '../config/live-config.js';
import { Alerts, RaisedAlerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { ServiceMessenger } from '../notify/service-messenger.js';
import { Opened } from '../platform/opened.js';
import { SecurityLog } from '../core/security-log.js';
import { AlertSender } from './alert-sender.js';
import { CountedSecurityLog } from './counted-security-log.js';
import { Metrics } from './metrics.js';
import type { NamedOrgs } from './org-series.js';

/** Where the config does not say. */
const MAX_ORGS = 100;

/** The first organizations of the config: the same in every process and after every start. */
function namedOrgs(config: AppConfig): NamedOrgs {
  const maxOrgs = config.metrics?.maxOrgs ?? MAX_ORGS;
  return ofOrgs(config, (orgs) => new Set(orgs.slice(0, maxOrgs).map(({ label }) => label)));
}

/** Metrics, alerts and the security log: made first and closed last, for whatever starts and stops reports to them. */
@Global()
@Module({
  providers: [
    {
      provide: Metrics,
      inject: [AppConfig],
      useFactory: (config: AppConfig) => new Metrics(true, namedOrgs(config), orgLabels(config)),
    },
    {
      provide: AlertSender,
      inject: [AppConfig, Metrics, Clock, Logger, Opened],
      useFactory: (config: AppConfig, metrics: Metrics, clock: Clock, logger: Logger, opened: Opened) =>
        opened.keep(
          () => new AlertSender(logger, metrics, clock, config.alerts, new ServiceMessenger(clock), orgLabels(config)),
          (alerts) => alerts.close(),
        ),
    },
    { provide: Alerts, useExisting: AlertSender },
    { provide: RaisedAlerts, useExisting: AlertSender },
    {
      provide: SecurityLog,
      inject: [Metrics, Alerts, Clock, Logger, Opened],
      useFactory: (metrics: Metrics, alerts: Alerts, clock: Clock, logger: Logger, opened: Opened) =>
        opened.keep(
          () => new CountedSecurityLog(logger, metrics, alerts, clock),
          (security) => security.close(),
        ),
    },
  ],
  exports: [Metrics, Alerts, RaisedAlerts, SecurityLog],
})
export class ObservabilityModule {}
