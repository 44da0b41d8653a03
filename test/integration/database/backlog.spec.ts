import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '../../../src/core/ids.js';
import { openStores, type Stores } from '../../../src/database/open-stores.js';
import { aDelivery, anEvent } from '../../builders/arrivals.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

const BACKLOG = 5_000;
/** Rows of the table of events that a question may look at; the backlog is a hundred times more. */
const FEW = 50;

describeOnPostgres('database/backlog: what is asked for each event costs the same however many wait', () => {
  let opened: TestStores;
  /** On one connection, so that it can be asked what it read. */
  let stores: Stores;
  const [first, second] = [newId(), newId()];

  const stored = async (id: string): Promise<void> => {
    const delivery = aDelivery();
    await stores.inbox.storeDeliveries([delivery]);
    await stores.inbox.decide(delivery.id, async (tx) => {
      await tx.insertEvent(anEvent({ id, kind: 'issue.closed', factKey: id }), undefined, { repoId: '7', kind: 'issue', objectId: '101' });
      await tx.join(id);
    });
  };
  const backlog = (): Promise<unknown> =>
    stores.dataSource.query(
      `INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, told_by, object_hash)
       SELECT e.id || '-' || n, forge, org, kind, source, fact_key || n, sha256(('fact' || n)::bytea), fact_at, actor, repo, repo_id, data, stored_at, told_by,
              sha256(('object' || n)::bytea)
       FROM events e, generate_series(1, $1::int) AS n WHERE e.id = $2`,
      [BACKLOG, first],
    );

  beforeAll(async () => {
    opened = await openTestStores('postgres');
    stores = await openStores(opened.config, { poolSize: 1 });
    await stored(first);
    await backlog();
    await stored(second);
  });

  afterAll(async () => {
    await stores.close();
    await opened.close();
  });

  const rowsRead = async (): Promise<number> => {
    await stores.dataSource.query('SELECT pg_stat_force_next_flush()');
    const sql = `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables WHERE relname = 'events'`;
    return Number(((await stores.dataSource.query(sql)) as Array<{ rows: string }>)[0]?.rows);
  };

  it.each([
    ['which event of its object is next', () => stores.inbox.nextOfObject(first), second],
    ['that none is next', () => stores.inbox.nextOfObject(second), null],
    ['whether another stands before it', () => stores.inbox.isBehindAnother(second), true],
    ['that none stands before it', () => stores.inbox.isBehindAnother(first), false],
    ['the oldest of all', async () => (await stores.inbox.undecidedEvents(1))[0], first],
  ])('%s', async (_title, ask, answer) => {
    const before = await rowsRead();

    // The first as it comes, then by the plan that is made for any values.
    for (let n = 0; n < 4; n += 1) expect(await ask()).toBe(answer);

    expect(((await rowsRead()) - before) / 4).toBeLessThan(FEW);
  });
});
