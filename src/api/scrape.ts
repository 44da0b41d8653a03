import { StoreForbidden } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Control } from './operations/index.js';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * All metrics as text, the gauges read anew. When the store does not answer people look at figures most: those that need no store are told
 * all the same.
 */
export async function scrape(
  control: Pick<Control, 'readGauges'> | null,
  metrics: Metrics,
  logger: Logger,
): Promise<string> {
  await control?.readGauges().catch((error: unknown) => {
    // Known since the start, and the same every time: these gauges are told by processes that may read them.
    if (error instanceof StoreForbidden) logger.debug({ error }, 'gauges.left-to-others');
    else logger.warn({ error }, 'gauges.not-refreshed');
  });
  return metrics.text();
}
