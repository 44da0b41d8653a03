import { decideBy } from '../../builders/decide-all.js';
import { AuditStore } from '../../../src/housekeeping/audit/audit-store.port.js';
import { auditKey } from '../../../src/housekeeping/audit/audit-check.js';
import { Encryptor } from '../../../src/core/encryptor.js';
import type { ForgeEvent } from '../../../src/core/event.js';
import { newId } from '../../../src/core/ids.js';
import { KnownFacts } from '../../../src/core/known-facts.port.js';
import { OperatorStore } from '../../../src/core/operator-store.port.js';
import type { NewIntent, NewRun } from '../../../src/core/run.js';
import type { Target } from '../../../src/core/target.js';
import { sealReads } from '../../../src/pipeline/decide/answer-lookups.js';
import { GapStore } from '../../../src/pipeline/gap-store.port.js';
import { InboxStore } from '../../../src/pipeline/inbox-store.port.js';
import { JournalStore } from '../../../src/pipeline/journal-store.port.js';
import { PoisonMessageStore } from '../../../src/pipeline/poison-message-store.port.js';
import { RolloutStore } from '../../../src/pipeline/rollout-store.port.js';
import { FindingStore } from '../../../src/policies/finding-store.port.js';
import { aDelivery, anEntry, anEvent } from '../../builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../../builders/journal.js';
import { because } from '../../builders/reasons.js';
import type { TestControl } from './a-control.js';

/**
 * What something in the store is about: three repositories of acme, acme itself, and another organization. A number of a repository of acme stands
 * in the rows of the other one too: a body may name any number, and two forges give the same ones.
 */
export const PLACES = ['app', 'lib', 'vault', 'acme', 'butler'] as const;
export type Place = (typeof PLACES)[number];

/** So many rows of one kind are about a place: of a sum one can tell which places were counted. */
export const WEIGHT: Readonly<Record<Place, number>> = { app: 1, lib: 2, vault: 4, acme: 8, butler: 16 };

/** Of each place something to ask about, or to give an order about. */
export interface Seeded {
  readonly arrival: string;
  readonly event: string;
  readonly run: string;
  readonly dead: string;
  readonly unknown: string;
  readonly waiting: string;
  readonly poison: string;
}

export interface Tenants {
  readonly of: Readonly<Record<Place, Seeded>>;
  /** A run about `app` that acts on `app` and on `vault`, and read something of `vault`. */
  readonly reaching: string;
  /** An event of `app` whose arrival tells one of `vault` as well. */
  readonly shared: string;
  /** Text or id -> whose it is. */
  readonly canaries: ReadonlyMap<string, string>;
}

/** Stands in texts about the place. */
/** Stands in the sealed answer and trace of one run, and nowhere else. */
export const SEALED_TEXT = 'in-sealed-answers-alone';

export const canary = (whose: string): string => `canary-of-${whose}`;

/** @param repoIds numbers of the repositories of acme */
export async function fillTenants(
  { part }: TestControl,
  repoIds: Readonly<Record<'app' | 'lib' | 'vault', string>>,
): Promise<Tenants> {
  const [inbox, journal, gaps] = [part(InboxStore), part(JournalStore), part(GapStore)];
  const encryptor = part(Encryptor);
  const canaries = new Map<string, string>(
    [...PLACES, 'site', 'pause of acme', 'pause of all'].map((whose) => [canary(whose), whose]),
  );
  const own = <Id extends string>(whose: Place, id: Id): Id => {
    canaries.set(id, whose);
    return id;
  };
  const now = new Date();
  const orgOf = (place: Place): string => (place === 'butler' ? 'butler' : 'acme');
  const repoIdOf = (place: Place): string | null =>
    place === 'acme' ? null : place === 'butler' ? repoIds.app : repoIds[place];

  function eventOf(place: Place): ForgeEvent {
    const org = orgOf(place);
    const id = repoIdOf(place);
    return anEvent({
      id: own(place, newId()),
      org,
      factKey: newId(),
      actor: { id: '3', login: canary(place) },
      repo: id === null ? null : { id, owner: org, name: place, full_name: `${org}/${canary(place)}` },
      data: { ref: `refs/heads/${canary(place)}` },
      storedAt: now,
      factAt: now,
    });
  }

  async function told(place: Place, ...events: ForgeEvent[]): Promise<string> {
    const delivery = aDelivery({ id: own(place, newId()), org: orgOf(place), hook: canary(place) });
    await inbox.storeDeliveries([delivery]);
    await decideBy(inbox, delivery.id, async (tx) => {
      for (const event of events) {
        tx.insertEvent(event);
        tx.join(event.id);
      }
    });
    return delivery.id;
  }

  function runOf(place: Place, eventId: string, over: Partial<NewRun> = {}): NewRun {
    return aRun({
      id: own(place, newId()),
      org: orgOf(place),
      rule: canary(place),
      cause: { kind: 'event', eventId },
      runKey: newId(),
      reason: because(canary(place)),
      trace: [canary(place)],
      decidedAt: now,
      ...over,
    });
  }

  function targetOf(place: Place): { target: Target; orderKey: string } {
    const id = repoIdOf(place);
    if (id === null)
      return {
        target: { kind: 'organization', id: null, name: 'acme' },
        orderKey: `main/organization/${orgOf(place)}`,
      };
    // The same number lies in one order key, whatever the organization: of the other one it is another forge's.
    const orderKey = place === 'butler' ? `other/repository/${id}` : `main/repository/${id}`;
    return { target: { kind: 'repository', id, owner: orgOf(place), name: place }, orderKey };
  }

  function intentOf(place: Place, run: NewRun, over: Partial<NewIntent> = {}): NewIntent {
    const id = own(place, newId());
    return anIntent({
      id,
      runId: run.id,
      org: run.org,
      forge: place === 'butler' ? 'other' : 'main',
      rule: run.rule,
      itemKey: canary(place),
      params: { name: canary(place) },
      ...targetOf(place),
      ...over,
    });
  }

  async function record(run: NewRun, intents: readonly NewIntent[], reads = false): Promise<void> {
    const recorded = sealReads({ run, intents, ...(reads ? { readsPrivate: true } : {}) }, encryptor);
    const { cause } = run;
    await journal.recordDecision(cause.kind === 'event' ? { eventId: cause.eventId } : {}, [recorded]);
  }

  /** It is claimed at once, so that its order key is free for the next one. */
  async function worked(place: Place, eventId: string, end: 'dead' | 'unknown'): Promise<string> {
    const run = runOf(place, eventId);
    const intent = intentOf(place, run);
    await record(run, [intent]);
    const claim = await claimOne(journal, intent.id, 'me', 60_000);
    if (!claim) throw new Error(`${place}: the intent could not be claimed`);
    const { epoch } = claim;
    if (end === 'unknown')
      await journal.markSent(intent.id, epoch, { id: newId(), operation: 'createLabel', requestHash: 'hash' });
    const from = end === 'unknown' ? ('sent' as const) : ('claimed' as const);
    await journal.move({ intentId: intent.id, epoch, from: [from], to: end, reason: because(canary(place)) });
    return intent.id;
  }

  const poison = part(PoisonMessageStore);
  async function poisoned(place: Place): Promise<string> {
    const event = eventOf(place);
    await told(place, event);
    await poison.begin({ topic: 'event', ids: [event.id], owner: 'me', leaseMs: 60_000, dares: 0 });
    await poison.quarantine('event', event.id, canary(place));
    return event.id;
  }

  const of: Partial<Record<Place, Seeded>> = {};
  for (const place of PLACES) {
    const event = eventOf(place);
    const arrival = await told(place, event);
    const run = runOf(place, event.id, { state: 'not-fired', lookups: { feed: { value: canary(place) } } });
    await record(run, []);
    const [dead, unknown] = [await worked(place, event.id, 'dead'), await worked(place, event.id, 'unknown')];
    const waitingRun = runOf(place, event.id);
    const waiting = intentOf(place, waitingRun, { approval: 'wanted' });
    await record(waitingRun, [waiting]);
    for (let n = 0; n < WEIGHT[place]; n += 1) {
      const planned = runOf(place, event.id);
      await record(planned, [intentOf(place, planned)]);
      await told(place, eventOf(place));
    }
    const entry = anEntry({ id: own(place, newId()), org: orgOf(place) });
    await inbox.storeEntries([entry]);
    const found = eventOf(place);
    await decideBy(inbox, entry.id, async (tx) => {
      tx.insertEvent(found);
      tx.join(found.id);
    });
    await record(runOf(place, found.id, { state: 'not-fired' }), []);
    await gaps.settle(
      [entry.id],
      [
        {
          forge: 'main',
          org: orgOf(place),
          arrivalId: entry.id,
          eventId: found.id,
          source: 'feed',
          entryKey: entry.entryKey,
          kind: 'push',
          repo: canary(place),
          class: 'unknown',
          reason: canary(place),
          outcome: 'repaired',
          factAt: now,
          foundAt: now,
          lateByS: null,
        },
      ],
    );
    await part(FindingStore).record({
      forge: 'main',
      org: orgOf(place),
      policy: 'labels',
      subject: repoIdOf(place) ?? '',
      name: canary(place),
      failing: [{ name: 'described', message: canary(place), severity: 'low' }],
      looked: ['described'],
      at: now,
    });
    await record(runOf(place, event.id, { rule: 'shadow/greet', state: 'done', trace: { wanted: [] } }), []);
    const poisonedEvent = await poisoned(place);
    of[place] = { arrival, event: event.id, run: run.id, dead, unknown, waiting: waiting.id, poison: poisonedEvent };
  }

  // What crosses from one repository to another.
  const [app, vault] = [of.app, of.vault];
  if (!app || !vault) throw new Error('nothing was filled in');
  const reaching = runOf('app', app.event, {
    rule: 'reaches',
    lookups: { feed: { value: `${canary('vault')} ${SEALED_TEXT}` } },
    trace: [canary('vault'), SEALED_TEXT],
  });
  await record(
    reaching,
    [intentOf('app', reaching), { ...intentOf('vault', reaching), stepNo: 0, stepId: 'other' }],
    true,
  );
  const reached = runOf('vault', vault.event, { rule: 'reaches' });
  const fromVault = intentOf('vault', reached, { ...targetOf('app') });
  await record(reached, [fromVault]);
  const mixed = eventOf('vault');
  const shared = eventOf('app');
  await told('vault', shared, mixed);

  // What is about all of an organization, and what no event made.
  for (const place of ['acme', 'butler'] as const) {
    const org = orgOf(place);
    await inbox.storeDeliveries(
      Array.from({ length: WEIGHT[place] }, () => aDelivery({ id: own(place, newId()), org, hook: canary(place) })),
    );
    await part(RolloutStore).add(
      {
        id: own(place, newId()),
        org,
        rule: canary(place),
        ruleHash: 'hash',
        kind: 'promoted',
        stage: 'canary',
        percent: 10,
        by: canary(place),
        at: now,
        evidence: {},
        forced: false,
      },
      null,
    );
    await part(KnownFacts).write('main', org, 'job.hooks.audit', {
      at: now.toISOString(),
      by: 'schedule',
      summary: canary(place),
      findings: [],
      changes: [],
    });
    const run = runOf(place, newId(), { cause: { kind: 'tick', tickId: newId(), subject: '' } });
    const held = intentOf(place, run, { orderKey: `main/held/${org}` });
    await record(run, [held]);
    const claim = await claimOne(journal, held.id, 'me', 60_000);
    const limit = { kind: 'rule', of: canary(place), key: `budget of ${org}`, perHour: 1 } as const;
    await journal.move({
      intentId: held.id,
      epoch: claim?.epoch ?? 0,
      from: ['claimed'],
      to: 'planned',
      reason: null,
      spentBudget: { limit, againInMs: 3_600_000 },
    });
  }
  await part(KnownFacts).write('main', '', 'job.token.audit', {
    at: now.toISOString(),
    by: 'schedule',
    summary: canary('site'),
    findings: [],
    changes: [],
  });
  await journal.pause({ org: 'acme', rule: null, by: 'ann', at: now, reason: canary('pause of acme') });
  await journal.pause({ org: 'butler', rule: 'no-rule', by: 'bob', at: now, reason: canary('butler') });
  await journal.pause({ org: null, rule: 'no-rule', by: 'bob', at: now, reason: canary('site') });
  await journal.pause({ org: null, rule: 'greet', by: 'root', at: now, reason: canary('pause of all') });
  await part(OperatorStore).add(
    {
      id: newId(),
      name: canary('site'),
      login: null,
      scopes: ['read'],
      madeBy: 'root',
      madeAt: now,
      expiresAt: new Date(now.getTime() + 86_400_000),
      revokedBy: null,
      revokedAt: null,
    },
    'hash of a token',
  );
  const audit = part(AuditStore);
  for (const org of await audit.unsealed()) await audit.seal(org, 1_000, 0, auditKey(encryptor));
  return { of: of as Record<Place, Seeded>, reaching: reaching.id, shared: shared.id, canaries };
}
