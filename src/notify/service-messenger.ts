import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { ServiceError, serviceReason } from '../core/errors.js';
import { Messenger, SEND_MESSAGE, type Message, type SendOptions } from '../core/message.js';
import { FORMATS } from './formats.js';
import { NotPosted, post, type PostReply } from './post.js';

/** Sends a message once, and says what the answer means. */
@Injectable()
export class ServiceMessenger implements Messenger {
  constructor(@Inject(Clock) private readonly clock: Pick<Clock, 'now'>) {}

  async send(message: Message, options: SendOptions): Promise<number> {
    if (message.format === 'mail') {
      // Of what most bots never use nothing is loaded.
      const { sendMail } = await import('./mail.js');
      return sendMail(message, options, this.clock.now());
    }
    const { addresses, signal, beforeSend } = options;
    const address = message.to.reveal();
    const { host } = new URL(address);
    const { path = '', ...posting } = FORMATS[message.format](message, this.clock.now());
    const url = address.replace(/\/*$/, '') + path;
    await beforeSend?.();
    const reply = await post({ url, ...posting, addresses, signal }).catch((error: unknown) =>
      Promise.reject(error instanceof NotPosted ? withoutAnswer(error, host) : error),
    );
    const refusal = refusalIn(reply, host);
    if (refusal) throw refusal;
    return 0;
  }
}

function withoutAnswer({ reached, note }: NotPosted, host: string): ServiceError {
  const facts = { operation: SEND_MESSAGE, detail: note };
  if (reached) return new ServiceError('unknown', serviceReason('service.no-answer', { host, status: null }), facts);
  const reason = note === 'stopped' ? serviceReason('service.stopped') : serviceReason('service.away', { host, note });
  return new ServiceError('not-sent', reason, facts);
}

/** As Slack (`channel_not_found`) and Matrix (`{"errcode":"M_FORBIDDEN"…`) say why they refuse. */
const CODE = /^(?:\{\s*"errcode"\s*:\s*")?([a-z_]{2,40}$|M_[A-Z_]{2,40}(?="))/;

/** Null = the service took it. A fault of the service's own may come after it took the message. */
function refusalIn({ status, headers, beginning }: PostReply, host: string): ServiceError | null {
  if (status >= 200 && status < 300) return null;
  const facts = { operation: SEND_MESSAGE, status };
  if (status === 429) {
    const [, waitMs] = /"retry_after_ms"\s*:\s*(\d{1,9})/.exec(beginning) ?? [];
    const retryAfterS = waitMs === undefined ? Number(headers['retry-after']) : Number(waitMs) / 1000;
    return new ServiceError('rate-limited', serviceReason('service.rate-limited', { host }), {
      ...facts,
      ...(retryAfterS >= 0 ? { retryAfterS } : {}),
    });
  }
  if (status >= 300 && status < 400)
    return new ServiceError('refused', serviceReason('service.redirect', { host, status }), facts);
  if (status >= 400 && status < 500 && status !== 408) {
    // Of what it says only a code is kept: a text may hold anything, the address too.
    const [, word = null] = CODE.exec(beginning.trim()) ?? [];
    return new ServiceError('refused', serviceReason('service.refused', { host, status, word }), facts);
  }
  return new ServiceError('unknown', serviceReason('service.no-answer', { host, status }), facts);
}
