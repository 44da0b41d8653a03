import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { Secret } from '../../src/core/secret.js';
import { normalizeDelivery } from '../builders/normalize-delivery.js';
import { actTimeOf } from '../../src/events/act-time.js';
import { oppositesOf } from '../../src/events/equal-texts.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { receiveDelivery, type Hook } from '../../src/webhooks/receive-delivery.js';
import { decideAll, decideOnce } from '../builders/decide-all.js';
import { given } from '../builders/given.js';
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

/** The last so many of the captured bodies. */
const OF_NO_READER = 2;

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
        const fact = normalizeDelivery({ org: 'acme', eventType: delivery.event_type, text });
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

  async function post(eventType: string, text: string): Promise<void> {
    const body = Buffer.from(text);
    const headers = {
      'x-gitea-event': eventType,
      'x-gitea-event-type': eventType,
      'x-gitea-delivery': newId(),
      'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    };
    await inbox.storeDeliveries([given(receiveDelivery(HOOK, { headers, encoding: 'json', body }, clock))]);
  }

  const decide = (maxActAgeMs: number | null = null): Promise<void> => decideAll(inbox, { clock, maxActAgeMs });

  const size = async () => ({
    arrivals: (await inbox.list({ limit: 10_000 })).length,
    events: (await inbox.undecidedEvents(10_000)).length,
  });

  /** Somebody else's true act of the same repository. */
  async function foreignAct(): Promise<void> {
    acts += 1;
    await post(
      'issues',
      JSON.stringify({ ...sampleBody('issues'), action: acts % 2 === 0 ? 'closed' : 'reopened', n: acts }),
    );
    await decide();
  }

  describe('replays of captured bodies', () => {
    it('makes no event of a body under new ids and made-up event types, after eleven seconds, a minute and 31 days, and keeps one more of its text at most', async () => {
      for (const { eventType, text } of captured) await post(eventType, text);
      await decide();
      const before = await size();
      expect(before).toEqual({ arrivals: captured.length, events: captured.length - OF_NO_READER });
      let others = 0;

      for (const [round, pause] of [11 * SECOND, MINUTE, MONTH].entries()) {
        clock.advance(pause);
        if (pause === MONTH) await inbox.archive(clock.now(), 10_000);
        await foreignAct();
        others += 1;
        for (const { eventType, text } of captured)
          for (const name of [
            eventType,
            eventType.toUpperCase(),
            `${eventType}_${round}`,
            `made-up.${round}`,
            `made-up.${round}.again`,
          ])
            await post(name, text);
        await decide();
        // The first under a name that is none of its own is kept as a misfit; those that no reader knows were.
        expect(await size()).toEqual({
          arrivals: 2 * captured.length - OF_NO_READER + others,
          events: before.events + others,
        });
      }

      expect(captured.length).toBeGreaterThan(40);
    });

    it('still takes the true delivery of a body that came under made-up event types first', async () => {
      for (const { text } of captured) for (const name of ['made-up.1', 'made-up.2']) await post(name, text);
      await decide();
      expect(await size()).toEqual({ arrivals: captured.length, events: 0 });

      for (const { eventType, text } of captured) await post(eventType, text);
      await decide();

      const events = captured.length - OF_NO_READER;
      expect(await size()).toEqual({ arrivals: captured.length + events, events });
    });

    it('makes one more event at most of a body that comes again within ten seconds, where an act that undoes it came between', async () => {
      for (const { eventType, text } of captured) await post(eventType, text);
      await decide();
      const { events } = await size();
      const isUndone = await Promise.all(
        (await inbox.undecidedEvents(1_000)).map(async (id) => oppositesOf(given(await inbox.event(id))).length > 0),
      );

      for (let round = 0; round < 3; round += 1) {
        for (const { eventType, text } of captured) await post(eventType, text);
        await decide();
      }

      const more = (await size()).events - events;
      expect(more).toBeGreaterThan(0);
      expect(more).toBeLessThanOrEqual(isUndone.filter(Boolean).length);
    });

    it('makes two events at most of one text, however often an act that undoes it comes between', async () => {
      const text = (action: string): string => JSON.stringify({ ...sampleBody('issues'), action });
      for (let round = 0; round < 4; round += 1) {
        await post('issues', text('closed'));
        await post('issues', text('reopened'));
      }
      await decide();

      expect((await size()).events).toBe(4);
    });

    it('decides a flood of replays whose order is lost, ten seconds after it at the latest', async () => {
      const texts = Array.from({ length: 10 }, (_, n) => JSON.stringify({ ...sampleBody('push'), n }));
      for (let round = 0; round < 4; round += 1) for (const text of texts) await post('push', text);
      const due = await inbox.dueArrivals(1_000);
      // Of one half of the texts the first counts, of the other one the last: what lies between waits for each other.
      const counted = due.filter((_, n) => (n % 2 === 0 ? n < texts.length : n >= due.length - texts.length));
      await decideOnce(inbox, [...new Set([...counted, ...due])], { clock });
      expect((await inbox.dueArrivals(1_000)).length).toBeGreaterThan(0);

      clock.advance(10 * SECOND + 1);
      await decideOnce(inbox, await inbox.dueArrivals(1_000), { clock });

      expect(await inbox.dueArrivals(1_000)).toEqual([]);
      expect((await size()).events).toBe(texts.length);
    });

    it('holds a captured body that never arrived before when its act is 31 days old, until a person releases it', async () => {
      const old = captureOldActs();
      clock.advance(MONTH);
      for (const { eventType, text } of old) await post(eventType, text);
      const arrivals = await inbox.dueArrivals(1_000);

      await decide(7 * DAY);

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
      await decide(7 * DAY);

      expect((await inbox.list({ limit: 1_000 })).filter(({ state }) => state !== 'decided')).toEqual([]);
      expect(await size()).toEqual({ arrivals: old.length, events: old.length });
    });

    it('decides every recorded delivery that arrives within three hours of its act, however long it waits for a worker', async () => {
      for (const { eventType, text } of [...captureOldActs(), ...captured]) await post(eventType, text);
      clock.advance(MONTH);

      await decide(3 * HOUR);

      const left = (await inbox.list({ limit: 1_000 })).filter(({ state }) => state !== 'decided');
      expect(left.map(({ code }) => code)).toEqual(Array.from({ length: OF_NO_READER }, () => 'unknown_kind'));
    });
  });
}
