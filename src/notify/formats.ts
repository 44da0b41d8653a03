import { createHmac } from 'node:crypto';
import { stringifyJson } from '../core/json.js';
import type { Message, MessageFormat } from '../core/message.js';
import type { Secret } from '../core/secret.js';

/** What is posted for a message. */
export interface Posting {
  /** Default: POST. */
  readonly method?: 'PUT';
  /** What is put behind the address. Default: nothing. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Format = (message: Pick<Message, 'text' | 'credential' | 'key' | 'facts'>, now: Date) => Posting;

export const FORMATS: Readonly<Record<Exclude<MessageFormat, 'mail'>, Format>> = {
  /** Incoming webhooks of Slack, Mattermost and Rocket.Chat, and those of Discord whose address ends in /slack. */
  slack: ({ text }) => ({
    headers: { 'content-type': 'application/json' },
    // No name becomes a mention, and no address is opened for a preview.
    body: stringifyJson({ text: escapeAngles(text), link_names: false, unfurl_links: false, unfurl_media: false }),
  }),
  webhook: ({ text, credential, key, facts }, now) =>
    signed({ type: 'forgehand.message', id: `msg_${key.slice(0, 32)}`, data: { text, ...facts } }, credential, now),
  /** A notice, which other bots do not answer. The homeserver takes each transaction id once. */
  matrix: ({ text, credential, key }) => ({
    method: 'PUT',
    path: `/send/m.room.message/${key}`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${credential?.reveal() ?? ''}` },
    body: stringifyJson({ msgtype: 'm.notice', body: text, 'm.mentions': {} }),
  }),
};

/** Slack's three signs: with them a text mentions people and hides where a link leads. */
function escapeAngles(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/**
 * Signed by the Standard Webhooks scheme (HMAC-SHA256 over `id.timestamp.body`), so that receivers can refuse replays.
 * @param id the same in each try, so that a receiver can drop the second of two
 */
export function signed(
  { type, id, data }: { readonly type: string; readonly id: string; readonly data: object },
  secret: Secret | null,
  now: Date,
): Posting {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const body = stringifyJson({ type, timestamp: now.toISOString(), data });
  const signature = createHmac('sha256', secret?.reveal() ?? '')
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}
