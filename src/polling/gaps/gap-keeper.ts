import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { ofOrgs } from '../../config/live-config.js';
import { alert, type AlertKey, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { isDelivered } from '../../events/pairing-table.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { PollPeriods } from '../../forge/poll-periods.js';
import { Metrics } from '../../observability/metrics.js';
import { CursorStore } from '../cursor-store.port.js';
import { type Gap, type WaitingEntry, GapStore } from '../../pipeline/gap-store.port.js';
import type { OwnHook } from './classify-gap.js';
import { HookHistory } from './hook-history.js';
import { OwnHooks } from './own-hooks.js';
import { classifyGap } from './classify-gap.js';

interface WatchedOrg {
  readonly forge: string;
  readonly org: string;
  /** Seconds between two polls of its feed, as it is. */
  readonly everyS: number;
  /** How long a row waits for its delivery after it was read; longer where polls are rarer than the config says. */
  readonly graceS: number;
  /** Whether it has a webhook of ours at all; without one nothing is missing. */
  readonly hasHooks: boolean;
}

const BATCH = 200;
const MAX_BATCHES = 50;
/** Three missed heartbeats. */
const SILENT_MS = 15_000;
/** What is missing for longer is told no more; the next gap of the class raises an alert again. */
const QUIET_MS = 3_600_000;
/** A poller is stuck when it did not advance for this many turns and at least this long. */
const STUCK_TURNS = 10;
const STUCK_MS = 300_000;
/** Between two looks for them: a tenth of the time after which one is stuck. */
const POLLERS_MS = 30_000;
const DAY_MS = 86_400_000;
/** The first look at the webhooks may be so old. */
const FIRST_LOOK_MS = 3_600_000;

/**
 * Matches every entry with a delivery: an entry without one after its grace time is a gap, stored with its class and
 * outcome. Also detects silence: rows that come while deliveries do not, and pollers that are stuck. `pass` may run
 * in any number of processes.
 */
@Injectable()
export class GapKeeper {
  /** `hooks`: null = the forge did not show them. */
  private readonly hooksRead = new Map<string, { at: Date; hooks: readonly OwnHook[] | null }>();
  /** Alerts that deliveries are missing. */
  private readonly openAlerts = new Set<AlertKey<'gaps'>>();
  private running: Promise<void> | null = null;
  private missing = new Set<string>();
  /** Keys of the alerts about silence: only for these it is asked whether it is over. */
  private readonly silent = new Set<string>();
  private pollersAtMs = Number.NEGATIVE_INFINITY;
  private readonly orgs: () => readonly WatchedOrg[];
  /** As they are in this pass: what counts polls counts those that there are. */
  private watched: readonly WatchedOrg[] = [];

  constructor(
    config: AppConfig,
    private readonly gaps: GapStore,
    @Inject(CursorStore) private readonly cursors: Pick<CursorStore, 'read'>,
    @Inject(OwnHooks) private readonly hooks: Pick<OwnHooks, 'read'>,
    @Inject(HookHistory) private readonly history: Pick<HookHistory, 'note' | 'at'>,
    @Inject(ConnectedForges) private readonly forges: Pick<ConnectedForges, 'serverOf'>,
    @Inject(PollPeriods) private readonly periods: Pick<PollPeriods, 'stretchOf'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'gaps'>,
  ) {
    this.orgs = ofOrgs(config, (orgs) =>
      orgs.map(({ forge, key, feed, hooks: own }) => ({ forge, org: key, ...feed, hasHooks: own.length > 0 })),
    );
  }

  /** A receiver of deliveries is alive. */
  async beat(): Promise<void> {
    const outage = await this.gaps.beat(this.clock.now(), SILENT_MS);
    if (outage) this.logger.warn({ from: outage.from.toISOString(), to: outage.to.toISOString() }, 'receiver.outage');
  }

  /** One look at everything; a call while one runs joins it. */
  pass(): Promise<void> {
    this.running ??= this.passNow().finally(() => (this.running = null));
    return this.running;
  }

  /** Whether the last pass saw rows whose deliveries did not come, or not yet: polling is then worth more. */
  isMissing(forge: string, org: string): boolean {
    return this.missing.has(`${forge}/${org.toLowerCase()}`);
  }

  private async passNow(): Promise<void> {
    this.watched = this.orgs().map((one) => {
      const stretch = this.periods.stretchOf(one.forge, one.org);
      return { ...one, everyS: one.everyS * stretch, graceS: one.graceS * stretch };
    });
    const missing = new Set<string>();
    const now = this.clock.now();
    const least = Math.min(
      ...this.watched.map(({ everyS, graceS }) => Math.min(everyS, graceS)),
      Number.MAX_SAFE_INTEGER,
    );
    const silent = new Map<WatchedOrg, Date>();
    for (let n = 0; n < MAX_BATCHES; n += 1) {
      const waiting = await this.gaps.waiting(new Date(now.getTime() - least * 1000), BATCH);
      const settled = await this.settle(waiting, now, silent, missing);
      if (settled === 0 || waiting.length < BATCH) break;
    }
    this.missing = missing;
    for (const { forge, org, class: why, kind, repo, entryKey, lateByS } of await this.gaps.markLate())
      this.logger.info({ forge, org, class: why, kind, repo, row: entryKey, lateByS }, 'gap.late');
    await this.endAlerts(now);
    for (const org of this.watched) await this.listen(org, silent.get(org) ?? null);
    await this.watchPollers(now);
    // The first look is what later changes are told from; the bot looks when it starts.
    for (const { forge, org, hasHooks } of this.watched)
      if (hasHooks && !this.hooksRead.has(`${forge}/${org}`))
        await this.hooksOf(forge, org, new Date(now.getTime() - FIRST_LOOK_MS));
  }

  /** Nothing of the class is missing any more: the deliveries came after all, or the last that did not is an hour old. */
  private async endAlerts(now: Date): Promise<void> {
    if (this.openAlerts.size === 0) return;
    const missing = new Set((await this.gaps.missingSince(new Date(now.getTime() - QUIET_MS))).map(keyOf));
    for (const key of this.openAlerts) {
      if (missing.has(key)) continue;
      this.openAlerts.delete(key);
      this.alerts.resolve(key);
    }
  }

  /** @param silent receives, for each organization, the earliest fact that no delivery reported */
  private async settle(
    waiting: readonly WaitingEntry[],
    now: Date,
    silent: Map<WatchedOrg, Date>,
    missing: Set<string>,
  ): Promise<number> {
    const settledIds = new Set<string>();
    const inGrace = new Set<string>();
    const gaps: Gap[] = [];
    const outages = waiting.length > 0 ? await this.gaps.outages(new Date(now.getTime() - 7 * DAY_MS)) : [];
    const undecidedArrivals = waiting.length > 0 ? await this.gaps.oldestUndecided() : [];
    for (const entry of waiting) {
      const org = this.watched.find((one) => isOf(one, entry));
      const isMissing = org?.hasHooks === true && this.lacksDelivery(entry);
      const waitedMs = now.getTime() - entry.readAt.getTime();
      // Already now: when the grace time is over, the hook may ask for more.
      if (isMissing) await this.hooksOf(entry.forge, entry.org, entry.readAt);
      if (isMissing) missing.add(`${entry.forge}/${entry.org.toLowerCase()}`);
      if (org && isMissing && entry.event && waitedMs >= org.everyS * 1000)
        note(silent, org, entry.event.factAt ?? entry.readAt);
      const untilMs = entry.readAt.getTime() + (org?.graceS ?? 0) * 1000;
      // A delivery that came in time and waits to be decided is not missing.
      const mayBeHere = undecidedArrivals.some((one) => isOf(one, entry) && one.at.getTime() <= untilMs);
      if (isMissing && (now.getTime() < untilMs || mayBeHere)) inGrace.add(entry.arrivalId);
      else if (isMissing) gaps.push(await this.gapOf(entry, now, outages));
      settledIds.add(entry.arrivalId);
    }
    // An entry of two events is settled when both are.
    for (const arrivalId of inGrace) settledIds.delete(arrivalId);
    for (const gap of await this.gaps.settle(
      [...settledIds],
      gaps.filter(({ arrivalId }) => settledIds.has(arrivalId)),
    ))
      this.tell(gap);
    return settledIds.size;
  }

  /** A row without an event is a gap by itself; a fact that no server delivers is not. */
  private lacksDelivery({ forge, source, event }: WaitingEntry): boolean {
    // A list shows a state, not an act: without an event there was nothing new.
    if (source === 'lists' && !event) return false;
    if (!event || event.kind === 'unrecognized') return true;
    return !event.isMatched && !isDraftRelease(event) && isDelivered(event.kind, this.forges.serverOf(forge));
  }

  private async gapOf(
    { event, closed, ...entry }: WaitingEntry,
    now: Date,
    outages: Awaited<ReturnType<GapStore['outages']>>,
  ): Promise<Gap> {
    const { arrivalId, forge, org, source, entryKey } = entry;
    const base = {
      forge,
      org,
      arrivalId,
      source,
      entryKey,
      eventId: event?.id ?? null,
      kind: event?.kind ?? null,
      repo: event?.repo ?? null,
      foundAt: now,
      lateByS: null,
    };
    if (!event || event.kind === 'unrecognized')
      return {
        ...base,
        factAt: event?.factAt ?? null,
        class: 'unknown',
        reason: closed ?? 'nobody knows what the row tells',
        outcome: 'not-representable',
      };
    const hooksNow = await this.hooksOf(forge, org, entry.readAt);
    const hooks =
      hooksNow && ((await this.history.at(forge, org, event.factAt)) ?? (hooksNow.length > 0 ? hooksNow : null));
    return {
      ...base,
      factAt: event.factAt,
      ...classifyGap(event, { outages, hooks, product: this.forges.serverOf(forge).product }),
      outcome: 'repaired',
    };
  }

  /**
   * @param since an answer from before it is too old: a person may have changed the webhook before the row was read
   * @returns null where the forge does not show webhooks
   */
  private async hooksOf(forge: string, org: string, since: Date): Promise<readonly OwnHook[] | null> {
    const key = `${forge}/${org}`;
    const lastRead = this.hooksRead.get(key);
    if (lastRead && lastRead.at >= since) return lastRead.hooks;
    const now = this.clock.now();
    const { hooks = null, at = now } =
      (await this.hooks.read(forge, org, since).catch((error: unknown) => {
        this.logger.debug({ forge, org, error }, 'hooks.not-read');
        return null;
      })) ?? {};
    this.hooksRead.set(key, { at, hooks });
    if (hooks) await this.history.note(forge, org, hooks, at);
    return hooks;
  }

  private tell(gap: Gap): void {
    const { forge, org, class: why, outcome, kind, repo, reason } = gap;
    this.metrics.gaps.inc({ org, class: why, outcome });
    this.logger.warn({ forge, org, class: why, outcome, kind, repo, row: gap.entryKey, reason }, 'gap.found');
    const key = keyOf(gap);
    this.openAlerts.add(key);
    this.alerts.raise(key, alert('gaps', { org }), {
      forge,
      org,
      class: why,
      reason,
    });
  }

  /** Rows came, and no delivery of any kind since the first of them. */
  private async listen(watched: WatchedOrg, since: Date | null): Promise<void> {
    const { forge, org } = watched;
    const key = `webhooks.silent/${forge}/${org}` as const;
    if (since === null && !this.silent.has(key)) return;
    const from = since ?? new Date(this.clock.now().getTime() - SILENT_MS);
    if (await this.gaps.anyDeliverySince(forge, org, from)) {
      this.silent.delete(key);
      this.alerts.resolve(key);
    } else if (since !== null) {
      this.silent.add(key);
      this.alerts.raise(key, alert('webhooks.silent', { org }), { forge, org, since: since.toISOString() });
    }
  }

  private async watchPollers(now: Date): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.pollersAtMs < POLLERS_MS) return;
    for (const org of this.watched) await this.watchPoller(org, now);
    this.pollersAtMs = nowMs;
  }

  private async watchPoller({ forge, org, everyS }: WatchedOrg, now: Date): Promise<void> {
    const stored = await this.cursors.read(forge, org, 'feed');
    if (!stored) return;
    const key = `poller.stuck/${forge}/${org}` as const;
    const ageMs = now.getTime() - stored.advancedAt.getTime();
    const seconds = Math.round(ageMs / 1000);
    if (ageMs > Math.max(STUCK_MS, everyS * 1000 * STUCK_TURNS))
      this.alerts.raise(key, alert('poller.stuck', { forge, org, seconds }), { forge, org, seconds });
    else this.alerts.resolve(key);
  }
}

interface Place {
  readonly forge: string;
  readonly org: string;
}

function isOf(one: Place, other: Place): boolean {
  return one.forge === other.forge && one.org.toLowerCase() === other.org.toLowerCase();
}

function keyOf({ forge, org, class: why }: Pick<Gap, 'forge' | 'org' | 'class'>): AlertKey<'gaps'> {
  return `gaps/${why}/${forge}/${org}`;
}

/** Servers deliver nothing about a draft. */
function isDraftRelease({ kind, data }: Pick<ForgeEvent, 'kind' | 'data'>): boolean {
  return (
    kind.startsWith('release.') && isJsonObject(data.release ?? null) && (data.release as JsonObject).draft === true
  );
}

function note(silent: Map<WatchedOrg, Date>, org: WatchedOrg, at: Date): void {
  const since = silent.get(org);
  if (!since || at < since) silent.set(org, at);
}
