import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import { Secret } from '../../src/core/secret.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { misfitOf, normalizeDelivery, replayNameOf } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival } from '../../src/pipeline/decide/decide-arrival.js';
import { actTimeOf } from '../../src/events/act-time.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { receiveDelivery, type Hook } from '../../src/webhooks/receive-delivery.js';
import { DEFAULT_WEBHOOK_LIMITS } from '../../src/webhooks/webhook.controller.js';
import { sampleBody } from '../builders/sample-bodies.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';

const SECRET = 'the secret of the hook';
const HOOK: Hook = { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 31 * DAY;

interface Captured {
  readonly eventType: string;
  readonly text: string;
}

/** Of each recorded event type of each server the first body, and one that no reader knows. */
function capture(): Captured[] {
  const found = new Map<string, Captured>();
  for (const { folder, acts } of readActFolders('test/recordings'))
    for (const act of acts.filter(({ org }) => org.toLowerCase() === 'acme'))
      for (const delivery of act.deliveries) {
        const key = `${folder} ${delivery.event_type}`;
        if (!found.has(key)) found.set(key, { eventType: delivery.event_type, text: jsonTextOf(delivery) });
      }
  const unknownWord = { ...sampleBody('issues'), action: 'pinned' };
  return [
    ...found.values(),
    { eventType: 'issues', text: JSON.stringify(unknownWord) },
    { eventType: 'lantern', text: JSON.stringify(sampleBodyOfNobody()) },
  ];
}

function sampleBodyOfNobody(): object {
  const { repository, sender } = sampleBody('issues');
  return { lantern: { id: 7 }, repository, sender };
}

/** Of each recorded delivery that tells when its act happened the first of its event and action. */
function captureOldActs(): Captured[] {
  const found = new Map<string, Captured>();
  for (const { acts } of readActFolders('test/recordings'))
    for (const act of acts.filter(({ org }) => org.toLowerCase() === 'acme'))
      for (const delivery of act.deliveries) {
        const text = jsonTextOf(delivery);
        const fact = normalizeDelivery({ org: 'acme', eventType: delivery.event_type, text, textHash: '' });
        if ('kind' in fact && actTimeOf(fact) && !found.has(fact.kind))
          found.set(fact.kind, { eventType: delivery.event_type, text });
      }
  return [...found.values()];
}

export interface ReplayRig {
  readonly inbox: InboxStore;
  /** What `forgehand release` does. */
  readonly release: (arrivalId: string) => Promise<boolean>;
}

/** An attacker who holds signed bodies sends them again: what they can change are headers and the moment. */
export function replaysSuite(open: () => Promise<ReplayRig>): void {
  let inbox: InboxStore;
  let release: ReplayRig['release'];
  let clock: ManualClock;
  let captured: Captured[];
  let acts = 0;

  beforeAll(() => {
    captured = capture();
  });

  beforeEach(async () => {
    ({ inbox, release } = await open());
    clock = new ManualClock('2026-11-20T20:00:00Z');
  });

  async function post(eventType: string, text: string): Promise<'stored' | 'duplicate' | 'refused'> {
    const body = Buffer.from(text);
    const headers = {
      'x-gitea-event': eventType,
      'x-gitea-event-type': eventType,
      'x-gitea-delivery': newId(),
      'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    };
    const received = receiveDelivery(
      HOOK,
      { headers, encoding: 'json', body },
      { caps: DEFAULT_WEBHOOK_LIMITS.caps, misfitOf, replayNameOf, clock },
    );
    if ('status' in received) return 'refused';
    const [stored] = await inbox.storeDeliveries([received]);
    return stored?.duplicate ? 'duplicate' : 'stored';
  }

  async function decideAll(maxActAgeMs: number | null = null): Promise<void> {
    const deps = {
      inbox,
      queue: { announce: async () => undefined },
      clock,
      maxActAgeMs,
      logger: silentLogger,
      events: { normalizeDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
    };
    for (let due = await inbox.dueArrivals(200); due.length > 0; due = await inbox.dueArrivals(200))
      for (const id of due) await decideArrival(deps, id);
  }

  const size = async () => ({
    arrivals: (await inbox.list({ limit: 10_000 })).length,
    events: (await inbox.undecidedEvents(10_000)).length,
  });

  /** Somebody else's true act of the same repository. */
  async function foreignAct(): Promise<void> {
    acts += 1;
    expect(
      await post(
        'issues',
        JSON.stringify({ ...sampleBody('issues'), action: acts % 2 === 0 ? 'closed' : 'reopened', n: acts }),
      ),
    ).toBe('stored');
    await decideAll();
  }

  describe('replays of captured bodies', () => {
    it('makes no arrival and no event of a body under new ids and made-up event types, after a second, a minute and 31 days', async () => {
      for (const { eventType, text } of captured)
        expect([eventType, await post(eventType, text)]).toEqual([eventType, 'stored']);
      await decideAll();
      let known = await size();
      const grown: string[] = [];

      for (const [round, pause] of [SECOND, MINUTE, MONTH].entries()) {
        clock.advance(pause);
        if (pause === MONTH) await inbox.archive(clock.now(), 10_000);
        await foreignAct();
        known = { arrivals: known.arrivals + 1, events: known.events + 1 };
        for (const { eventType, text } of captured)
          for (const name of [
            eventType,
            eventType.toUpperCase(),
            `${eventType}_${round}`,
            `made-up.${round}`,
            `made-up.${round}.again`,
          ])
            if ((await post(name, text)) === 'stored') grown.push(`${eventType} as ${name}`);
        await decideAll();
      }

      expect(grown).toEqual([]);
      expect(await size()).toEqual(known);
      expect(captured.length).toBeGreaterThan(40);
    });

    it('still takes the true delivery of a body that came under made-up event types first', async () => {
      for (const { text } of captured) for (const name of ['made-up.1', 'made-up.2']) await post(name, text);

      for (const { eventType, text } of captured.slice(0, -2))
        expect([eventType, await post(eventType, text)]).toEqual([eventType, 'stored']);
      await decideAll();

      // Bodies that no reader knows are one each.
      expect(await size()).toEqual({ arrivals: captured.length, events: captured.length });
    });

    it('holds a captured body that never arrived before when its act is 31 days old, until a person releases it', async () => {
      const old = captureOldActs();
      clock.advance(MONTH);
      for (const { eventType, text } of old)
        expect([eventType, await post(eventType, text)]).toEqual([eventType, 'stored']);
      const arrivals = await inbox.dueArrivals(1_000);

      await decideAll(7 * DAY);

      const held = await inbox.list({ limit: 1_000 });
      expect(
        held.filter(
          ({ state, code, eventId }) => state !== 'quarantined' || code !== 'act_too_old' || eventId !== null,
        ),
      ).toEqual([]);
      expect(held[0]?.reason).toMatch(
        / happened at 2026-11-20T[\d:.]+Z, longer before its arrival than retention\.max_age allows$/,
      );
      expect(await size()).toEqual({ arrivals: old.length, events: 0 });
      expect(old.length).toBeGreaterThan(20);

      for (const id of arrivals) expect(await release(id)).toBe(true);
      await decideAll(7 * DAY);

      expect((await inbox.list({ limit: 1_000 })).filter(({ state }) => state !== 'decided')).toEqual([]);
      expect(await size()).toEqual({ arrivals: old.length, events: old.length });
    });

    it('decides every recorded delivery that arrives within three hours of its act, however long it waits for a worker', async () => {
      for (const { eventType, text } of [...captureOldActs(), ...captured]) await post(eventType, text);
      clock.advance(MONTH);

      await decideAll(3 * HOUR);

      expect((await inbox.list({ limit: 1_000 })).filter(({ state }) => state !== 'decided')).toEqual([]);
    });
  });
}
