import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';

/** What is sent. */
export interface Delivery {
  readonly n: number;
  readonly text: string;
  readonly signature: string;
  /** Default: issues. */
  readonly eventType?: string;
}

export interface Acknowledged {
  readonly at: number;
  readonly tookMs: number;
  readonly id: string;
}

/** Sends deliveries until each is acknowledged: a client that got no whole 2xx does not know, and tries again, in turn under the same id or a new one. */
export class Sender {
  readonly acknowledged = new Map<number, Acknowledged>();
  /** Answers that were neither an acknowledgement nor "come again". */
  readonly odd: string[] = [];
  unanswered = 0;
  private readonly agent = new Agent({ connections: 32, headersTimeout: 10_000, bodyTimeout: 10_000 });

  constructor(
    private readonly receiver: () => Promise<string>,
    private readonly hook = 'acme',
  ) {}

  async deliver(delivery: Delivery, giveUp: () => boolean): Promise<void> {
    const id = randomUUID();
    for (let tries = 0; !giveUp(); tries += 1) {
      const began = performance.now();
      try {
        const answer = await request(`${await this.receiver()}/webhooks/${this.hook}`, {
          method: 'POST',
          dispatcher: this.agent,
          body: delivery.text,
          headers: {
            'content-type': 'application/json',
            'x-gitea-event': delivery.eventType ?? 'issues',
            'x-gitea-event-type': delivery.eventType ?? 'issues',
            'x-gitea-signature': delivery.signature,
            'x-gitea-delivery': tries % 2 === 0 ? id : randomUUID(),
          },
        });
        const text = await answer.body.text();
        if (answer.statusCode === 200 || answer.statusCode === 202) {
          this.acknowledged.set(delivery.n, {
            at: Date.now(),
            tookMs: performance.now() - began,
            id: (JSON.parse(text) as { id: string }).id,
          });
          return;
        }
        if (answer.statusCode !== 503 && answer.statusCode !== 429)
          this.odd.push(`${delivery.n}: ${answer.statusCode} ${text.slice(0, 200)}`);
      } catch {
        // Refused or cut off: unknown to the client, as ever.
      }
      this.unanswered += 1;
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}
