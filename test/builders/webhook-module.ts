import type { DynamicModule } from '@nestjs/common';
import { APP_CONFIG, THIS_PROCESS, ThisProcess } from '../../src/config/config.module.js';
import type { WebhookDeps } from '../../src/webhooks/webhook-route.js';
import { WEBHOOK_DEPS, WebhookRegistrar } from '../../src/webhooks/webhooks.module.js';

/** The webhook endpoint alone. It listens on 127.0.0.1 when the application is initialized. @param port 0 = any */
export function webhookModule(deps: WebhookDeps, port: number): DynamicModule {
  return {
    module: class {},
    providers: [
      WebhookRegistrar,
      { provide: APP_CONFIG, useValue: { server: { host: '127.0.0.1', port } } },
      { provide: THIS_PROCESS, useValue: new ThisProcess('web', 'bot') },
      { provide: WEBHOOK_DEPS, useValue: deps },
    ],
  };
}
