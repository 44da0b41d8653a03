import { describe, expect, it } from '@jest/globals';
import { aDelivery } from '../../test/builders/arrivals.js';
import type { Database } from './database.js';
import { SqlInboxStore } from './sql-inbox-store.js';

describe('store/sql-inbox-store', () => {
  it('stores deliveries on behalf of the organization that all of them are of', async () => {
    const orgs: Array<string | undefined> = [];
    const acks = { run: async (_work: unknown, org?: string) => void orgs.push(org) } as unknown as Database;
    const inbox = new SqlInboxStore({} as Database, acks);

    await inbox.storeDeliveries([aDelivery({ org: 'acme' }), aDelivery({ org: 'acme' })]);
    await inbox.storeDeliveries([aDelivery({ org: 'acme' }), aDelivery({ org: 'beta' })]);

    expect(orgs).toEqual(['acme', '']);
  });
});
