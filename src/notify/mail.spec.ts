import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startSmtpServer, type SmtpFault, type SmtpServer } from '../../test/fakes/smtp-server.js';
import { ServiceError } from '../core/errors.js';
import type { MailServer, Message, SendOptions } from '../core/message.js';
import { Secret } from '../core/secret.js';
import { sendMail } from './mail.js';

const TLS = 'test/fixtures/tls';
const certificate = (name: string): { cert: Buffer; key: Buffer } => ({
  cert: readFileSync(`${TLS}/${name}.pem`),
  key: readFileSync(`${TLS}/${name}.key`),
});
const NOW = new Date('2026-11-28T22:00:00Z');
const ANN = 'ann@example.org';
const BOB = 'bob@example.org';

describe('notify/mail', () => {
  let smtp: SmtpServer;
  let secure: SmtpServer;
  let untrusted: SmtpServer;

  beforeAll(async () => {
    [smtp, secure, untrusted] = await Promise.all([
      startSmtpServer(certificate('good')),
      startSmtpServer(certificate('good'), true),
      startSmtpServer(certificate('self-signed')),
    ]);
  });
  beforeEach(() => {
    for (const one of [smtp, secure, untrusted]) {
      one.taken.length = one.commands.length = 0;
      one.faults.clear();
      Object.assign(one, { keeps: true, offersTls: true });
    }
  });
  afterAll(() => Promise.all([smtp, secure, untrusted].map((one) => one.close())));

  const message = (over: Partial<Message> = {}, server: Partial<MailServer> = {}): Message => ({
    format: 'mail',
    to: new Secret(`${ANN}, ${BOB}`),
    credential: null,
    server: {
      host: '127.0.0.1',
      port: smtp.port,
      secure: false,
      allowsPlain: false,
      from: 'bot@forge.example',
      login: null,
      caFile: `${TLS}/ca.pem`,
      ...server,
    },
    text: 'main is red',
    key: 'ab'.repeat(32),
    facts: { org: 'acme' },
    ...over,
  });
  const send = (one: Message = message(), options: Partial<SendOptions> = {}): Promise<number> =>
    sendMail(one, { addresses: null, ...options }, NOW);
  const failure = async (one?: Message, options?: Partial<SendOptions>): Promise<ServiceError> => {
    const error: unknown = await send(one, options).catch((thrown: unknown) => thrown);
    if (!(error instanceof ServiceError)) throw new Error(`no failure: ${String(error)}`);
    expect(JSON.stringify([error.message, error.reason, error.facts, error.context])).not.toMatch(/canary|ann@/);
    return error;
  };
  const headersOf = ({ text }: { text: string }): string[] =>
    (text.split('\r\n\r\n', 1)[0] ?? '').replace(/\r\n[ \t]+/g, ' ').split('\r\n');

  it('sends one mail to all recipients, over STARTTLS, with the same Message-ID in each try', async () => {
    expect(await send()).toBe(0);
    await send();

    expect(smtp.taken.map(({ to, secure: isSecure }) => [to, isSecure])).toEqual([
      [[ANN, BOB], true],
      [[ANN, BOB], true],
    ]);
    const [first, second] = smtp.taken.map(headersOf);
    expect(first).toEqual(expect.arrayContaining(['Subject: main is red', 'Auto-Submitted: auto-generated']));
    expect(first).toContain(`Message-ID: <${'ab'.repeat(32)}@forge.example>`);
    expect(first?.find((line) => line.startsWith('Message-ID'))).toBe(
      second?.find((line) => line.startsWith('Message-ID')),
    );
  });

  it('speaks TLS from the first byte where the operator says so, and logs in', async () => {
    const login = { user: 'bot', password: new Secret('canary-pass') };

    await send(message({}, { port: secure.port, secure: true, login }));

    expect(secure.commands).toContain(`AUTH PLAIN ${Buffer.from('\0bot\0canary-pass').toString('base64')}`);
    expect(secure.taken.length).toBe(1);
  });

  it.each([
    ['a line end', 'red\r\nBcc: eve@evil.example\r\n\r\nhello', 'Subject: red'],
    ['a lone line feed', 'red\nBcc: eve@evil.example', 'Subject: red'],
    ['a lone carriage return', 'red\rBcc: eve@evil.example', 'Subject: red Bcc: eve@evil.example'],
    ['other control characters', 'red\u0000\u000bBcc: x', 'Subject: red Bcc: x'],
  ])('makes no header and no recipient of %s in the text', async (_, text, subject) => {
    await send(message({ text }));

    const headers = smtp.taken.map(headersOf)[0] ?? [];
    expect(headers).toContain(subject);
    expect(headers.filter((line) => /^(bcc|cc)/i.test(line))).toEqual([]);
    expect(smtp.commands.filter((line) => line.startsWith('RCPT'))).toHaveLength(2);
  });

  it('ends no text early: a line with a dot alone is text', async () => {
    await send(message({ text: 'a\r\n.\r\nMAIL FROM:<eve@evil.example>' }));

    expect(smtp.taken.length).toBe(1);
    expect(smtp.taken[0]?.text).toContain('\r\n..\r\nMAIL FROM');
  });

  it.each<[string, boolean]>([
    ['keeps it', true],
    ['loses it', false],
  ])('does not know what came of a text whose answer is lost (the server %s)', async (_, keeps) => {
    smtp.faults.set('TEXT', 'cut');
    smtp.keeps = keeps;

    expect(await failure()).toMatchObject({ kind: 'unknown', reason: { code: 'service.no-answer' } });
    expect(smtp.taken.length).toBe(keeps ? 1 : 0);
  });

  it.each<[string, SmtpFault, string, string]>([
    ['CONNECT', 'cut', 'not-sent', 'service.away'],
    ['CONNECT', '554 canary', 'refused', 'service.refused'],
    ['STARTTLS', 'cut', 'not-sent', 'service.away'],
    ['STARTTLS', '454 canary', 'refused', 'service.no-tls'],
    ['AUTH', '535 canary', 'refused', 'service.refused'],
    ['MAIL', '451 canary', 'not-sent', 'service.not-now'],
    ['MAIL', 'cut', 'not-sent', 'service.away'],
    [`RCPT <${BOB}>`, 'cut', 'not-sent', 'service.away'],
    ['DATA', '552 canary', 'refused', 'service.refused'],
    ['DATA', 'cut', 'not-sent', 'service.away'],
    ['TEXT', '554 canary spam', 'refused', 'service.refused'],
    ['TEXT', '451 canary later', 'not-sent', 'service.not-now'],
  ])('%s answered with %s => %s, %s', async (command, fault, kind, code) => {
    smtp.faults.set(command, fault);
    const login = { user: 'bot', password: new Secret('canary-pass') };

    expect(await failure(message({}, { login }))).toMatchObject({ kind, reason: { code } });
  });

  it('says how many recipients the server refused, and sends to the others', async () => {
    smtp.faults.set(`RCPT <${ANN}>`, '550 nobody');

    expect(await send()).toBe(1);
    expect(smtp.taken.map(({ to }) => to)).toEqual([[BOB]]);

    smtp.faults.set(`RCPT <${BOB}>`, '550 nobody');
    expect((await failure()).kind).toBe('refused');
    expect(smtp.taken.length).toBe(1);
  });

  describe('without TLS', () => {
    it('says no password and no text where STARTTLS is not offered', async () => {
      smtp.offersTls = false;
      const login = { user: 'bot', password: new Secret('canary-pass') };

      expect(await failure(message({}, { login }))).toMatchObject({
        kind: 'refused',
        reason: { code: 'service.no-tls' },
      });
      expect(smtp.commands.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([]);
    });

    it('goes on where the operator allows it', async () => {
      smtp.offersTls = false;

      await send(message({}, { allowsPlain: true }));

      expect(smtp.taken.map((one) => one.secure)).toEqual([false]);
    });

    it.each([true, false])('takes no certificate that nobody vouches for (plain allowed: %s)', async (allowsPlain) => {
      expect((await failure(message({}, { port: untrusted.port, allowsPlain }))).kind).toBe('not-sent');
      expect(untrusted.taken).toEqual([]);
    });
  });

  it('connects to the address that was looked at, and checks the certificate against the name', async () => {
    const server = { host: 'mail.elsewhere.example' };

    expect((await failure(message({}, server), { addresses: ['127.0.0.1'] })).kind).toBe('not-sent');
    expect(smtp.commands).toContain('STARTTLS');
    expect(smtp.taken).toEqual([]);
    expect(await failure(message({}, server), { addresses: [] })).toMatchObject({ kind: 'not-sent' });
  });

  it('sends nothing where what comes before the call says no, where the process stops, or without the authority', async () => {
    const no = new Error('no');

    await expect(send(message(), { beforeSend: () => Promise.reject(no) })).rejects.toBe(no);
    expect((await failure(message(), { signal: AbortSignal.abort() })).facts.detail).toBe('stopped');
    expect((await failure(message({}, { caFile: '/nowhere/ca.pem' }))).kind).toBe('not-sent');
    expect(smtp.commands).toEqual([]);
  });

  it('is ended while the server stands still', async () => {
    const ending = new AbortController();
    smtp.faults.set('MAIL', '250-wait');
    const sending = failure(message(), { signal: ending.signal });
    const isAsked = (): boolean => smtp.commands.some((line) => line.startsWith('MAIL'));
    while (!isAsked()) await new Promise((resolve) => setImmediate(resolve));

    ending.abort();

    expect((await sending).kind).toBe('not-sent');
  });
});
