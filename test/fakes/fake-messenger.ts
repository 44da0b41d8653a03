import { ServiceError, serviceReason, type ForgeErrorKind } from '../../src/core/errors.js';
import { Messenger, SEND_MESSAGE, type Message, type SendOptions } from '../../src/core/message.js';

/** A service that takes messages, in memory. */
export class FakeMessenger implements Messenger {
  readonly taken: Message[] = [];
  /** The hosts' addresses of each call, as the caller found them. */
  readonly addresses: Array<readonly string[] | null> = [];
  /** Of each message that it takes. */
  refusedRecipients = 0;
  private readonly failures: Array<{ kind: ForgeErrorKind; afterEffect: boolean }> = [];

  /** @param afterEffect the message arrives all the same */
  failNext(kind: ForgeErrorKind, afterEffect = false): void {
    this.failures.push({ kind, afterEffect });
  }

  async send(message: Message, { addresses, beforeSend }: SendOptions): Promise<number> {
    await beforeSend?.();
    const failure = this.failures.shift();
    if (!failure || failure.afterEffect) {
      this.taken.push(message);
      this.addresses.push(addresses);
    }
    if (failure)
      throw new ServiceError(failure.kind, serviceReason('service.no-answer', { host: 'chat', status: null }), {
        operation: SEND_MESSAGE,
      });
    return this.refusedRecipients;
  }
}
