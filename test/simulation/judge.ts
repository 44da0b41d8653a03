import type { ForgeEvent } from '../../src/core/event.js';
import { isEnded } from '../../src/core/states.js';
import type { Intent } from '../../src/core/run.js';
import { HOLDING_STATES, waitsForApproval } from '../../src/core/state-table.js';
import type { OperationName } from '../../src/forge/operations.js';
import type { Effect } from './doubles/sim-forge.js';
import { CANARY, CONCURRENCY } from './bot.js';
import type { SimProcess } from './world/sim-process.js';
import type { World } from './world/world.js';

export const INVARIANTS = [
  'what was acknowledged is in the inbox',
  'what is in the inbox comes to an end',
  'one effect at most for each intent and each wish',
  'no effect without a sent attempt older than it',
  'nothing is sent for a rule one second after it was taken away',
  'the repository of an effect is the one that was pinned',
  'one holder at most of each effect key',
  'rates and concurrency stay within their limits',
  'no secret in any output',
  'what has not ended has a time at which it wakes',
  'events of one object are decided in the order in which they were stored',
  'nothing is sent without the consent that it needs',
  'nothing is sent for what is told in doubt and is not so any more',
  'what the forge shows or delivers is one event',
  'nothing is sent where a rule is only tried',
  'nothing that is due waits behind what a budget holds',
  'what takes the acts of a rule decides once about each, and about no others',
] as const;

export interface Violation {
  /** 1 to 17, as in INVARIANTS. */
  readonly invariant: number;
  readonly what: string;
  readonly atMs: number;
}

const DISABLED_GRACE_MS = 1_000;
const CONSENT_RULES = new Set(['asked']);
/** The one of the two repositories in which half a canary writes. */
const IN_CANARY = '8';
const LONGEST_WAIT_MS = 24 * 3_600_000;
/** Nothing goes wrong any more, and each process looks every two seconds. */
const LONGEST_TURN_MS = 20_000;
/** Effects of ours in a chain. */
const MAX_CHAIN = 3;
/** What rule followed makes of a branch of rule copy. */
const FOLLOWED = 'followed/';

/** What the judge looks at of an intent. */
interface Seen extends Pick<Intent, 'id' | 'rule' | 'epoch' | 'itemKey'> {
  readonly target: { readonly kind: string; readonly id?: string | null };
}

/** Knows what was promised, looks at the forge's ledger and the rows as they lie there, and asks no production code. */
export class Judge {
  readonly violations: Violation[] = [];
  private readonly acknowledged = new Set<string>();
  private readonly underWay = new Map<SimProcess, number>();
  private readonly byIntent = new Map<string, number>();
  private readonly byKey = new Map<string, number>();
  private readonly consented = new Map<string, 'given' | 'denied'>();
  private readonly saidToPlans = new Map<string, 'approved' | 'denied'>();
  /** Of intents whose event was in doubt, and told otherwise than its issue stood, when they were claimed. */
  private readonly overtaken = new Map<
    string,
    { readonly number: number; readonly state: string; readonly claimedAtMs: number }
  >();
  private readonly askedToWait = new Map<string, number>();
  /** Since when nothing but what a budget holds has stood before an intent. */
  private readonly dueSince = new Map<string, number>();

  constructor(private readonly world: World) {}

  acked(textHashOrId: string): void {
    this.acknowledged.add(textHashOrId);
  }

  /** A write leaves the process. */
  sent(process: SimProcess, operation: OperationName, sent: SimProcess['sentJustNow']): void {
    const { world } = this;
    const now = world.time.nowMs;
    // The removal of an extra of ours is noted as a further attempt of an ended intent.
    if (operation.startsWith('delete')) return;
    const count = (this.underWay.get(process) ?? 0) + 1;
    this.underWay.set(process, count);
    if (count > CONCURRENCY) this.broken(8, `${process.name}: ${count} writes at once, allowed are ${CONCURRENCY}`);
    const attempt = sent && world.stores.journal.peekAttempts().find(({ id }) => id === sent.attemptId);
    if (!attempt || attempt.sentAt.getTime() > now)
      return this.broken(4, `${operation} was sent without a sent attempt`);
    const row = this.rowOf(attempt.intentId);
    if (row && row.intent.epoch !== attempt.epoch)
      this.broken(4, `${operation} was sent by an owner of epoch ${attempt.epoch}, the epoch is ${row.intent.epoch}`);
    const gone = world.scenario.disabled;
    if (gone && row?.intent.rule === gone.rule && now > gone.atMs + DISABLED_GRACE_MS)
      this.broken(5, `${operation} was sent ${Math.round(now - gone.atMs)} ms after rule ${gone.rule} was taken away`);
    if (row && CONSENT_RULES.has(row.intent.rule) && this.consented.get(row.intent.id) !== 'given')
      this.broken(
        12,
        `${operation} was sent for rule ${row.intent.rule}, and consent was ${this.consented.get(row.intent.id) ?? 'not asked for'}`,
      );
    if (row) this.rulesOf(operation, row.intent);
    const wait = this.askedToWait.get(attempt.intentId);
    if (wait !== undefined && now < wait)
      this.broken(
        8,
        `${operation} was sent again ${Math.round(wait - now)} ms before the time that the forge asked for`,
      );
    this.holders();
  }

  /** What a person said last. */
  consent(intentIds: readonly string[], verdict: 'given' | 'denied'): void {
    for (const id of intentIds) this.consented.set(id, verdict);
  }

  /** What each rule and policy of the scenario promises by itself. */
  private rulesOf(operation: OperationName, intent: Seen): void {
    const { stores, forge, time } = this.world;
    if (intent.rule === 'capped')
      this.broken(8, `${operation} was sent for policy capped, which wants more effects than its cap`);
    if (intent.rule === 'house' && !this.isPlanned(intent.itemKey))
      this.broken(12, `${operation} was sent for policy house, and nobody approved a plan with it`);
    const overtaken = this.overtaken.get(intent.id);
    // It may have been so once more in between.
    if (overtaken && (forge.issues.get(overtaken.number)?.sinceMs ?? 0) <= overtaken.claimedAtMs)
      this.broken(
        13,
        `${operation} was sent for an event of issue ${overtaken.number}, which is ${overtaken.state} since before it was claimed`,
      );
    if (intent.rule !== 'tried') return;
    const row = stores.rollouts.rows.at(-1);
    // It was another one a moment ago.
    if (!row || row.stage === 'live' || stores.rollouts.addedAtMs(row) > time.nowMs - DISABLED_GRACE_MS) return;
    if (row.stage === 'shadow') this.broken(15, `${operation} was sent for rule tried, which fell back to shadow`);
    else if (intent.target.id !== IN_CANARY)
      this.broken(
        15,
        `${operation} was sent for rule tried in repository ${intent.target.id}, which is not in its canary`,
      );
  }

  /** A person spoke. */
  saidToPlan(hash: string, verdict: 'approved' | 'denied'): void {
    if (this.saidToPlans.get(hash) !== 'approved') this.saidToPlans.set(hash, verdict);
  }

  private isPlanned(itemKey: string): boolean {
    for (const { hash, lines } of this.world.stores.plans.peek())
      if (
        this.saidToPlans.get(hash) === 'approved' &&
        lines.some(({ policy, key }) => policy === 'house' && key === itemKey)
      )
        return true;
    return false;
  }

  /** An owner begins with an intent: what speaks against its event then, and goes on to do so, must keep it from being sent. */
  claimed(intent: Intent): void {
    const { stores, forge, scenario, time } = this.world;
    const { id, rule, runId } = intent;
    this.givesWay(intent);
    // A forge of this profile cannot be asked.
    if (rule !== 'told' || scenario.profile === 'core') return;
    this.overtaken.delete(id);
    const doubt = stores.journal.doubtOfRun(runId);
    const number = Number(doubt?.event.data['number']);
    const state = forge.issues.get(number)?.state;
    if (doubt && state !== undefined && doubt.event.kind !== (state === 'closed' ? 'issue.closed' : 'issue.reopened'))
      this.overtaken.set(id, { number, state, claimedAtMs: time.nowMs });
  }

  /** What has to do with an object gives way to what stepped aside on it, and everything to a forge that cannot be asked. */
  private givesWay(intent: Intent): void {
    const { journal } = this.world.stores;
    if (journal.waitsForForge(intent))
      this.broken(18, `an intent of ${intent.rule} was claimed while its credentials wait`);
    for (const { intent: other } of journal.peek()) {
      // In the order of planning.
      if (other.id === intent.id) return;
      if (other.orderKey !== intent.orderKey || !other.aside || isEnded(other.state)) continue;
      const named = [intent.object, ...(intent.names ?? [])];
      if (other.effectKey === intent.effectKey || (other.object !== undefined && named.includes(other.object)))
        this.broken(18, `an intent of ${intent.rule} was claimed before one of ${other.rule} that stepped aside`);
    }
  }

  /** An event is decided, for the first time. */
  decided(eventId: string): void {
    const events = this.world.stores.inbox.allEvents();
    const own = events.find(({ id }) => id === eventId);
    const object = own && objectOf(own);
    if (!object) return;
    for (const event of events) {
      if (event === own) return;
      if (objectOf(event) === object && !this.world.stores.journal.decidedEvents.has(event.id))
        this.broken(11, `an event of ${object} was decided, and one that was stored before it was not`);
    }
  }

  answered(process: SimProcess, sent: SimProcess['sentJustNow']): void {
    if (sent) this.underWay.set(process, (this.underWay.get(process) ?? 1) - 1);
  }

  died(process: SimProcess): void {
    this.underWay.delete(process);
  }

  applied(effect: Effect): void {
    const { world } = this;
    if (effect.operation.startsWith('delete')) return;
    const row = effect.intentId === null ? undefined : this.rowOf(effect.intentId);
    if (!row) return this.broken(4, `${effect.key}: nobody wrote it down`);
    const ofIntent = (this.byIntent.get(row.intent.id) ?? 0) + 1;
    this.byIntent.set(row.intent.id, ofIntent);
    if (ofIntent > 1) this.broken(3, `${effect.key}: ${ofIntent} effects of one intent`);
    const ofKey = (this.byKey.get(effect.key) ?? 0) + 1;
    this.byKey.set(effect.key, ofKey);
    if (ofKey > 1 && ofIntent === 1) this.broken(3, `${effect.key}: made ${ofKey} times`);
    const { target } = row.intent;
    if (target.kind === 'repository' && target.id !== effect.repoId)
      this.broken(6, `${effect.key}: the repository that was pinned is ${target.id}`);
    const chain = effect.name.split('again/').length - 1;
    if (chain >= MAX_CHAIN) this.broken(8, `${effect.key}: ${chain + 1} effects in a chain`);
    if (effect.name.startsWith(FOLLOWED) && !effect.name.startsWith(`${FOLLOWED}copy/`))
      this.broken(17, `${effect.key}: rule followed takes the acts of rule copy alone`);
    if (world.time.nowMs < world.time.startMs) this.broken(4, 'time runs backwards');
  }

  /** Somebody looks at what waits, once nothing goes wrong any more. */
  looksAtOrder(): void {
    const { stores, time, isCalm } = this.world;
    if (!isCalm) return;
    const open = [...stores.journal.peek()].map(({ intent }) => intent).filter(({ state }) => !isEnded(state));
    const held = open.filter((intent) => isHeldAt(intent, time.nowMs));
    const waitsForRoom = (intent: Intent): boolean =>
      intent.state === 'planned' &&
      held.some(({ id, runId, stepNo }) => id === intent.id || (runId === intent.runId && stepNo < intent.stepNo));
    for (const intent of open) {
      const before = open.filter(
        (other) => other.orderKey === intent.orderKey && other !== intent && isBefore(other, intent, open),
      );
      const isBusy = open.some(
        ({ orderKey, state }) => orderKey === intent.orderKey && (state === 'claimed' || state === 'sent'),
      );
      const isOpenBefore = open.some(({ runId, stepNo }) => runId === intent.runId && stepNo < intent.stepNo);
      const isKeyHeld = open.some(
        (other) => other !== intent && other.effectKey === intent.effectKey && isHolder(other),
      );
      const isDue =
        intent.state === 'planned' &&
        intent.dueAt.getTime() <= time.nowMs &&
        !waitsForRoom(intent) &&
        !stores.journal.waitsForForge(intent) &&
        !stores.journal.waitsForObject(intent) &&
        !this.isExcused(intent);
      if (
        !isDue ||
        isBusy ||
        isOpenBefore ||
        isKeyHeld ||
        !before.some(waitsForRoom) ||
        before.some((other) => other.state === 'planned' && !waitsForRoom(other))
      )
        this.dueSince.delete(intent.id);
      else if (!this.dueSince.has(intent.id)) this.dueSince.set(intent.id, time.nowMs);
      else if (time.nowMs - (this.dueSince.get(intent.id) ?? 0) > LONGEST_TURN_MS) {
        this.dueSince.delete(intent.id);
        this.broken(16, `an intent of ${intent.rule} is due, and waits behind what a budget holds`);
      }
    }
  }

  /** One holder of each effect key, at every moment at which something is sent. */
  private holders(): void {
    const held = new Set<string>();
    for (const { intent } of this.world.stores.journal.peek()) {
      if (!isHolder(intent)) continue;
      if (held.has(intent.effectKey)) this.broken(7, `${intent.effectKey} is held twice`);
      held.add(intent.effectKey);
    }
  }

  /** Whether everything came to its end, so that there is nothing more to wait for. */
  isOver(): boolean {
    const { stores } = this.world;
    for (const { intent, lookAgainMs } of stores.journal.peek()) {
      if (lookAgainMs !== null && (intent.state === 'done' || intent.state === 'unchanged')) return false;
      if (!isEnded(intent.state) && !this.isExcused(intent)) return false;
    }
    return (
      this.openArrivals() === 0 &&
      stores.journal.gathering() === 0 &&
      this.unread() === 0 &&
      this.isFurnished() &&
      stores.ticks.rows.every(({ id, state }) => state === 'decided' || stores.journal.decidedTicks.has(id))
    );
  }

  /** Rows of the feed that have to be read and were not. */
  private unread(): number {
    const { stores, forge } = this.world;
    return forge.shown.filter((row) => stores.cursors.isNews(row) && !stores.inbox.entryKeys.has(row.id)).length;
  }

  /** A plan is approved some time, and made anew where it was denied. */
  private isFurnished(): boolean {
    const { plays, profile } = this.world.scenario;
    return (
      !plays.policies || profile === 'core' || ['a', 'b'].every((name) => this.byKey.has(`createLabel 7 house/${name}`))
    );
  }

  /** Each fact is one event: by a delivery, by a row, or by both. */
  private facts(): void {
    const { stores, forge } = this.world;
    const count = (counts: Map<string, number>, { kind, name }: { kind: string; name: string }): void =>
      void counts.set(`${kind} ${name}`, (counts.get(`${kind} ${name}`) ?? 0) + 1);
    const [happened, needed, events] = [
      new Map<string, number>(),
      new Map<string, number>(),
      new Map<string, number>(),
    ];
    for (const fact of forge.happened) count(happened, fact);
    for (const row of forge.shown) if (stores.cursors.isNews(row)) count(needed, row.fact);
    for (const { kind, data } of stores.inbox.allEvents())
      count(events, {
        kind,
        name: String(kind.startsWith('issue.') ? data['number'] : kind === 'push' ? data['after'] : data['branch']),
      });
    for (const [fact, times] of events)
      if (times > (happened.get(fact) ?? 0))
        this.broken(14, `${fact} happened ${happened.get(fact) ?? 0} times, and is ${times} events`);
    for (const [fact, times] of needed)
      if ((events.get(fact) ?? 0) < times)
        this.broken(14, `${fact} was shown ${times} times, and is ${events.get(fact) ?? 0} events`);
  }

  /** Of each branch that rule copy made and that was told, rule followed wanted something, once. */
  private follows(): void {
    const { stores } = this.world;
    const wanted = [...stores.journal.peek()].flatMap(({ intent }) =>
      intent.rule === 'followed' ? [`${targetIdOf(intent)} ${String(intent.params['title'])}`] : [],
    );
    for (const { kind, repo, data } of stores.inbox.allEvents()) {
      const branch = String(data['branch']);
      if (kind !== 'branch.created' || !branch.startsWith('copy/')) continue;
      const times = wanted.filter((one) => one === `${repo?.id ?? ''} ${FOLLOWED}${branch}`).length;
      if (times !== 1) this.broken(17, `rule followed wanted something ${times} times of the branch ${branch}`);
    }
  }

  private openArrivals(): number {
    const { inbox, journal } = this.world.stores;
    return inbox.openCount() + inbox.allEvents().filter(({ id }) => !journal.decidedEvents.has(id)).length;
  }

  /** It waits for a person who was asked: on a forge that cannot be read, or behind a rule that the breaker paused. */
  private isExcused(intent: {
    readonly state: string;
    readonly rule: string;
    readonly held?: true;
    readonly dueAt: Date;
  }): boolean {
    if (isHeldAt(intent, this.world.time.nowMs)) return true;
    if (
      this.world.told.some(
        (alert) => alert.startsWith('breaker.') && (intent.rule === 'copy' || intent.rule === 'again'),
      )
    )
      return true;
    return (
      this.world.scenario.profile === 'core' &&
      (intent.state === 'waiting' || intent.state === 'planned') &&
      this.isBehindAPerson(intent)
    );
  }

  private isBehindAPerson(intent: { readonly state: string; readonly rule: string }): boolean {
    if (intent.state === 'waiting') return true;
    for (const { intent: other } of this.world.stores.journal.peek())
      if (other.state === 'waiting' && other.rule === intent.rule) return true;
    return false;
  }

  /** The last look, once nothing moves any more or the time is up. */
  end(isOver: boolean): void {
    const { world } = this;
    // A run ends where something was broken first; what follows from it is no news.
    if (this.violations.length > 0) return;
    for (const text of this.acknowledged)
      if (!world.stores.inbox.holds(text)) this.broken(1, `an acknowledged delivery is not in the inbox`);
    if (!isOver && this.openArrivals() > 0)
      this.broken(2, `${this.openArrivals()} arrivals or events were never decided`);
    if (!isOver && world.stores.journal.gathering() > 0)
      this.broken(2, `${world.stores.journal.gathering()} runs gather for ever`);
    if (!isOver && this.unread() > 0) this.broken(2, `${this.unread()} rows of the feed were never read`);
    if (!isOver && !this.isFurnished()) this.broken(2, 'what a policy wants was never made');
    this.facts();
    if (isOver) this.follows();
    for (const { intent, leaseUntilMs } of world.stores.journal.peek()) {
      if (!isEnded(intent.state) && !this.isExcused(intent))
        this.broken(2, `an intent of ${intent.rule} is ${intent.state} for ever: ${intent.reason?.code ?? ''}`);
      if (intent.state === 'done' && (this.byIntent.get(intent.id) ?? 0) === 0 && !this.byKey.has(keyOfIntent(intent)))
        this.broken(3, `an intent of ${intent.rule} is done, and its effect was never made`);
      this.wakes(intent, leaseUntilMs);
    }
    const occurrences = new Set<string>();
    for (const { schedule, occurrence } of world.stores.ticks.rows) {
      const key = `${schedule} ${occurrence.toISOString()}`;
      if (occurrences.has(key)) this.broken(8, `schedule ${schedule} was fired twice for ${occurrence.toISOString()}`);
      occurrences.add(key);
    }
    this.secrets();
  }

  private wakes(
    intent: { readonly state: string; readonly dueAt: Date; readonly rule: string },
    leaseUntilMs: number,
  ): void {
    const now = this.world.time.nowMs;
    const isOwned = intent.state === 'claimed' || intent.state === 'sent';
    if (isOwned && leaseUntilMs <= 0) this.broken(10, `an intent of ${intent.rule} is ${intent.state} without a lease`);
    const isDue = intent.state === 'planned' || intent.state === 'unknown';
    if (isDue && !(intent.dueAt.getTime() < now + LONGEST_WAIT_MS))
      this.broken(10, `an intent of ${intent.rule} is ${intent.state} and wakes in more than a day`);
  }

  private secrets(): void {
    const { world } = this;
    const outputs: Array<[string, unknown]> = [
      ['the log', world.logged],
      ['the alerts', world.told],
      ['the journal', world.stores.journal.dump()],
    ];
    for (const [where, what] of outputs) if (holds(what, CANARY)) this.broken(9, `a secret is in ${where}`);
  }

  rateLimited(intentId: string, untilMs: number): void {
    this.askedToWait.set(intentId, untilMs);
  }

  private rowOf(intentId: string): { readonly intent: Seen } | undefined {
    for (const row of this.world.stores.journal.peek()) if (row.intent.id === intentId) return row;
    return undefined;
  }

  broken(invariant: number, what: string): void {
    const { time, trace } = this.world;
    trace.add(time.nowMs, 'judge', `${invariant} ${what}`);
    this.violations.push({ invariant, what, atMs: time.nowMs });
  }
}

function targetIdOf({ target }: Pick<Seen, 'target'>): string {
  return target.id ?? '';
}

/** A budget holds it; the run ends before there is room again. */
function isHeldAt(
  { state, held, dueAt }: { readonly state: string; readonly held?: true; readonly dueAt: Date },
  nowMs: number,
): boolean {
  return state === 'planned' && held === true && dueAt.getTime() > nowMs;
}

function isHolder(intent: Pick<Intent, 'state' | 'approval'>): boolean {
  return (HOLDING_STATES as readonly string[]).includes(intent.state) && !waitsForApproval(intent);
}

/** In the order of their key. @param open in the order of planning */
function isBefore(a: Intent, b: Intent, open: readonly Intent[]): boolean {
  const [first, second] = [a.background ?? false, b.background ?? false];
  return first === second ? open.indexOf(a) < open.indexOf(b) : second;
}

/** Whether a text below a value has this in it, as far as anybody who prints the value could see: what an error says and hides too. */
function holds(value: unknown, text: string, known = new Set<object>()): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null || known.has(value)) return false;
  known.add(value);
  if (Array.isArray(value)) return value.some((item) => holds(item, text, known));
  if (value instanceof Map || value instanceof Set) return [...value].some((item) => holds(item, text, known));
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(text);
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === 'string' && name.includes(text)) return true;
    // The stack of an error begins with its message, and costs more to make than all the rest.
    if (name === 'stack' && value instanceof Error) continue;
    if (holds(Reflect.getOwnPropertyDescriptor(value, name)?.value, text, known)) return true;
  }
  return false;
}

/** What an event of an issue is about; null for all others. */
function objectOf({ kind, repo, data }: ForgeEvent): string | null {
  return kind.startsWith('issue.') ? `issue ${String(data['number'])} of ${repo?.id ?? ''}` : null;
}

/** As the forge's ledger writes it. */
function keyOfIntent({
  effectKey,
  target,
}: {
  readonly effectKey: string;
  readonly target: { readonly kind: string; readonly id?: string | null };
}): string {
  const [, operation = '', , name = ''] = effectKey.split(' | ');
  return `${operation} ${target.id ?? ''} ${name}`;
}
