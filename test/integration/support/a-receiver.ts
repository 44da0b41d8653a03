import type { AddressInfo } from 'node:net';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { sampleBody } from '../../builders/sample-bodies.js';
import { makeWebhookApp } from '../../builders/webhook-app.js';

const SECRET = 'a secret';

export interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Id of what was stored; null where nothing was. */
  readonly id: string | null;
}

/** The webhook route before a real store, reached over HTTP. */
export interface TestReceiver {
  /** A signed push that no other call sends, with so many bytes of noise in it: no store makes it smaller. */
  post(bytes?: number): Promise<Answered>;
  close(): Promise<void>;
}

export async function aReceiver({ inbox }: Pick<Stores, 'inbox'>): Promise<TestReceiver> {
  const hooks = [{ id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret(SECRET)], authorizations: [] }];
  const app = await makeWebhookApp({
    hooks,
    inbox,
    logger: silentLogger,
    queue: { ring: () => undefined },
  });
  await app.init();
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  let sent = 0;
  return {
    post: async (bytes = 0) => {
      sent += 1;
      const body = JSON.stringify({
        ...sampleBody('push'),
        n: randomUUID(),
        more: randomBytes(bytes).toString('base64'),
      });
      const headers = {
        'content-type': 'application/json',
        'x-gitea-event': 'push',
        'x-gitea-event-type': 'push',
        'x-gitea-delivery': String(sent),
        'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
      };
      const answer = await fetch(`${url}/webhooks/acme`, { method: 'POST', headers, body });
      const { id } = (await answer.json()) as { id?: string };
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), id: id ?? null };
    },
    close: () => app.close(),
  };
}
