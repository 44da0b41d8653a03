import type { FreezeConfig } from '../config/app-config.js';
import { occurrences } from '../core/occurrences.js';
import type { Freeze } from '../core/run-reasons.js';
import { instantOf } from '../core/zone-time.js';

/** Why schedules and plans stand still at a time, with the end of it; null = they do not. Of windows that overlap the one that ends last. Pure. */
export function frozenAt(windows: readonly FreezeConfig[], at: Date): Freeze | null {
  let longest: { until: number; reason: string } | null = null;
  for (const window of windows) {
    const until = endOf(window, at);
    if (until !== null && (longest === null || until > longest.until)) longest = { until, reason: window.reason };
  }
  return longest && { until: `${new Date(longest.until).toISOString().slice(0, 16)}Z`, reason: longest.reason };
}

/** When the window ends that holds this time; null when none does. Its last instant is outside. */
function endOf(window: FreezeConfig, at: Date): number | null {
  const now = at.getTime();
  if (window.kind === 'once') {
    const [from, to] = [instantOf(window.fromWallMs, window.tz), instantOf(window.toWallMs, window.tz)];
    return now >= from && now < to ? to : null;
  }
  const lengthMs = window.forS * 1_000;
  const [opening] = occurrences({ cron: window.cron, tz: window.tz, jitterS: 0 }, '', {
    from: new Date(now - lengthMs),
    to: at,
    limit: 1,
  });
  return opening ? opening.at.getTime() + lengthMs : null;
}
