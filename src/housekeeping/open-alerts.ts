import { shorten } from '../core/shorten.js';
import { Inject, Injectable } from '@nestjs/common';
import { ThisProcess } from '../config/this-process.js';
import { RaisedAlerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { textOf } from '../core/reason.js';
import { type OpenAlert, OpenAlertStore } from './open-alert-store.port.js';

/** A process that still has alerts says so this often. */
const REPEAT_MS = 60_000;
/** A process that has not said so for this long is gone, and its alerts with it. */
const FRESH_MS = 3 * REPEAT_MS;
const FORGOTTEN_MS = 24 * 3_600_000;
/** More are in the log. A thousand organizations may have the same one. */
const PUBLISHED = 1_000;
/** Of a message, so that others read as many as are published. */
const PUBLISHED_CHARACTERS = 500;
/** An alert that was raised before its key was resolved may be published some seconds later. */
const LATE_MS = 15_000;

/** The alerts of every process: each publishes its own in the store. While a process has none, it writes nothing. */
@Injectable()
export class OpenAlerts {
  private published = { text: '[]', at: Number.NEGATIVE_INFINITY };
  private isOver = false;

  constructor(
    @Inject(ThisProcess) private readonly self: Pick<ThisProcess, 'id'>,
    private readonly own: RaisedAlerts,
    private readonly store: OpenAlertStore,
    private readonly clock: Clock,
  ) {}

  /** Publish what changed. */
  async publish(): Promise<void> {
    const alerts = this.ownAlerts()
      .slice(0, PUBLISHED)
      .map((alert) => ({ ...alert, message: shorten(alert.message, PUBLISHED_CHARACTERS) }));
    const text = JSON.stringify(alerts);
    const at = this.clock.monotonicMs();
    const isDue = alerts.length > 0 && at - this.published.at >= REPEAT_MS;
    if (this.isOver || (text === this.published.text && !isDue)) return;
    await this.store.publish(this.self.id, alerts);
    this.published = { text, at };
  }

  /** Close what another process resolved, and let the others close what this one did. */
  async settle(): Promise<void> {
    await this.tellResolved();
    const keys = this.own.raised().map(({ key }) => key);
    for (const { key, at } of await this.store.resolved(keys)) this.own.resolvedElsewhere(key, at);
  }

  /** Before this process ends. If the store does not answer, the others drop these alerts after a while. */
  async withdraw(): Promise<void> {
    this.isOver = true;
    await Promise.allSettled([
      this.tellResolved(),
      this.published.text === '[]' ? null : this.store.publish(this.self.id, []),
    ]);
  }

  forgetOld(): Promise<void> {
    return this.store.forget(FORGOTTEN_MS);
  }

  /** Oldest first, each key once: several processes may have raised it. */
  async all(): Promise<readonly OpenAlert[]> {
    const published = [...this.ownAlerts(), ...(await this.store.publishedWithin(FRESH_MS))];
    const here = this.resolvedHere();
    const elsewhere = new Map(
      (await this.store.resolved(published.map(({ key }) => key))).map(({ key, at }) => [key, at] as const),
    );
    const byKey = new Map<string, OpenAlert>();
    for (const alert of published) {
      if (isOver(alert, here) || isOver(alert, elsewhere)) continue;
      const other = byKey.get(alert.key);
      if (!other || alert.at < other.at) byKey.set(alert.key, alert);
    }
    return [...byKey.values()].sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** Of the keys that this process resolved, another one has raised few: only those are stored. */
  private async tellResolved(): Promise<void> {
    const here = this.resolvedHere();
    if (here.size === 0) return;
    const others = await this.store.publishedWithin(FRESH_MS);
    const ended = new Set(others.filter((alert) => isOver(alert, here)).map(({ key }) => key));
    await this.store.resolve([...here].filter(([key]) => ended.has(key)).map(([key, at]) => ({ key, at })));
  }

  private resolvedHere(): ReadonlyMap<string, Date> {
    return this.own.resolvedSince(new Date(this.clock.now().getTime() - LATE_MS));
  }

  private ownAlerts(): OpenAlert[] {
    return this.own.raised().map(({ key, reason, at }) => {
      const { org } = reason.params;
      return { key, code: reason.code, message: textOf(reason), org: typeof org === 'string' ? org : null, at };
    });
  }
}

function isOver({ key, at }: OpenAlert, resolved: ReadonlyMap<string, Date>): boolean {
  const resolvedAt = resolved.get(key);
  return resolvedAt !== undefined && at < resolvedAt;
}
