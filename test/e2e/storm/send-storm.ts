import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import type { StormBody } from './storm-bodies.js';

export interface Acknowledged {
  readonly status: 200 | 202;
  /** Id of the row, as answered. */
  readonly id: string;
}

export interface StormOptions {
  readonly bodies: readonly StormBody[];
  readonly secret: string;
  readonly atOnce: number;
  /** Where the receiver listens; waits while none is up. */
  readonly receiver: () => Promise<string>;
  /** Told after each acknowledgement how many there are now. */
  readonly onAcknowledged: (count: number) => void;
}

export interface StormResult {
  readonly acknowledged: ReadonlyMap<number, Acknowledged>;
  /** Tries that got no acknowledgement: refused, cut off, or told to come again. */
  readonly unanswered: number;
  /** Answers that were neither an acknowledgement nor "come again". */
  readonly odd: readonly string[];
}

/**
 * Deliver every body until it is acknowledged, so many at once. A body that was not acknowledged is sent again, under the same id or a
 * new one in turn: the sender cannot know whether it was stored.
 */
export async function sendStorm({ bodies, secret, atOnce, receiver, onAcknowledged }: StormOptions): Promise<StormResult> {
  const agent = new Agent({ connections: atOnce, headersTimeout: 15_000, bodyTimeout: 15_000 });
  const acknowledged = new Map<number, Acknowledged>();
  const odd: string[] = [];
  let unanswered = 0;
  let next = 0;

  const deliver = async (body: StormBody): Promise<void> => {
    const signature = createHmac('sha256', secret).update(body.text).digest('hex');
    const id = randomUUID();
    for (let tries = 0; ; tries += 1) {
      const url = await receiver();
      try {
        const answer = await request(`${url}/webhooks/acme`, {
          method: 'POST',
          dispatcher: agent,
          body: body.text,
          headers: {
            'content-type': 'application/json',
            'x-gitea-event': body.eventType,
            'x-gitea-event-type': body.eventType,
            'x-gitea-signature': signature,
            'x-gitea-delivery': tries % 2 === 0 ? id : randomUUID(),
          },
        });
        const text = await answer.body.text();
        const { statusCode: status } = answer;
        if (status === 200 || status === 202) {
          acknowledged.set(body.n, { status, id: (JSON.parse(text) as { id: string }).id });
          onAcknowledged(acknowledged.size);
          return;
        }
        if (status !== 503 && status !== 429) odd.push(`${body.n}: ${status} ${text}`);
        if (odd.length > 20) throw new Error(`the receiver answers oddly: ${odd[0]}`);
      } catch (error) {
        if (odd.length > 20) throw error;
      }
      unanswered += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const sender = async (): Promise<void> => {
    while (next < bodies.length) await deliver(bodies[next++] as StormBody);
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, sender));
  } finally {
    await agent.destroy();
  }
  return { acknowledged, unanswered, odd };
}
