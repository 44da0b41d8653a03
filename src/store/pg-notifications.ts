import pg from 'pg';
import type { Secret } from '../core/secret.js';
import { within } from '../core/within.js';
import type { NotificationListener, Notifications } from '../queue/notifications.port.js';
import { execute, type Database } from './database.js';
import { toStoreError } from './store-errors.js';

/** Of a database: two bots in two databases of a server do not hear each other. */
const CHANNEL = 'forgehand';
const SEND = `SELECT pg_notify('${CHANNEL}', t.text) FROM unnest($1::text[]) AS t (text)`;

const CONNECT_MS = 5_000;
const CLOSE_MS = 200;

/**
 * NOTIFY and LISTEN of PostgreSQL. Any database user may do both. What is sent goes over the connections of the store, each time in a transaction that
 * writes nothing and waits for no disk.
 */
export class PgNotifications implements Notifications {
  constructor(
    private readonly url: Secret,
    private readonly db: Database,
  ) {}

  async send(texts: readonly string[]): Promise<void> {
    await this.db.run((manager) => execute(manager, SEND, [texts]));
  }

  async listen(onText: (text: string) => void): Promise<NotificationListener> {
    const client = new pg.Client({
      connectionString: this.url.reveal(),
      application_name: 'forgehand',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const ended = new Promise<never>((_, reject) => {
      // Without a listener, an error event ends the process.
      client.on('error', (error) => reject(toStoreError(error)));
      client.on('end', () => reject(new Error('the connection ended')));
    });
    // Nobody may be waiting for it.
    ended.catch(() => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === CHANNEL) onText(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await end(client);
      throw toStoreError(error);
    }
    return { ended, close: () => end(client) };
  }
}

/** A server that is away answers no goodbye. */
async function end(client: pg.Client): Promise<void> {
  await within(CLOSE_MS, client.end()).catch(() => client.connection.stream.destroy());
}
