import type { JsonObject } from './json.js';
import type { Secret } from './secret.js';

/** How a message is written for the service that takes it. */
export const MESSAGE_FORMATS = ['slack', 'webhook', 'matrix', 'mail'] as const;
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** A mail server that takes the bot's messages. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; false = STARTTLS. */
  readonly secure: boolean;
  /** Whether a message may go without TLS where the server offers none. */
  readonly allowsPlain: boolean;
  /** Address that the messages come from. */
  readonly from: string;
  /** Null = it asks for no password. */
  readonly login: { readonly user: string; readonly password: Secret } | null;
  /** Path of the certificate of a private authority, PEM; null = those that the machine trusts. */
  readonly caFile: string | null;
}

/** The mail server of an organization, and who may get mail: domains and addresses. */
export interface MailSettings extends MailServer {
  readonly recipients: readonly string[];
}

/** A mail has so many recipients at most. */
export const MOST_RECIPIENTS = 20;

/** One message to one place outside of the forge. */
export interface Message {
  readonly format: MessageFormat;
  /** Address of the place: whoever knows it may write there. Of mail: the addresses of its recipients, with commas or spaces between them. */
  readonly to: Secret;
  /** Signs a webhook, or is the access token of an account of Matrix; null = the address alone is enough. */
  readonly credential: Secret | null;
  /** What takes a mail; null in the other formats. */
  readonly server: MailServer | null;
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
   * @returns so many recipients the service refused while it took the message for others: always 0 but with mail
   * @throws ServiceError; `unknown` where the service may have taken it
   */
  abstract send(message: Message, options: SendOptions): Promise<number>;
}
