import { alert, type AlertKey, type Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import type { Logger } from '../core/logger.js';
import { SECURITY_CLASSES, type SecurityClass, type SecurityEvent, type SecurityLog } from '../core/security-log.js';
import { emptyTable } from '../core/table.js';
import { visible } from '../core/visible.js';
import type { Metrics } from './metrics.js';

/** Lines of one class in one window; the events beyond them are counted. */
const LINES_PER_WINDOW = 10;
const WINDOW_MS = 60_000;
/** An alert ends when its class and organization were quiet for this time. */
const QUIET_MS = 3_600_000;
const MAX_FACTS = 16;
const MAX_VALUE_LENGTH = 200;
/** More than a bot has organizations. Beyond it, events share the alert of their class. */
const MAX_ALERTS = 2_000;

/** Fields that every log line has. A fact of the same name would be a second field. */
const OF_THE_LINE = new Set(['level', 'time', 'msg', 'app', 'alert']);

interface Window {
  /** On the clock that only grows. */
  readonly openedAt: number;
  lines: number;
  counted: number;
}

/**
 * The first events of a class in each minute are one log line each; the others are counted, and the count is one line when the minute is over.
 * Every event counts in the metric. Each class raises one alert for each organization until it was quiet for an hour.
 */
export class CountedSecurityLog implements SecurityLog {
  private readonly windows = new Map<SecurityClass, Window>();
  private readonly alerted = new Map<string, { key: SecurityKey; lastAt: number }>();
  private readonly timers = new Map<SecurityClass, NodeJS.Timeout>();

  constructor(
    private readonly logger: Logger,
    private readonly metrics: Pick<Metrics, 'securityEvents'>,
    private readonly alerts: Alerts,
    private readonly clock: Clock,
  ) {}

  record(event: SecurityEvent): void {
    const facts = plainFacts(event);
    this.metrics.securityEvents.inc({ class: event.class, org: event.org ?? '' });
    this.write(event.class, facts);
    this.alert(event, facts);
  }

  /** Write the counts of open windows now. Called at a stop. */
  close(): void {
    for (const name of SECURITY_CLASSES) this.endWindow(name);
  }

  private write(name: SecurityClass, facts: Facts): void {
    const now = this.clock.monotonicMs();
    let window = this.windows.get(name);
    if (window && now - window.openedAt >= WINDOW_MS) {
      this.endWindow(name);
      window = undefined;
    }
    if (!window) {
      window = { openedAt: now, lines: 0, counted: 0 };
      this.windows.set(name, window);
    }
    if (window.lines < LINES_PER_WINDOW) {
      window.lines += 1;
      this.logger.warn(facts, `security.${name}`);
      return;
    }
    window.counted += 1;
    // A window that counts ends by itself: otherwise an attack that stops would leave its count unwritten.
    if (window.counted === 1)
      this.timers.set(
        name,
        setTimeout(() => this.endWindow(name), Math.max(0, window.openedAt + WINDOW_MS - now)).unref(),
      );
  }

  private endWindow(name: SecurityClass): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
    const counted = this.windows.get(name)?.counted ?? 0;
    this.windows.delete(name);
    if (counted > 0) this.logger.warn({ class: name, counted, windowS: WINDOW_MS / 1000 }, 'security.more');
  }

  private alert({ class: name, org }: SecurityEvent, facts: Facts): void {
    const now = this.clock.monotonicMs();
    const first = this.alerted.values().next().value;
    // Kept in the order of their last events: the quiet ones stand first.
    if (first && now - first.lastAt >= QUIET_MS) this.endQuiet(now);
    const code = `security.${name}` as const;
    const wanted: SecurityKey = org === undefined ? code : `${code}/${org}`;
    const key = this.alerted.has(wanted) || this.alerted.size < MAX_ALERTS ? wanted : code;
    this.alerted.delete(key);
    this.alerted.set(key, { key, lastAt: now });
    this.alerts.raise(key, alert(code), facts);
  }

  private endQuiet(now: number): void {
    for (const { key, lastAt } of this.alerted.values()) {
      if (now - lastAt < QUIET_MS) return;
      this.alerted.delete(key);
      this.alerts.resolve(key);
    }
  }
}

type SecurityKey = AlertKey<`security.${SecurityClass}`>;
type Facts = Readonly<Record<string, string | number>>;

function plainFacts(event: SecurityEvent): Facts {
  const facts: Record<string, string | number> = emptyTable();
  let count = 0;
  for (const [key, value] of Object.entries(event)) {
    if (count >= MAX_FACTS) break;
    if (!/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(key) || OF_THE_LINE.has(key)) continue;
    if (typeof value === 'number') facts[key] = value;
    else if (typeof value === 'string') facts[key] = bounded(value);
    else continue;
    count += 1;
  }
  return { ...facts };
}

/** A value cannot break a line, move a cursor or turn the reading direction, in the log and in an alert. */
function bounded(text: string): string {
  const start = visible(text.slice(0, MAX_VALUE_LENGTH));
  return text.length > MAX_VALUE_LENGTH ? `${start}…` : start;
}
