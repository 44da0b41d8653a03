import { createHmac } from 'node:crypto';
import { KeptConnections } from '../../services/kept-connections.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';

export const SECRET = 'canary-secret-e7d1';
export const OTHER_SECRET = 'canary-secret-90b2';
export const AUTHORIZATION = 'Bearer canary-authorization-4c3f';

/** An embedded bot with several hooks, and metrics; its forge is away, so that nothing but the endpoint is at work. `data`: where its store lies. */
export function aReceiverPlace(data = './data'): Place {
  return aPlace({
    config: {
      forges: [
        { id: 'main', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: { env: 'FORGE_TOKEN' } } },
      ],
      orgs: [
        {
          name: 'acme',
          forge: 'main',
          rules: { path: 'rules' },
          feed: { every_s: 3600 },
          hooks: [
            { id: 'acme', secret: { env: 'SECRET' } },
            { id: 'again', secret: { env: 'SECRET' } },
            { id: 'other', secret: { env: 'OTHER_SECRET' } },
            { id: 'token', authorization: { env: 'AUTHORIZATION' } },
            { id: 'both', secret: { env: 'SECRET' }, authorization: { env: 'AUTHORIZATION' } },
          ],
        },
      ],
      store: { url: `embedded:${data}` },
      // The forge that is away would be asked again and again.
      queue: { sweep_s: 3600 },
      server: { host: '127.0.0.1', port: 0 },
      metrics: { listen: '127.0.0.1:0' },
    },
    files: { 'rules/rules.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 'x', SECRET, OTHER_SECRET, AUTHORIZATION },
  });
}

export const sign = (text: string | Buffer, secret = SECRET, algorithm = 'sha256'): string =>
  createHmac(algorithm, secret).update(text).digest('hex');

export interface Post {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly hook?: string;
}

/** Posts to one receiver over kept connections, so many at once. */
export class Poster {
  /** How many were sent again after a 503. A commit that came too late for its answer may hold the first of them. */
  resent = 0;
  private readonly connections: KeptConnections;

  constructor(
    private readonly url: string,
    private readonly atOnce = 16,
  ) {
    this.connections = new KeptConnections(atOnce);
  }

  /** @returns the status of the answer */
  async post({ body, headers, hook = 'acme' }: Post): Promise<number> {
    const base = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-gitea-event': 'push',
      'x-gitea-event-type': 'push',
      'x-gitea-delivery': 'x',
    };
    return (await this.connections.post(`${this.url}/webhooks/${hook}`, { ...base, ...headers }, body)).status;
  }

  /** Make and post one for each number below `count`; how often each status was answered. */
  async postEach(count: number, make: (n: number) => Post): Promise<Record<number, number>> {
    const answers: Record<number, number> = {};
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) {
        const one = make(next++);
        let status = await this.post(one);
        // A busy receiver sends some away for a moment, and whoever sent them sends them again.
        for (; status === 503; status = await this.post(one)) {
          this.resent += 1;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        answers[status] = (answers[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: this.atOnce }, work));
    return answers;
  }

  close(): void {
    this.connections.close();
  }
}
