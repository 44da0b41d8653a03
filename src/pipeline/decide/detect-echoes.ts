import type { AnyAction } from '../../actions/define-action.js';
import type { Told } from '../../actions/support/recovery.js';
import { alert, type Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { Logger } from '../../core/logger.js';
import { textOf } from '../../core/reason.js';
import { intentReason, runReason } from '../../core/run-reasons.js';
import type { Target } from '../../core/target.js';
import type { JournalStore } from '../journal-store.port.js';
import { effectKeyOf } from './plan-intents.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { Accounts, BotSelf, EchoDetector, EchoVerdict } from '../rule-engine.port.js';
import type { Intent } from '../../core/run.js';
import { isSelf } from '../execute/forge-access.js';

interface EchoDetectorDeps {
  readonly recovery: RecoveryStore;
  readonly journal: Pick<JournalStore, 'move' | 'run' | 'pause'>;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

/** An effect of ours may lead to a run that leads to another effect; the fourth is not made. */
const MAX_DEPTH = 3;
/** Clocks of forge and store may differ by this much. */
const SKEW_MS = 120_000;
/** A delivery that comes later than this is not taken for the echo of a call. */
const ECHO_MS = 24 * 3_600_000;
const LOOKED_AT = 20;

/**
 * Looks at each event before rules do: does it show an object that an intent of unknown outcome wanted, is it the echo of an effect of ours
 * (and how many effects stand behind it), did a person undo one of our effects?
 */
export class EffectEchoDetector implements EchoDetector {
  constructor(private readonly deps: EchoDetectorDeps) {}

  async look(event: ForgeEvent): Promise<EchoVerdict> {
    const self = this.deps.accounts.self(event.forge, event.org);
    const isOurs = self !== null && event.actor !== null && isSelf(event.actor, self);
    const tellers = [...this.deps.actions.values()].flatMap((action) =>
      action.recover?.told ? [{ action, told: action.recover.told }] : [],
    );
    for (const { action, told } of tellers) {
      const shown = this.keysOf(action, told.shownBy?.(event) ?? [], event, self);
      if (shown.length > 0) await this.shown(event, told, shown, isOurs);
      const undone = isOurs ? [] : this.keysOf(action, told.undoneBy?.(event) ?? [], event, self);
      if (undone.length > 0) await this.undone(event, told, undone);
    }
    const echo = await this.deps.recovery.echoOf(event.id);
    return {
      depth: echo?.depth ?? 0,
      held: echo !== null && echo.depth >= MAX_DEPTH ? runReason('run.echo', { depth: echo.depth }) : null,
    };
  }

  async openBreaker(event: ForgeEvent, rules: readonly string[]): Promise<void> {
    const { journal, clock, logger, alerts } = this.deps;
    const named = [...new Set([...(await this.rulesBehind(event)), ...rules])];
    for (const rule of named)
      await journal.pause({ org: event.org, rule, by: 'breaker: effects in a chain', at: clock.now() });
    logger.warn({ eventId: event.id, org: event.org, rules: named }, 'breaker.chain-opened');
    alerts.raise(
      `breaker.chain/${event.org}/${[...named].sort().join('+')}`,
      alert('breaker.chain', { org: event.org, rules: named }),
      { eventId: event.id },
    );
  }

  /** Rules of the effects that stand behind an event, the first first. */
  private async rulesBehind(event: ForgeEvent): Promise<string[]> {
    const rules: string[] = [];
    let eventId: string | null = event.id;
    for (let n = 0; eventId !== null && n <= MAX_DEPTH + 1; n += 1) {
      const echo = await this.deps.recovery.echoOf(eventId);
      const intent = echo ? await this.deps.recovery.intentOf(echo.intentId) : null;
      if (!intent) break;
      rules.unshift(intent.rule);
      const run = await this.deps.journal.run(intent.runId);
      eventId = run?.cause.kind === 'event' ? run.cause.eventId : null;
    }
    return rules;
  }

  private async shown(event: ForgeEvent, told: Told, keys: readonly string[], isOurs: boolean): Promise<void> {
    const found = await this.sentFor(event, keys, LOOKED_AT);
    const atMs = (event.factAt ?? event.storedAt).getTime();
    for (const { intent } of found) {
      if (intent.state !== 'unknown' && intent.state !== 'waiting') continue;
      if (!(isOurs || told.byAnybody === true) || told.fits?.(event, intent.params) === false) continue;
      await this.settle(intent, event);
    }
    const echoed = isOurs
      ? found.find(({ sentAt }) => sentAt.getTime() - SKEW_MS <= atMs && atMs <= sentAt.getTime() + ECHO_MS)
      : undefined;
    if (echoed)
      await this.deps.recovery.noteEcho({
        eventId: event.id,
        intentId: echoed.intent.id,
        depth: (await this.depthOf(echoed.intent)) + 1,
      });
  }

  /** Of the event's organization alone: a delivery can name any number, and must not settle or undo what another organization did. */
  private async sentFor(
    { org }: ForgeEvent,
    keys: readonly string[],
    limit: number,
  ): Promise<Array<{ intent: Intent; sentAt: Date }>> {
    return (await this.deps.recovery.sentOfEffects(keys, limit)).filter(({ intent }) => intent.org === org);
  }

  private async settle(intent: Intent, event: ForgeEvent): Promise<void> {
    const reason = intentReason('intent.shown', { event: event.id, kind: event.kind });
    const move = {
      intentId: intent.id,
      epoch: null,
      from: ['unknown', 'waiting'] as const,
      to: 'done' as const,
      reason,
      result: { summary: textOf(reason), detail: {}, event: event.id },
    };
    if (await this.deps.journal.move(move))
      this.deps.logger.info(
        { intentId: intent.id, eventId: event.id, rule: intent.rule, org: intent.org },
        'unknown.settled-by-event',
      );
  }

  /** Effects that stand behind the run of an intent. */
  private async depthOf(intent: Intent): Promise<number> {
    const run = await this.deps.journal.run(intent.runId);
    if (run?.cause.kind !== 'event') return 0;
    return (await this.deps.recovery.echoOf(run.cause.eventId))?.depth ?? 0;
  }

  private async undone(event: ForgeEvent, told: Told, keys: readonly string[]): Promise<void> {
    const { recovery, logger } = this.deps;
    const at = event.factAt ?? event.storedAt;
    for (const effectKey of keys) {
      const newest = (await this.sentFor(event, [effectKey], 1))[0];
      // What happened before our call cannot have undone it.
      if (!newest || at.getTime() <= newest.sentAt.getTime() + (event.factAt ? 0 : (told.slackMs ?? 0))) continue;
      if (told.isUndo?.(event, newest.intent.params) === false) continue;
      const by = event.actor?.login ?? 'somebody';
      const undo = { effectKey, eventId: event.id, by, summary: `${by} undid it (${event.kind})`, at };
      if (await recovery.noteUndo(undo))
        logger.info({ eventId: event.id, intentId: newest.intent.id, org: event.org, by }, 'effect.undone');
    }
  }

  private keysOf(action: AnyAction, named: readonly JsonObject[], event: ForgeEvent, self: BotSelf | null): string[] {
    const target = targetOf(action, event, self);
    return target === null ? [] : [...new Set(named.map((params) => effectKeyOf(event.forge, action, target, params)))];
  }
}

function targetOf(action: AnyAction, event: ForgeEvent, self: BotSelf | null): Target | null {
  if (action.target === 'repository')
    return event.repo && { kind: 'repository', id: event.repo.id, owner: event.repo.owner, name: event.repo.name };
  if (action.target === 'account') return self && { kind: 'account', login: self.login };
  return { kind: 'organization', id: null, name: event.org };
}
