import type { JsonObject } from './json.js';
import type { Secret } from './secret.js';

/** How a message is written for the service that takes it. */
export const MESSAGE_FORMATS = ['slack', 'webhook', 'matrix'] as const;
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** One message to one place outside of the forge. */
export interface Message {
  readonly format: MessageFormat;
  /** Address of the place: whoever knows it may write there. */
  readonly to: Secret;
  /** Signs a webhook, or is the access token of an account of Matrix; null = the address alone is enough. */
  readonly credential: Secret | null;
  readonly text: string;
  /** Names the message, in each try alike. */
  readonly key: string;
  /** What a program that takes the webhook reads beside the text. */
  readonly facts: JsonObject;
}

export interface SendOptions {
  /** Addresses of the host that may be connected to; null = as the name resolves. */
  readonly addresses: readonly string[] | null;
  /** Ends the call at once. */
  readonly signal?: AbortSignal | undefined;
  /** Called right before the request is made; what it throws ends the call unsent and is passed on as it is. */
  readonly beforeSend?: (() => void | Promise<void>) | undefined;
}

/** The name of the call in the journal, beside the operations of the forge. */
export const SEND_MESSAGE = 'sendMessage';

export abstract class Messenger {
  /**
   * Sends it once. No redirect is followed.
   * @throws ServiceError; `unknown` where the service may have taken it
   */
  abstract send(message: Message, options: SendOptions): Promise<void>;
}
