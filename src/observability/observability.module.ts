import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ALERTS, type Alerts } from '../core/alerts.js';
import { SECURITY_LOG, type SecurityLog } from '../core/security-log.js';
import { Metrics } from './metrics.js';

export interface Observers {
  readonly metrics: Metrics;
  readonly alerts: Alerts;
  readonly security: SecurityLog;
}

/** Metrics, alerts and the security log. They are made before the application, which reports to them while it starts. */
@Global()
@Module({})
export class ObservabilityModule {
  static of({ metrics, alerts, security }: Observers): DynamicModule {
    return {
      module: ObservabilityModule,
      providers: [
        { provide: Metrics, useValue: metrics },
        { provide: ALERTS, useValue: alerts },
        { provide: SECURITY_LOG, useValue: security },
      ],
      exports: [Metrics, ALERTS, SECURITY_LOG],
    };
  }
}
