import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStores } from '../../../src/store/open-stores.js';
import { given } from '../../builders/given.js';
import { SAMPLE_BODIES, sampleBody } from '../../builders/sample-bodies.js';
import { until } from '../../services/until.js';
import type { Place } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { readMetrics, sumOf } from '../support/metrics.js';
import { tell } from '../support/tell.js';
import { aReceiverPlace, AUTHORIZATION, Poster, sign } from './a-receiver.js';
import { FORGERIES } from './forgeries.js';

const FORGED = 5_000;
const REPLAYED = 200;
const TIMES = 10;

let place: Place;
let bot: Bot;
let poster: Poster;

const numbered = (n: number): string => JSON.stringify({ ...sampleBody('push'), n });
const deliveries = async (answer: string): Promise<number> =>
  sumOf(await readMetrics(bot), 'forgehand_deliveries_total', `answer="${answer}"`);
const events = async (): Promise<number> => sumOf(await readMetrics(bot), 'forgehand_events_total');

describe('e2e/hostile: forgery and replay', () => {
  beforeAll(async () => {
    requireBuild();
    place = aReceiverPlace();
    bot = await startBot(place);
    poster = new Poster(bot.url);
  });

  afterAll(async () => {
    poster.close();
    await bot.kill();
    place.remove();
  });

  it(`takes none of ${FORGED} forged deliveries`, async () => {
    const body = numbered(-1);

    expect(await poster.postEach(FORGED, (n) => given(FORGERIES[n % FORGERIES.length])(body, n))).toEqual({
      401: FORGED,
    });
    expect(await deliveries('not_authentic')).toBe(FORGED);
    expect(await deliveries('stored')).toBe(0);
  });

  it(`makes ${REPLAYED} events of ${REPLAYED} bodies sent ${TIMES} times under new ids, through every hook that may`, async () => {
    const hooks = [
      { hook: 'acme', headers: {} },
      { hook: 'again', headers: {} },
      { hook: 'token', headers: { authorization: AUTHORIZATION } },
      { hook: 'both', headers: { authorization: AUTHORIZATION } },
    ];

    const answers = await poster.postEach(REPLAYED * TIMES, (n) => {
      const body = numbered(n % REPLAYED);
      const { hook, headers } = given(hooks[Math.floor(n / REPLAYED) % hooks.length]);
      return {
        body,
        hook,
        headers: { 'x-gitea-signature': sign(body), 'x-gitea-delivery': `replay-${n}`, ...headers },
      };
    });
    await until(async () => (await events()) >= REPLAYED);

    expect(answers).toEqual({ 202: REPLAYED * TIMES });
  });

  it('makes an event of each body under the name of its own event alone', async () => {
    const types = Object.keys(SAMPLE_BODIES);
    const pairs = types.flatMap((eventType) => types.map((other) => ({ eventType, other })));

    const answers = await poster.postEach(pairs.length, (n) => {
      const { eventType, other } = given(pairs[n]);
      const body = JSON.stringify({ ...sampleBody(other), pair: true });
      return {
        body,
        headers: { 'x-gitea-signature': sign(body), 'x-gitea-event': eventType, 'x-gitea-event-type': eventType },
      };
    });

    expect(answers).toEqual({ 202: pairs.length });
    expect(pairs.length).toBeGreaterThanOrEqual(625);
    expect(await deliveries('stored')).toBe(REPLAYED * TIMES + pairs.length);
    await until(async () => (await readMetrics(bot)).get('forgehand_backlog{what="arrivals"}') === 0);
    tell(
      `${FORGED} forged: 0 taken; ${REPLAYED * TIMES} replays: ${REPLAYED} events; ${pairs.length} pairs: ${types.length} events`,
    );
  });

  it('holds one event for each true delivery, and beside it each text once that came under another name', async () => {
    const types = Object.keys(SAMPLE_BODIES).length;
    expect(await bot.stop()).toEqual({ code: 0, signal: null });

    const stores = await openStores({ kind: 'embedded', dir: join(place.dir, 'data') });
    const [counts] = (await stores.dataSource.query(
      `SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(DISTINCT event_id)::int FROM arrivals) AS "eventsOfArrivals",
           count(*) FILTER (WHERE state = 'quarantined')::int AS quarantined, count(*) FILTER (WHERE code = 'duplicate')::int AS duplicates,
           count(*) FILTER (WHERE code = 'duplicate' AND (octet_length(body) > 0 OR event_id IS NOT NULL))::int AS heavy FROM arrivals`,
    )) as [{ duplicates: number }];
    await stores.close();
    const { duplicates, ...others } = counts;

    expect(others).toEqual({
      events: REPLAYED + types,
      eventsOfArrivals: REPLAYED + types,
      quarantined: types,
      heavy: 0,
    });
    const repeats = REPLAYED * (TIMES - 1) + types * (types - 2);
    expect(duplicates).toBeGreaterThanOrEqual(repeats);
    expect(duplicates).toBeLessThanOrEqual(repeats + poster.resent);
  });
});
