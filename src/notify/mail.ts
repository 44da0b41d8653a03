import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { ServiceError, serviceReason } from '../core/errors.js';
import { isMailAddress, mailAddressesIn } from '../core/mail-address.js';
import { MOST_RECIPIENTS, SEND_MESSAGE, type MailServer, type Message, type SendOptions } from '../core/message.js';
import type { Reason } from '../core/reason.js';
import { shorten } from '../core/shorten.js';

/** From the start to the server's answer to the last line. Servers look for spam before they answer. */
const DEADLINE_MS = 30_000;
const MAX_SUBJECT = 120;

/** What the library says of a failure. */
interface SmtpError extends Error {
  readonly code?: string;
  /** Of the system, where the library has put a code of its own in its place. */
  readonly originalCode?: string;
  /** Status of the server's answer, where one came. */
  readonly responseCode?: number;
  readonly command?: string;
}

/**
 * One mail to all recipients of the message, on a connection of its own. Its Message-ID is the same in each try.
 * @returns as `Messenger.send`
 * @throws ServiceError: `unknown` once a byte of the text was on its way and no answer came
 */
export async function sendMail(message: Message, options: SendOptions, now: Date): Promise<number> {
  const { server } = message;
  const to = mailAddressesIn(message.to.reveal());
  // Whoever plans a message looks at all this before, and says more.
  if (server === null || to.length === 0 || to.length > MOST_RECIPIENTS || !to.every(isMailAddress))
    throw new TypeError('a mail without a server or with unfit recipients');
  if (options.addresses?.length === 0)
    throw failure('not-sent', serviceReason('service.away', { host: server.host, note: 'ENOTFOUND' }));
  const text = await composed(message, server.from, to, now);
  const ca = server.caFile === null ? undefined : await authorityIn(server.caFile, server.host);
  await options.beforeSend?.();
  return new Delivery(server, options, ca).send(to, text);
}

async function authorityIn(file: string, host: string): Promise<Buffer> {
  return readFile(file).catch(({ code = '' }: NodeJS.ErrnoException) => {
    throw failure('not-sent', serviceReason('service.away', { host, note: `ca_file: ${code}` }));
  });
}

/** The whole message as it goes over the wire. Nothing of it names another recipient, attaches a file or reads one. */
function composed({ text, key }: Message, from: string, to: readonly string[], now: Date): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    to: [...to],
    subject: shorten((text.trim().split('\n', 1)[0] ?? '').replace(/[\x00-\x1f\x7f]+/g, ' ').trim(), MAX_SUBJECT),
    text,
    date: now,
    messageId: `<${key.slice(0, 64)}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    // No answers of machines, and no loop with one (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** One connection and the one mail that goes over it. */
class Delivery {
  private readonly connection: SMTPConnection;
  private readonly signal: AbortSignal;
  /** Whether a byte of the text may have reached the server. */
  private isReached = false;

  constructor(
    private readonly server: MailServer,
    { addresses, signal }: SendOptions,
    ca: Buffer | undefined,
  ) {
    const { host, port, secure, allowsPlain } = server;
    this.signal = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(DEADLINE_MS)]);
    this.connection = new SMTPConnection({
      host: addresses?.[0] ?? host,
      port,
      secure,
      requireTLS: !secure && !allowsPlain,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      tls: { rejectUnauthorized: true, ...(ca ? { ca } : {}) },
      connectionTimeout: DEADLINE_MS,
      greetingTimeout: DEADLINE_MS,
      socketTimeout: DEADLINE_MS,
    });
  }

  async send(to: readonly string[], text: Buffer): Promise<number> {
    const { from, login } = this.server;
    const broken = new Promise<never>((_, reject) => {
      this.connection.on('error', reject);
      this.signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
    try {
      this.signal.throwIfAborted();
      return await Promise.race([broken, this.deliver(from, to, login, text)]);
    } catch (error) {
      throw this.meaningOf(error as SmtpError);
    } finally {
      broken.catch(() => undefined);
      this.connection.close();
    }
  }

  private async deliver(
    from: string,
    to: readonly string[],
    login: MailServer['login'],
    text: Buffer,
  ): Promise<number> {
    const { connection } = this;
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())));
    if (login) {
      const credentials = { user: login.user, pass: login.password.reveal() };
      await new Promise<void>((resolve, reject) =>
        connection.login({ credentials }, (error) => (error ? reject(error) : resolve())),
      );
    }
    return new Promise<number>((resolve, reject) =>
      connection.send({ from, to: [...to] }, this.read(text), (error, info) =>
        error ? reject(error) : resolve(info.rejected.length),
      ),
    );
  }

  /** The library begins to read when the server has asked for the text. */
  private read(text: Buffer): Readable {
    const note = (): void => {
      this.isReached = true;
    };
    return new Readable({
      read() {
        note();
        this.push(text);
        this.push(null);
      },
    });
  }

  /** Of what the server says only its status is kept: a text may hold anything. */
  private meaningOf({ code, originalCode, responseCode: status, command }: SmtpError): ServiceError {
    const { host } = this.server;
    // An answer counts where it is one to the text, or where the text was not sent.
    if (status !== undefined && (!this.isReached || command === 'DATA')) {
      if (command === 'STARTTLS' && code === 'ETLS')
        return failure('refused', serviceReason('service.no-tls', { host }), status);
      if (status >= 500)
        return failure('refused', serviceReason('service.refused', { host, status, word: null }), status);
      return failure('not-sent', serviceReason('service.not-now', { host, status }), status);
    }
    if (this.isReached) return failure('unknown', serviceReason('service.no-answer', { host, status: null }));
    if (this.signal.aborted) return failure('not-sent', serviceReason('service.stopped'), undefined, 'stopped');
    return failure('not-sent', serviceReason('service.away', { host, note: originalCode ?? code ?? '' }));
  }
}

function failure(
  kind: 'not-sent' | 'refused' | 'unknown',
  reason: Reason,
  status?: number,
  detail?: string,
): ServiceError {
  return new ServiceError(kind, reason, { operation: SEND_MESSAGE, status, detail });
}
