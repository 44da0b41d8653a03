import { Secret } from '../../src/core/secret.js';
import type { Hook } from '../../src/webhooks/receive-delivery.js';
import { KeptConnections } from '../services/kept-connections.js';
import type { Act, ActFolder, RecordedDelivery } from './act-file.js';
import { factOf } from './act-file.js';
import type { EmbeddedBot } from './embedded-bot.js';
import { startEmbeddedBot } from './embedded-bot.js';
import { sendDelivery } from './send-delivery.js';

export interface FolderResult {
  readonly folder: string;
  readonly acts: number;
  readonly deliveries: number;
  /** Distinct (organization, event type, JSON text), and second acts of one text. */
  readonly facts: number;
  readonly events: number;
  /** Decided as duplicates. */
  readonly duplicates: number;
  readonly refused: number;
  /** Quarantined. */
  readonly setAside: number;
  /** Events by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** What is wrong, one line each; empty = the folder passes. */
  readonly problems: readonly string[];
}

/** Play the acts of one folder, in file order, to the endpoint of a bot with a fresh store, and compare facts with events. */
export async function playFolder({ folder, acts }: ActFolder): Promise<FolderResult> {
  const hooks = hooksOf(acts);
  const bot = await startEmbeddedBot([...hooks.values()]);
  const connections = new KeptConnections(1);
  try {
    return await new Play(bot, connections, folder, hooks).run(acts);
  } finally {
    connections.close();
    await bot.close();
  }
}

class Play {
  private readonly facts: Told[] = [];
  /** By hook, the fact that it brought last. */
  private readonly last = new Map<string, string>();
  private readonly problems: string[] = [];
  private deliveries = 0;
  private refused = 0;

  constructor(
    private readonly bot: EmbeddedBot,
    private readonly connections: KeptConnections,
    private readonly folder: string,
    private readonly hooks: ReadonlyMap<string, Hook>,
  ) {}

  async run(acts: readonly Act[]): Promise<FolderResult> {
    for (const act of acts) {
      for (const delivery of act.deliveries) await this.send(act, delivery);
      await this.bot.decideAll();
    }
    const { events, kinds, duplicates, setAside } = await this.compare();
    return {
      folder: this.folder,
      acts: acts.length,
      deliveries: this.deliveries,
      facts: this.facts.length,
      events,
      duplicates,
      refused: this.refused,
      setAside,
      kinds,
      problems: this.problems,
    };
  }

  private async send(act: Act, delivery: RecordedDelivery): Promise<void> {
    this.deliveries += 1;
    const place = `act ${act.n}, ${delivery.event_type} through ${delivery.hook}`;
    const answer = await sendDelivery(
      this.connections,
      this.bot.port,
      `/webhooks/${encodeURIComponent(this.hooks.get(hookKeyOf(act, delivery))?.id ?? '')}`,
      delivery,
    );
    if (answer.id === null || answer.status !== 202) {
      this.refused += 1;
      this.problems.push(`${place}: answered ${answer.status} ${answer.error ?? ''}`.trim());
      return;
    }
    const told = { fact: factOf(act, delivery), hook: hookKeyOf(act, delivery), deliveryId: idOf(delivery) };
    if (this.isAct(told)) this.facts.push({ ...told, arrivalId: answer.id, place });
    this.last.set(told.hook, told.fact);
  }

  /** The first of its text, or a second one that the same hook brought behind another text. */
  private isAct({ fact, hook, deliveryId }: Pick<Told, 'fact' | 'hook' | 'deliveryId'>): boolean {
    const [first, second] = this.facts.filter((told) => told.fact === fact);
    if (!first) return true;
    return !second && first.hook === hook && first.deliveryId !== deliveryId && this.last.get(hook) !== fact;
  }

  /** Each fact must have an event of its own, and there may be no others. */
  private async compare(): Promise<Pick<FolderResult, 'events' | 'kinds' | 'duplicates' | 'setAside'>> {
    const { inbox } = this.bot;
    const events = await inbox.undecidedEvents(this.deliveries * 10 + 100);
    const kinds: Record<string, number> = {};
    for (const id of events) {
      const kind = (await inbox.event(id))?.kind ?? 'missing';
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    const arrivals = new Map(
      (await inbox.list({ limit: this.deliveries + 1 })).map((arrival) => [arrival.id, arrival]),
    );
    const told = new Map<string, string>();
    for (const { arrivalId, place } of this.facts) {
      const arrival = arrivals.get(arrivalId);
      if (!arrival?.eventId)
        this.problems.push(`${place}: no event (${arrival ? `${arrival.code}: ${arrival.reason}` : 'not stored'})`);
      else if (told.has(arrival.eventId))
        this.problems.push(`${place}: shares its event with ${told.get(arrival.eventId)}`);
      if (arrival?.eventId) told.set(arrival.eventId, place);
    }
    if (events.length !== this.facts.length) this.problems.push(`${this.facts.length} facts, ${events.length} events`);
    const all = [...arrivals.values()];
    return {
      events: events.length,
      kinds,
      duplicates: all.reduce((sum, { repeats }) => sum + repeats, 0),
      setAside: all.filter(({ state }) => state === 'quarantined').length,
    };
  }
}

/** An act that a delivery tells. */
interface Told {
  readonly fact: string;
  readonly hook: string;
  readonly deliveryId: string;
  /** The arrival that holds it. */
  readonly arrivalId: string;
  readonly place: string;
}

function idOf({ headers }: RecordedDelivery): string {
  return headers.find(([name]) => /-Delivery$/i.test(name))?.[1] ?? '';
}

/** Every hook named in the acts under its own name, with all secrets it had in their course. */
export function hooksOf(acts: readonly Act[]): Map<string, Hook> {
  const hooks = new Map<string, Hook>();
  const names = new Set<string>();
  for (const act of acts) {
    for (const delivery of act.deliveries) {
      const key = hookKeyOf(act, delivery);
      let known = hooks.get(key);
      if (!known) {
        // A name that stands for two hooks (another organization, another proof) gets a number the second time.
        const id = names.has(delivery.hook) ? `${delivery.hook}-${names.size}` : delivery.hook;
        names.add(id);
        known = { id, org: act.org, forge: 'recorded', secrets: [], authorizations: [] };
      }
      hooks.set(key, {
        ...known,
        secrets: withValue(known.secrets, delivery.secret),
        authorizations: withValue(known.authorizations, delivery.authorization_header),
      });
    }
  }
  return hooks;
}

/** A hook that changed its organization or its way of proving itself is another hook to us. */
export function hookKeyOf(act: Act, delivery: RecordedDelivery): string {
  return JSON.stringify([
    act.org.toLowerCase(),
    delivery.hook,
    Boolean(delivery.secret),
    Boolean(delivery.authorization_header),
  ]);
}

function withValue(values: readonly Secret[], value: string | null | undefined): Secret[] {
  return !value || values.some((known) => known.reveal() === value) ? [...values] : [...values, new Secret(value)];
}
