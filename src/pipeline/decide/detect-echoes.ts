import { Inject, Injectable } from '@nestjs/common';
import type { AnyAction } from '../../actions/define-action.js';
import type { EventMatcher } from '../../actions/support/recovery.js';
import { alert, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { intentReason, runReason } from '../../core/run-reasons.js';
import { orderKeyOf, type Target } from '../../core/target.js';
import { JournalStore } from '../journal-store.port.js';
import { effectKeyOf } from './plan-intents.js';
import { RecoveryStore } from '../recovery-store.port.js';
import { Accounts, type BotSelf, type EchoDetector, type EchoVerdict } from '../rule-engine.port.js';
import type { Attempt, Intent } from '../../core/run.js';
import { isSelf } from '../execute/forge-access.js';
import { PlanningTools } from './planning-tools.js';
import { ruleOfEcho } from './rule-behind.js';

/** An effect of ours may lead to a run that leads to another effect; the fourth is not made. */
const MAX_DEPTH = 3;
/** Clocks of forge and store may differ by this much. */
const SKEW_MS = 120_000;
/** A delivery that comes later than this is not taken for the echo of a call. */
const ECHO_MS = 24 * 3_600_000;
const LOOKED_AT = 20;
/** Forges tell whole seconds, by a clock of their own: of effects that were sent so shortly after each other, the newest that fits raised the event. */
const CLOSE_MS = 5_000;
/** Of each action. */
const SENT_LOOKED_AT = 50;
/** Longer chains hold policies that no rule led back to. */
const LONGEST_CHAIN = 30;

interface Teller {
  readonly action: AnyAction;
  readonly matcher: EventMatcher;
}

/**
 * Looks at each event before rules do: does it show an object that an intent of unknown outcome wanted, is it the echo of an effect of ours
 * (and how many effects stand behind it), did a person undo one of our effects?
 */
@Injectable()
export class EffectEchoDetector implements EchoDetector {
  private readonly tellers: readonly Teller[];

  constructor(
    private readonly recovery: RecoveryStore,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'move' | 'run' | 'pause'>,
    @Inject(PlanningTools) private readonly tools: Pick<PlanningTools, 'actions'>,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {
    this.tellers = [...tools.actions.values()].flatMap((action) =>
      action.recover?.matcher ? [{ action, matcher: action.recover.matcher }] : [],
    );
  }

  effectsToldBy(event: ForgeEvent): readonly string[] | null {
    const self = this.accounts.self(event.forge, event.org);
    if (isActOf(event, self)) return null;
    return this.tellers.flatMap(({ action, matcher }) =>
      this.keysOf(action, [...(matcher.shownBy?.(event) ?? []), ...(matcher.undoneBy?.(event) ?? [])], event, self),
    );
  }

  async look(event: ForgeEvent): Promise<EchoVerdict> {
    const self = this.accounts.self(event.forge, event.org);
    const isOurs = isActOf(event, self);
    const { tellers } = this;
    // The first echo that is found stays: that of the effect that raised the event, before one that made an object in it.
    const raising = tellers.filter(({ matcher }) => matcher.echoes?.includes(event.kind) ?? false);
    if (isOurs) await this.raised(event, raising, self);
    for (const { action, matcher } of tellers) {
      const shownKeys = this.keysOf(action, matcher.shownBy?.(event) ?? [], event, self);
      if (shownKeys.length > 0) await this.settleShown(event, matcher, shownKeys, isOurs);
      const undone = isOurs ? [] : this.keysOf(action, matcher.undoneBy?.(event) ?? [], event, self);
      if (undone.length > 0) await this.undone(event, matcher, undone);
    }
    const echo = await this.recovery.echoOf(event.id);
    if (echo === null) return { depth: 0, holdReason: null };
    const rule = await ruleOfEcho(this.recovery, this.tools.actions, event.kind, echo);
    const verdict = { depth: echo.depth, ...(rule === null ? {} : { rule }) };
    if (echo.depth < MAX_DEPTH) return { ...verdict, holdReason: null };
    const holdReason = runReason('run.echo', { depth: echo.depth });
    return { ...verdict, holdReason, chain: await this.rulesBehind(event) };
  }

  async openBreaker(event: ForgeEvent, rules: readonly string[], knownChain?: readonly string[]): Promise<void> {
    const { journal, clock, logger, alerts } = this;
    const chain = knownChain ?? (await this.rulesBehind(event));
    // What only led into the loop stays.
    const first = chain.findIndex((rule) => rules.includes(rule));
    const named = [...new Set([...chain.slice(Math.max(first, 0)), ...rules])];
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
    for (let n = 0; eventId !== null && n < LONGEST_CHAIN; n += 1) {
      const echo = await this.recovery.echoOf(eventId);
      const intent = echo ? await this.recovery.intentOf(echo.intentId) : null;
      if (!intent) break;
      rules.unshift(intent.rule);
      const run = await this.journal.run(intent.runId);
      eventId = run?.cause.kind === 'event' ? run.cause.eventId : null;
    }
    return rules;
  }

  /** Keeps which effect of ours raised the event: of those that fit, the newest of the ones sent nearest to it. */
  private async raised(event: ForgeEvent, tellers: readonly Teller[], self: BotSelf | null): Promise<void> {
    const matchers = new Map(tellers.map((teller) => [teller.action.name, teller.matcher]));
    const orderKeys = new Map<string, string[]>();
    for (const { action } of tellers) {
      const target = targetOf(action, event, self);
      const orderKey = target && orderKeyOf(event.forge, target);
      if (orderKey) orderKeys.set(orderKey, [...(orderKeys.get(orderKey) ?? []), action.name]);
    }
    const atMs = (event.factAt ?? event.storedAt).getTime();
    const fitting: Array<{ intent: Intent; sentMs: number; awayMs: number }> = [];
    for (const [orderKey, actions] of orderKeys) {
      const since = new Date(atMs - ECHO_MS);
      const sent = await this.recovery.sentWithOrderKey({ orderKey, actions, since, limit: SENT_LOOKED_AT });
      for (const { intent, attempts } of sent) {
        const { params, action, org } = intent;
        const times = attempts.map(({ sentAt }) => sentAt.getTime());
        const awayMs = Math.max(Math.min(...times) - atMs, atMs - Math.max(...times), 0);
        if (org !== event.org || Math.min(...times) - SKEW_MS > atMs || atMs > Math.max(...times) + ECHO_MS) continue;
        const isEcho = ({ snapshot, objectId }: Attempt): boolean =>
          matchers.get(action)?.isEcho?.(event, { params, snapshot, objectId }) ?? false;
        if (attempts.some(isEcho)) fitting.push({ intent, sentMs: Math.max(...times), awayMs });
      }
    }
    const nearestMs = Math.min(...fitting.map(({ awayMs }) => awayMs));
    const [best] = fitting.filter(({ awayMs }) => awayMs <= nearestMs + CLOSE_MS).sort((a, b) => b.sentMs - a.sentMs);
    if (best) await this.noteEcho(event, best.intent);
  }

  private async noteEcho({ id: eventId }: ForgeEvent, intent: Intent): Promise<void> {
    await this.recovery.noteEcho({ eventId, intentId: intent.id, depth: (await this.depthOf(intent)) + 1 });
  }

  private async settleShown(
    event: ForgeEvent,
    matcher: EventMatcher,
    keys: readonly string[],
    isOurs: boolean,
  ): Promise<void> {
    const sentEffects = await this.sentFor(event, keys, LOOKED_AT);
    const atMs = (event.factAt ?? event.storedAt).getTime();
    for (const { intent } of sentEffects) {
      if (intent.state !== 'unknown' && intent.state !== 'waiting') continue;
      if (!(isOurs || matcher.byAnybody === true) || matcher.fits?.(event, intent.params) === false) continue;
      await this.settle(intent, event);
    }
    // Of what raises such an event it is known already whether it did.
    if (!isOurs || matcher.echoes?.includes(event.kind)) return;
    const echoed = sentEffects.find(
      ({ sentAt }) => sentAt.getTime() - SKEW_MS <= atMs && atMs <= sentAt.getTime() + ECHO_MS,
    );
    if (echoed) await this.noteEcho(event, echoed.intent);
  }

  /** Of the event's organization alone: a delivery can name any number, and must not settle or undo what another organization did. */
  private async sentFor(
    { org }: ForgeEvent,
    keys: readonly string[],
    limit: number,
  ): Promise<Array<{ intent: Intent; sentAt: Date }>> {
    return (await this.recovery.sentOfEffects(keys, limit)).filter(({ intent }) => intent.org === org);
  }

  private async settle(intent: Intent, event: ForgeEvent): Promise<void> {
    const reason = intentReason('intent.shown', { event: event.id, kind: event.kind });
    const move = {
      intentId: intent.id,
      epoch: null,
      from: ['unknown', 'waiting'] as const,
      to: 'done' as const,
      reason,
      result: { detail: {}, event: event.id },
    };
    if (await this.journal.move(move))
      this.logger.info(
        { intentId: intent.id, eventId: event.id, rule: intent.rule, org: intent.org },
        'unknown.settled-by-event',
      );
  }

  /** Effects that stand behind the run of an intent. */
  private async depthOf(intent: Intent): Promise<number> {
    const run = await this.journal.run(intent.runId);
    if (run?.cause.kind !== 'event') return 0;
    return (await this.recovery.echoOf(run.cause.eventId))?.depth ?? 0;
  }

  private async undone(event: ForgeEvent, matcher: EventMatcher, keys: readonly string[]): Promise<void> {
    const { recovery, logger } = this;
    const at = event.factAt ?? event.storedAt;
    for (const effectKey of keys) {
      const newest = (await this.sentFor(event, [effectKey], 1))[0];
      // What happened before our call cannot have undone it.
      if (!newest || at.getTime() <= newest.sentAt.getTime() + (event.factAt ? 0 : (matcher.slackMs ?? 0))) continue;
      if (matcher.isUndo?.(event, newest.intent.params) === false) continue;
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

function isActOf({ actor }: ForgeEvent, self: BotSelf | null): boolean {
  return self !== null && actor !== null && isSelf(actor, self);
}

function targetOf(action: AnyAction, event: ForgeEvent, self: BotSelf | null): Target | null {
  if (action.target === 'repository')
    return event.repo && { kind: 'repository', id: event.repo.id, owner: event.repo.owner, name: event.repo.name };
  if (action.target === 'account') return self && { kind: 'account', login: self.login };
  return { kind: 'organization', id: null, name: event.org };
}
