import type { AddressInfo } from 'node:net';
import { silentLogger } from '../../src/core/logger.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { CursorStore } from '../../src/polling/cursor-store.port.js';
import type { Hook } from '../../src/webhooks/receive-delivery.js';
import { decideAll } from '../builders/decide-all.js';
import { makeWebhookApp } from '../builders/webhook-app.js';
import { InMemoryCursorStore } from '../fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';

/** The part of the bot that deliveries go through: Nest's HTTP server with the real endpoint, the embedded store, the deciding of arrivals. */
export interface EmbeddedBot {
  readonly port: number;
  readonly inbox: InboxStore;
  readonly cursors: CursorStore;
  /** Decide all that waits. */
  decideAll(): Promise<void>;
  close(): Promise<void>;
}

/** @param inMemory with the inbox's twin of the tests in place of the embedded store: the same rules, a tenth of the time */
export async function startEmbeddedBot(hooks: readonly Hook[], inMemory = false): Promise<EmbeddedBot> {
  const stores = inMemory
    ? { inbox: new InMemoryInboxStore(), cursors: new InMemoryCursorStore(), close: async () => {} }
    : await openStoresInMemory();
  const { inbox, cursors }: { inbox: InboxStore; cursors: CursorStore } = stores;
  const queue = { ring: () => undefined };
  const door = { hooks, inbox, queue, logger: silentLogger };
  const app = await makeWebhookApp(door);
  await app.init();
  return {
    port: (app.getHttpServer().address() as AddressInfo).port,
    inbox,
    cursors,
    decideAll: () => decideAll(inbox),
    close: async () => {
      await app.close();
      await stores.close();
    },
  };
}

async function openStoresInMemory(): Promise<Stores> {
  const stores = await openStores({ kind: 'embedded', dir: ':memory:' });
  await stores.migrate();
  return stores;
}
