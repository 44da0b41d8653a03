import { createHmac, randomUUID } from 'node:crypto';
import type { TestBot } from './a-bot.js';

interface Signed {
  readonly type: string;
  /** The family of the type; default: the type. */
  readonly event?: string;
  readonly body: object;
  readonly secret: string;
}

/** What whoever holds the secret of the hook `acme` can send. @throws Error when it is not taken */
export async function deliverSigned(bot: TestBot, { type, event = type, body, secret }: Signed): Promise<void> {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'x-gitea-event': event,
    'x-gitea-event-type': type,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-signature': createHmac('sha256', secret).update(text).digest('hex'),
  };
  const answer = await fetch(`${bot.url}/webhooks/acme`, { method: 'POST', headers, body: text });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
}
