import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStores } from '../../../src/store/open-stores.js';
import { HOSTILE_BODIES } from '../../builders/hostile-bodies.js';
import { sampleBody } from '../../builders/sample-bodies.js';
import { until } from '../../services/until.js';
import { ROOT } from '../../services/with-services.mjs';
import type { Place } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import { readMetrics } from '../support/metrics.js';
import { tell } from '../support/tell.js';
import { aReceiverPlace, Poster, SECRET, sign } from './a-receiver.js';
import { HostileSockets } from './hostile-sockets.js';
import { RAW_REQUESTS } from './raw-requests.js';

const RATE = 100;
const ROUNDS = 2;
/** Of each of four kinds. A process takes one new connection in each turn of its loop: more only make the test longer on a busy machine. */
const DRIPPING = 15;
const IDLE = 60;

interface GoodResult {
  sent: number;
  /** Due and not sent, for want of room on the machine. */
  leftOut: number;
  answers: Record<number, number>;
  failures: Record<string, number>;
  p50: number;
  p99: number;
  max: number;
}

/** Highest values seen, since each scrape of the event loop's lag starts anew. */
class Watch {
  stallMs = 0;
  rssMb = 0;
  private firstMb = 0;
  private timer: NodeJS.Timeout | null = null;

  async start(bot: Bot): Promise<void> {
    await this.look(bot);
    this.firstMb = this.rssMb;
    this.stallMs = 0;
    this.timer = setInterval(() => void this.look(bot).catch(() => undefined), 1_000);
  }

  stop(): number {
    if (this.timer) clearInterval(this.timer);
    return this.rssMb - this.firstMb;
  }

  private async look(bot: Bot): Promise<void> {
    const metrics = await readMetrics(bot);
    this.stallMs = Math.max(this.stallMs, (metrics.get('nodejs_eventloop_lag_max_seconds') ?? 0) * 1_000);
    this.rssMb = Math.max(this.rssMb, (metrics.get('process_resident_memory_bytes') ?? 0) / 2 ** 20);
  }
}

let place: Place;
let bot: Bot;
let poster: Poster;
let sockets: HostileSockets;
let good: Child;
let good202 = 0;
let goodShed = 0;

/** What is answered where the machine has no room for the whole load: told to come again, and not stored. */
const SHED = ['429', '503'];
const AGAIN = 5;

/** Every hostile body in turn, signed, so that it is taken in; again where it was shed. */
async function sendBodies(): Promise<string[]> {
  const wrong: string[] = [];
  for (const hostile of HOSTILE_BODIES) {
    const post = { body: hostile.body, headers: { 'x-gitea-signature': sign(hostile.body), ...hostile.headers } };
    let status = await poster.post(post);
    for (let again = 0; again < AGAIN && SHED.includes(String(status)); again += 1) status = await poster.post(post);
    if (status !== hostile.status) wrong.push(`${hostile.name}: ${status} instead of ${hostile.status}`);
  }
  return wrong;
}

describe('e2e/hostile: bodies and sockets beside good traffic', () => {
  beforeAll(async () => {
    requireBuild();
    place = aReceiverPlace();
    bot = await startBot(place);
    poster = new Poster(bot.url, 4);
    sockets = new HostileSockets(bot.url);
  });

  afterAll(async () => {
    poster.close();
    sockets.close();
    good.closeStdin();
    await good.end('SIGKILL');
    await bot.kill();
    place.remove();
  });

  it('answers every good delivery, and ends every hostile connection', async () => {
    good = new Child(
      [
        join(ROOT, 'test/e2e/hostile/good-traffic.mjs'),
        `${bot.url}/webhooks/acme`,
        String(RATE),
        JSON.stringify(sampleBody('push')),
        SECRET,
      ],
      {},
      place.dir,
      'pipe',
    );
    const watch = new Watch();
    await watch.start(bot);
    const wrong: string[] = [];

    for (let round = 0; round < ROUNDS; round += 1) {
      sockets.drip(DRIPPING);
      sockets.idle(IDLE);
      const raw = Promise.all(RAW_REQUESTS.map((request) => sockets.send(request)));
      wrong.push(...(await sendBodies()));
      await sockets.vanish(40);
      await raw;
      tell(
        `round ${round + 1} of ${ROUNDS}: every raw request has its end, ${sockets.count} connections left open to the bot's limits`,
      );
    }
    // Nobody may keep a connection for ever: the limits of the server end the last ones.
    await until(() => sockets.count === 0);
    good.closeStdin();
    expect(await good.ended).toEqual({ code: 0, signal: null });
    const result = JSON.parse(good.stdout) as GoodResult;
    const growth = watch.stop();
    good202 = result.answers[202] ?? 0;
    goodShed = result.sent - good202;

    tell(
      `${result.sent} good deliveries at ${RATE}/s (${result.leftOut} more left out, ${goodShed} shed): p50 ${result.p50} ms, p99 ${result.p99} ms, max ${result.max} ms; longest stall ${Math.round(watch.stallMs)} ms, RSS grew by ${Math.round(growth)} MB`,
    );
    tell(
      `${ROUNDS * HOSTILE_BODIES.length} hostile bodies, ${ROUNDS * RAW_REQUESTS.length} raw requests (${Object.entries(
        sockets.answers,
      )
        .map(([status, times]) => `${times} x ${status}`)
        .join(', ')}), ${sockets.closedByBot} connections`,
    );
    expect(bot.child.isAlive).toBe(true);
    expect(wrong).toEqual([]);
    expect(Object.keys(sockets.answers).filter((status) => status.startsWith('5') && !SHED.includes(status))).toEqual(
      [],
    );
    expect(result.failures).toEqual({});
    expect(Object.keys(result.answers).filter((status) => status !== '202' && !SHED.includes(status))).toEqual([]);
    expect(Object.values(result.answers).reduce((sum, times) => sum + times, 0)).toBe(result.sent);
    expect(good202).toBeGreaterThan(RATE * 10);
    expect(HOSTILE_BODIES.length + RAW_REQUESTS.length).toBeGreaterThanOrEqual(120);
  });

  it('has stored each good delivery once, and makes its events, which wait for the forge that is away; hostile ones make none', async () => {
    await until(async () => (await readMetrics(bot)).get('forgehand_backlog{what="arrivals"}') === 0);
    expect(await bot.stop()).toEqual({ code: 0, signal: null });

    const stores = await openStores({ kind: 'embedded', dir: join(place.dir, 'data') });
    const [{ good: stored, undecided, events } = { good: -1, undecided: -1, events: -1 }] = (await stores.dataSource
      .query(`
      SELECT count(*) FILTER (WHERE delivery_id <> 'x' AND delivery_id <> 'raw')::int AS good, count(*) FILTER (WHERE state = 'stored')::int AS undecided,
             (SELECT count(*) FROM events WHERE decided_at IS NULL AND repo_id IS NOT NULL)::int AS events FROM arrivals`)) as [
      { good: number; undecided: number; events: number },
    ];
    const setAside = (await stores.dataSource.query(
      `SELECT code, bool_or(event_id IS NOT NULL) AS told FROM arrivals WHERE state = 'quarantined' AND delivery_id = 'x' GROUP BY text_hash, code ORDER BY code`,
    )) as unknown[];
    await stores.close();
    const codes = HOSTILE_BODIES.flatMap(({ code }) => code ?? []).sort();
    expect(setAside).toEqual(codes.map((code) => ({ code, told: false })));

    expect(undecided).toBe(0);
    expect(stored).toBeGreaterThanOrEqual(good202);
    expect(stored).toBeLessThanOrEqual(good202 + goodShed);
    expect(events).toBeGreaterThanOrEqual(stored);
    expect(bot.child.stderr).toBe('');
  });
});
