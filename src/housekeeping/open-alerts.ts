import type { RaisedAlerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { textOf } from '../core/reason.js';
import type { OpenAlert, OpenAlertStore } from './open-alert-store.port.js';

/** A process that still has alerts says so this often. */
const REPEAT_MS = 60_000;
/** A process that has not said so for this long is gone, and its alerts with it. */
const FRESH_MS = 3 * REPEAT_MS;
const FORGOTTEN_MS = 24 * 3_600_000;
/** More are in the log. */
const PUBLISHED = 200;

/** The alerts of every process: each publishes its own in the store. While a process has none, it writes nothing. */
export class OpenAlerts {
  private published = { text: '[]', at: Number.NEGATIVE_INFINITY };
  private isOver = false;

  constructor(
    /** Id of this process. */
    private readonly self: string,
    private readonly own: RaisedAlerts,
    private readonly store: OpenAlertStore,
    private readonly clock: Clock,
  ) {}

  /** Publish what changed. */
  async publish(): Promise<void> {
    const alerts = this.ownAlerts().slice(0, PUBLISHED);
    const text = JSON.stringify(alerts);
    const at = this.clock.monotonicMs();
    const isDue = alerts.length > 0 && at - this.published.at >= REPEAT_MS;
    if (this.isOver || (text === this.published.text && !isDue)) return;
    await this.store.publish(this.self, alerts);
    this.published = { text, at };
  }

  /** Before this process ends. If the store does not answer, the others drop these alerts after a while. */
  async withdraw(): Promise<void> {
    this.isOver = true;
    if (this.published.text !== '[]') await this.store.publish(this.self, []).catch(() => undefined);
  }

  forgetOld(): Promise<void> {
    return this.store.forget(FORGOTTEN_MS);
  }

  /** Oldest first, each key once: several processes may have raised it. */
  async all(): Promise<readonly OpenAlert[]> {
    const known = [...this.ownAlerts(), ...(await this.store.publishedWithin(FRESH_MS))];
    const byKey = new Map<string, OpenAlert>();
    for (const alert of known) {
      const other = byKey.get(alert.key);
      if (!other || alert.at < other.at) byKey.set(alert.key, alert);
    }
    return [...byKey.values()].sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  private ownAlerts(): OpenAlert[] {
    return this.own.raised().map(({ key, reason, at }) => {
      const { org } = reason.params;
      return { key, code: reason.code, message: textOf(reason), org: typeof org === 'string' ? org : null, at };
    });
  }
}
