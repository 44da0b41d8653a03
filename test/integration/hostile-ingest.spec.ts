import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { HOSTILE_BODIES, type HostileBody } from '../builders/hostile-bodies.js';
import { SAMPLE_BODIES, sampleBody } from '../builders/sample-bodies.js';
import type { EmbeddedBot } from '../recordings-tool/embedded-bot.js';
import { startEmbeddedBot } from '../recordings-tool/embedded-bot.js';
import { given } from '../builders/given.js';
import { KeptConnections } from '../services/kept-connections.js';

const FORGED = 20_000;
const REPLAYED = 200;
const TIMES = 10;
const MOST_TRIES = 5;
const AT_ONCE = 16;

const SECRET = 'a secret';
const sign = (text: string | Buffer, secret = SECRET, algorithm = 'sha256'): string =>
  createHmac(algorithm, secret).update(text).digest('hex');

let bot: EmbeddedBot;
const connections = new KeptConnections(AT_ONCE);

async function post(body: string | Buffer, headers: Record<string, string>, hook = 'acme'): Promise<number> {
  const base = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
    'x-gitea-delivery': 'x',
  };
  const url = `http://127.0.0.1:${bot.port}/webhooks/${hook}`;
  return (await connections.post(url, { ...base, ...headers }, body)).status;
}

/**
 * Asks again where the answer is lost: a refused body that is large ends its connection with the answer, while a client may still write. So does
 * the door's deadline of 15 seconds (408), within which this process, client and bot in one, may not come to write 4 MB beside other work.
 */
async function answerTo({ body, headers }: HostileBody): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      const status = await post(body, { 'x-gitea-signature': sign(body), ...headers });
      if (status !== 408 || tries === MOST_TRIES) return status;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
  }
}

/** Do something for each number below `count`, so many at once. */
async function forEachOf(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

const stored = async (): Promise<number> => (await bot.inbox.list({ limit: 10_000 })).length;
const numbered = (n: number): string => JSON.stringify({ ...sampleBody('push'), n });

describe('integration/hostile-ingest', () => {
  beforeAll(async () => {
    bot = await startEmbeddedBot([
      { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] },
      { id: 'again', org: 'acme', forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] },
      { id: 'other', org: 'acme', forge: 'main', secrets: [new Secret('another secret')], authorizations: [] },
    ]);
  });

  afterAll(async () => {
    connections.close();
    await bot.close();
  });

  it(`takes none of ${FORGED} forged deliveries`, async () => {
    const body = numbered(-1);
    const good = sign(body);
    const forgeries: Array<(n: number) => { headers: Record<string, string>; hook?: string; body?: string }> = [
      () => ({ headers: {} }),
      () => ({ headers: { 'x-gitea-signature': '' } }),
      (n) => ({ headers: { 'x-gitea-signature': sign(body, `guess ${n}`) } }),
      (n) => ({ headers: { 'x-gitea-signature': sign(String(n)) } }),
      (n) => ({ headers: { 'x-gitea-signature': good.slice(0, n % 64) } }),
      (n) => ({ headers: { 'x-gitea-signature': good + n.toString(16) } }),
      (n) => ({
        headers: {
          'x-gitea-signature': good.slice(0, n % 64) + (good[n % 64] === 'f' ? 'e' : 'f') + good.slice((n % 64) + 1),
        },
      }),
      () => ({ headers: { 'x-gitea-signature': good.toUpperCase() } }),
      () => ({ headers: { 'x-gitea-signature': `sha256=${good}` } }),
      () => ({ headers: { 'x-hub-signature-256': good } }),
      () => ({ headers: { 'x-hub-signature': `sha1=${sign(body, SECRET, 'sha1')}` } }),
      () => ({ headers: { 'x-hub-signature': `sha256=${good}` } }),
      () => ({ headers: { 'x-gitea-signature': `${good}, ${good}` } }),
      () => ({ headers: { 'x-gitea-signature': good }, hook: 'other' }),
      (n) => ({ headers: { 'x-gitea-signature': good }, body: numbered(n) }),
      () => ({ headers: { authorization: SECRET, 'x-gitea-signature': sign(body, '') } }),
      () => ({ headers: { authorization: `Bearer ${SECRET}` } }),
      () => ({ headers: { 'x-forgejo-signature': Buffer.from(good, 'hex').toString('base64') } }),
      (n) => ({ headers: { 'x-gogs-signature': String.fromCharCode(0x80 + (n % 0x7f)).repeat(64) } }),
      () => ({ headers: { 'x-gitea-signature': good }, body: `${body} ` }),
    ];
    const answers = new Map<number, number>();

    await forEachOf(FORGED, async (n) => {
      const forged = given(forgeries[n % forgeries.length])(n);
      const status = await post(forged.body ?? body, forged.headers, forged.hook);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    });

    expect([...answers]).toEqual([[401, FORGED]]);
    expect(await stored()).toBe(0);
  });

  it(`makes ${REPLAYED} events of ${REPLAYED} bodies sent ${TIMES} times each, under other ids and hooks`, async () => {
    const answers = new Map<number, number>();

    await forEachOf(REPLAYED * TIMES, async (n) => {
      const body = numbered(n % REPLAYED);
      const status = await post(
        body,
        { 'x-gitea-signature': sign(body), 'x-gitea-delivery': `id-${n}` },
        n % 2 === 0 ? 'acme' : 'again',
      );
      answers.set(status, (answers.get(status) ?? 0) + 1);
    });
    await bot.decideAll();

    expect(Object.fromEntries(answers)).toEqual({ 202: REPLAYED * TIMES });
    expect(await stored()).toBe(REPLAYED);
    expect(await bot.inbox.undecidedEvents(10_000)).toHaveLength(REPLAYED);
  });

  it('makes no event of a signed body under the name of another event, and keeps each text once', async () => {
    const before = await stored();
    const types = Object.keys(SAMPLE_BODIES);
    const pairs = types.flatMap((eventType) =>
      types.filter((other) => other !== eventType).map((other) => ({ eventType, other })),
    );

    await forEachOf(pairs.length, async (n) => {
      const { eventType, other } = given(pairs[n]);
      const body = JSON.stringify(sampleBody(other));
      const status = await post(body, {
        'x-gitea-signature': sign(body),
        'x-gitea-event': eventType,
        'x-gitea-event-type': eventType,
      });
      if (status !== 202) throw new Error(`${other} as ${eventType} was answered ${status}`);
    });

    await bot.decideAll();

    const kept = (await bot.inbox.list({ limit: 10_000 })).slice(0, types.length);
    expect(kept.map(({ state, code }) => `${state} ${code}`)).toEqual(types.map(() => 'quarantined misfit'));
    expect(await stored()).toBe(before + types.length);
    expect(await bot.inbox.undecidedEvents(10_000)).toHaveLength(REPLAYED);
  });

  it('answers every hostile body as it should while good ones go through, and sets aside what is no delivery', async () => {
    const wrong: string[] = [];
    const before = new Set((await bot.inbox.list({ limit: 10_000 })).map(({ id }) => id));

    await forEachOf(HOSTILE_BODIES.length * 3, async (n) => {
      const hostile = given(HOSTILE_BODIES[n % HOSTILE_BODIES.length]);
      const good = numbered(100_000 + n);
      const [status, ok] = await Promise.all([answerTo(hostile), post(good, { 'x-gitea-signature': sign(good) })]);
      if (status !== hostile.status) wrong.push(`${hostile.name}: ${status} instead of ${hostile.status}`);
      if (ok !== 202) wrong.push(`beside ${hostile.name}: a good delivery was answered ${ok}`);
    });
    await bot.decideAll();

    expect(wrong).toEqual([]);
    expect(HOSTILE_BODIES.length).toBeGreaterThanOrEqual(60);
    const kept = (await bot.inbox.list({ limit: 10_000 })).filter(({ id }) => !before.has(id));
    expect(kept.filter(({ state }) => state === 'stored')).toEqual([]);
    const setAside = kept.filter(({ state }) => state === 'quarantined');
    expect(setAside.map(({ code, eventIds }) => [code, ...eventIds]).sort()).toEqual(
      HOSTILE_BODIES.flatMap(({ code }) => (code === null ? [] : [[code]])).sort(),
    );
    expect(setAside.every(({ repeats }) => repeats === 2)).toBe(true);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});
