import { LRUCache } from 'lru-cache';
import type { AlertTarget } from '../config/app-config.js';
import { AlertGroups, messageOfMany } from '../core/alert-groups.js';
import type { AlertKey, Alerts, RaisedAlert, RaisedAlerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { ServiceError } from '../core/errors.js';
import { escapeChat } from '../core/escape-chat.js';
import { hashOf, newId } from '../core/ids.js';
import type { JsonObject } from '../core/json.js';
import type { Logger } from '../core/logger.js';
import type { Messenger } from '../core/message.js';
import { textOf, type Reason } from '../core/reason.js';
import { within } from '../core/within.js';
import { signed } from '../notify/formats.js';
import { NotPosted, post } from '../notify/post.js';
import type { Metrics } from './metrics.js';

/** An alert that its receiver does not take within this time at a stop is given up. */
const CLOSE_MS = 1_000;
const DEADLINE_MS = 5_000;
/** Every success resolves a key, raised or not. Of more keys than this the oldest are forgotten. */
const MOST_RESOLVED = 10_000;

/** An alert as the log and the receiver get it. */
interface Told extends Reason {
  readonly key: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * A log line at error, a metric, and (where configured) one message per key, over the transport and in a format of `notify`; the same alert of more than
 * ten organizations is one.
 */
export class AlertSender implements Alerts, RaisedAlerts {
  private readonly open = new Map<string, RaisedAlert>();
  private readonly groups = new AlertGroups();
  private readonly resolved = new LRUCache<string, Date>({ max: MOST_RESOLVED });
  private readonly sending = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly target: AlertTarget | null,
    private readonly messenger: Messenger,
    /** How an organization is shown. */
    private readonly labelOf: (org: string) => string = (org) => org,
  ) {}

  raise(
    key: AlertKey,
    { code, params: ofReason }: Reason,
    ofLine: Readonly<Record<string, string | number | boolean | null>> = {},
  ): void {
    this.resolved.delete(key);
    if (this.open.has(key)) return;
    const org = nameIn(ofReason['org']) ?? nameIn(ofLine['org']);
    const [params, facts] = [this.withLabel(ofReason), this.withLabel(ofLine)];
    this.open.set(key, { key, reason: { code, params }, org, at: this.clock.now() });
    const telling = this.groups.begin(key, code, org);
    if (telling === 'one-of-many') return this.logger.info({ alert: key, shared: sharedKey(code) }, 'alert.joined');
    const message = textOf({ code, params });
    if (telling === 'alone' || org === null) return this.tell({ key, code, params, message, facts });
    const orgs = this.groups.orgsOf(code);
    const labels = orgs.map((one) => this.labelOf(one));
    this.tell({
      key: sharedKey(code),
      code,
      params,
      message: messageOfMany(message, this.labelOf(org), labels),
      facts: { ...facts, organizations: orgs.length, first: key },
    });
  }

  resolve(key: AlertKey): void {
    this.resolved.set(key, this.clock.now());
    this.end(key);
  }

  resolvedElsewhere(key: string, resolvedAt: Date): void {
    const alert = this.open.get(key);
    if (alert && alert.at < resolvedAt) this.end(key);
  }

  resolvedSince(since: Date): ReadonlyMap<string, Date> {
    return new Map([...this.resolved].filter(([, at]) => at >= since));
  }

  raised(): readonly RaisedAlert[] {
    return [...this.open.values()];
  }

  /** Wait for alerts on their way. */
  async flush(): Promise<void> {
    await Promise.all(this.sending);
  }

  /** The same at a stop, but not for long: the log has them in any case. */
  async close(graceMs = CLOSE_MS): Promise<void> {
    await within(graceMs, this.flush()).catch(() => undefined);
    this.stopping.abort();
    await this.flush();
  }

  private withLabel<Facts extends JsonObject>(facts: Facts): Facts {
    const org = nameIn(facts['org']);
    return org === null ? facts : { ...facts, org: this.labelOf(org) };
  }

  private end(key: string): void {
    const alert = this.open.get(key);
    if (!alert) return;
    this.open.delete(key);
    const ending = this.groups.end(key);
    if (ending === 'one-of-many') return;
    this.logger.info({ alert: ending === 'alone' ? key : sharedKey(alert.reason.code) }, 'alert.resolved');
  }

  private tell(alert: Told): void {
    const { key, code, message, facts } = alert;
    this.logger.error({ alert: key, message, ...facts }, 'alert.raised');
    this.metrics.alerts.inc({ key: code });
    if (!this.target) return;
    const sending = this.send(this.target, alert).finally(() => this.sending.delete(sending));
    this.sending.add(sending);
  }

  private async send(target: AlertTarget, alert: Told): Promise<void> {
    try {
      await (target.format === 'webhook' ? this.post(target, alert) : this.message(target, alert));
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'refused') {
        const { reason, facts } = error;
        return this.logger.error({ status: facts.status, code: reason?.code }, 'alert.refused');
      }
      const code = error instanceof NotPosted ? error.note : error instanceof ServiceError ? error.reason?.code : '';
      this.logger.error({ code: code || 'ERROR' }, 'alert.not-sent');
    }
  }

  /** All of the alert, for a program. */
  private async post({ to, credential }: AlertTarget, alert: Told): Promise<void> {
    const posting = signed(
      { type: 'forgehand.alert', id: `msg_${newId()}`, data: alert },
      credential,
      this.clock.now(),
    );
    const { status } = await post({
      url: to.reveal(),
      ...posting,
      signal: this.stopping.signal,
      deadlineMs: DEADLINE_MS,
    });
    if (status >= 300) this.logger.error({ status }, 'alert.refused');
  }

  /** Its sentence and its key, for people. An alert may name what somebody else wrote. */
  private async message(target: AlertTarget, { key, message, facts }: Told): Promise<void> {
    const text = `Forgehand: ${escapeChat(message)}\n(${escapeChat(key)})`;
    const one = { ...target, text, key: hashOf(newId()), facts };
    await this.messenger.send(one, { addresses: null, signal: this.stopping.signal });
  }
}

/** The key of the one alert that organizations share. */
function sharedKey(code: string): string {
  return `${code}/*`;
}

function nameIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
