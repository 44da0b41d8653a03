import { Controller, Get, HttpCode, ServiceUnavailableException } from '@nestjs/common';
import { Readiness } from './readiness.js';

/** Liveness and readiness, for supervisors; they tell nothing else, since they stand on the webhook port. */
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('healthz')
  @HttpCode(200)
  health(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: 'ready' }> {
    const missing = await this.readiness.missing();
    if (missing.length > 0) throw new ServiceUnavailableException({ status: 'not ready', missing });
    return { status: 'ready' };
  }
}
