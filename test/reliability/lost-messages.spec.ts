import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../src/core/seeded-random.js';
import { Secret } from '../../src/core/secret.js';
import { ServiceMessenger } from '../../src/notify/service-messenger.js';
import { EffectRig } from '../builders/effect-rig.js';
import { startScriptedServer, type ScriptedServer } from '../fakes/scripted-server.js';
import { startSmtpServer } from '../fakes/smtp-server.js';

/** What a service does with the first try of a message: it takes it and loses the answer, loses the message, or asks to wait. */
const ANSWERS = ['ok', 'ok', 'taken, cut', 'taken, 502', 'cut', '429'] as const;
const MESSAGES = 60;

describe('reliability/lost-messages', () => {
  let chat: ScriptedServer;
  const random = seededRandom(7);
  /** Texts that the service keeps, as often as it took them; one of Matrix once for each transaction. */
  const taken = new Map<string, number>();
  const lost = new Set<string>();
  const tried = new Set<string>();
  const transactions = new Set<string>();

  beforeAll(async () => {
    chat = await startScriptedServer(({ method, url, body }, reply, socket) => {
      const [text = ''] = /message \d+/.exec(body) ?? [];
      const answer = tried.has(text) ? 'ok' : random.pick(ANSWERS);
      tried.add(text);
      if (answer === '429') return void reply.writeHead(429, { 'retry-after': '1' }).end();
      if (answer !== 'ok') lost.add(text);
      const isKnown = method === 'PUT' && transactions.has(url);
      if (answer !== 'cut' && !isKnown) taken.set(text, (taken.get(text) ?? 0) + 1);
      if (answer !== 'cut') transactions.add(url);
      if (answer.endsWith('cut')) return void socket.destroy();
      reply.writeHead(answer === 'ok' ? 200 : 502).end();
    });
  });
  afterAll(() => chat.close());

  it.each(['slack', 'webhook', 'matrix'])('sends each of %s at most once, and all end as done', async (format) => {
    for (const memory of [taken, lost, tried, transactions]) memory.clear();
    const rig = new EffectRig();
    rig.settings.notifyHosts.push(chat.url);
    Object.assign(rig.settings.secrets, { chat: new Secret(`${chat.url}/hooks/x`), key: new Secret('key') });
    const bot = rig.processOf({ messenger: new ServiceMessenger(rig.clock) });
    const credential = format === 'slack' ? {} : { credential: { $secret: 'key' } };
    const ids: string[] = [];
    for (let n = 0; n < MESSAGES; n += 1)
      ids.push(await rig.plan('notify', { to: { $secret: 'chat' }, format, text: `message ${n};`, ...credential }));

    for (let round = 0; round < 3; round += 1) {
      for (const id of ids) await rig.attempt(id, bot);
      rig.clock.advance(900_000);
      await rig.unknown.pass(MESSAGES);
    }
    const ends = await Promise.all(ids.map((id) => rig.journal.intent(id)));

    expect([...new Set(ends.map((intent) => intent?.state))]).toEqual(['done']);
    expect([...taken.values()].filter((times) => times > 1)).toEqual([]);
    expect(lost.size).toBeGreaterThan(10);
    if (format === 'matrix') expect([taken.size, rig.unconfirmed.length]).toEqual([MESSAGES, 0]);
    else expect(rig.unconfirmed.length).toBe(lost.size);
  });

  it('sends each mail at most once, and all end as done', async () => {
    const file = (name: string): Buffer => readFileSync(`test/fixtures/tls/${name}`);
    const smtp = await startSmtpServer({ cert: file('good.pem'), key: file('good.key') });
    const rig = new EffectRig();
    rig.settings.notifyHosts.push(`127.0.0.1:${smtp.port}`);
    const server = { host: '127.0.0.1', port: smtp.port, secure: false, allowsPlain: false };
    Object.assign(rig.settings, {
      mail: {
        ...server,
        from: 'bot@example.org',
        login: null,
        caFile: 'test/fixtures/tls/ca.pem',
        recipients: ['example.org'],
      },
    });
    Object.assign(rig.settings.secrets, { people: new Secret('ann@example.org') });
    const bot = rig.processOf({ messenger: new ServiceMessenger(rig.clock) });
    const ids: string[] = [];
    let lostMails = 0;

    for (let n = 0; n < MESSAGES; n += 1) {
      const id = await rig.plan('notify', { to: { $secret: 'people' }, format: 'mail', text: `message ${n};` });
      // Taken and lost, lost, or turned away before the text was sent.
      const fault = random.pick(['none', 'none', 'taken', 'text', 'sender'] as const);
      if (fault === 'taken' || fault === 'text') lostMails += 1;
      smtp.keeps = fault === 'taken';
      if (fault !== 'none')
        smtp.faults.set(fault === 'sender' ? 'MAIL' : 'TEXT', fault === 'sender' ? '451 later' : 'cut');
      await rig.attempt(id, bot);
      smtp.faults.clear();
      ids.push(id);
    }
    for (let round = 0; round < 3; round += 1) {
      rig.clock.advance(900_000);
      await rig.unknown.pass(MESSAGES);
      for (const id of ids) await rig.attempt(id, bot);
    }
    await smtp.close();
    const ends = await Promise.all(ids.map((id) => rig.journal.intent(id)));
    const texts = smtp.taken.map(({ text }) => /message \d+;/.exec(text)?.[0]);

    expect([...new Set(ends.map((intent) => intent?.state))]).toEqual(['done']);
    expect(new Set(texts).size).toBe(texts.length);
    expect(lostMails).toBeGreaterThan(10);
    expect(rig.unconfirmed.length).toBe(lostMails);
  });
});
