import { decideBy } from '../../builders/decide-all.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { hashOf, newId } from '../../../src/core/ids.js';
import { silentLogger } from '../../../src/core/logger.js';
import { postgresDataSource } from '../../../src/store/data-source.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { aDelivery, anEvent } from '../../builders/arrivals.js';
import { anIntent, aRun, claimOne, dueOf } from '../../builders/journal.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

const BACKLOG = 5_000;
/** What spent budgets hold, in the order key in which most wait too: an outsider makes as many as they like. */
const HELD = 20_000;
/** Rows that a question may look at; the backlog is a hundred times more. */
const FEW = 50;

describeOnPostgres('database/backlog: what is asked for each event and intent costs the same however many wait', () => {
  let opened: TestStores;
  /** On one connection, so that it can be asked what it read. */
  let stores: Stores;
  /** Fills tables; on a busy machine that takes longer than a statement of the bot may. */
  let filling: DataSource;
  const [first, second] = [newId(), newId()];

  const stored = async (id: string): Promise<void> => {
    const delivery = aDelivery();
    await stores.inbox.storeDeliveries([delivery]);
    await decideBy(stores.inbox, delivery.id, async (tx) => {
      tx.insertEvent(anEvent({ id, kind: 'issue.closed', factKey: id }), undefined, {
        repoId: '7',
        kind: 'issue',
        objectId: '101',
      });
      tx.join(id);
    });
  };
  const backlog = (): Promise<unknown> =>
    filling.query(
      `INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, reported_by, object_hash)
       SELECT e.id || '-' || n, forge, org, kind, source, fact_key || n, sha256(('fact' || n)::bytea), fact_at, actor, repo, repo_id, data, stored_at, reported_by,
              sha256(('object' || n)::bytea)
       FROM events e, generate_series(1, $1::int) AS n WHERE e.id = $2`,
      [BACKLOG, first],
    );

  /** Plans for what a decision reads and writes, made when the tables are almost empty. */
  const planned = async (): Promise<void> => {
    for (let n = 0; n < 3; n += 1) {
      const delivery = aDelivery();
      await stores.inbox.storeDeliveries([delivery]);
      const texts = [hashOf(delivery.id), hashOf('none')];
      const issue = { repoId: '7', kind: 'issue', objectId: '101' } as const;
      await decideBy(
        stores.inbox,
        delivery.id,
        async (tx) => {
          tx.actsOfText(texts);
          await tx.receivedBetween({ ...delivery, id: newId() }, ['none']);
          tx.eventsOfFact('none', 'none');
          tx.objectState(issue);
          tx.close('decided', 'tells nothing');
        },
        { texts, objects: [issue], facts: [{ factKey: 'none', discussionKey: 'none' }] },
      );
    }
  };
  const INBOX = ['arrivals', 'repeats', 'events', 'arrival_events', 'object_states'];
  const inboxBacklog = async (): Promise<void> => {
    await filling.query(
      `INSERT INTO arrivals SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'a-' || n, 'state', 'stored'))).*
       FROM arrivals a, generate_series(1, $1::int) AS n WHERE a.event_id = $2`,
      [BACKLOG, first],
    );
    await filling.query(
      `INSERT INTO repeats (key, rest, arrival_id) SELECT n, n, $2::uuid FROM generate_series(1, $1::int) AS n`,
      [BACKLOG, first],
    );
    await filling.query(
      `INSERT INTO object_states (forge, org, repo_id, kind, object_id, state) SELECT 'main', 'acme', '7', 'issue', 'o-' || n, '{}' FROM generate_series(1, $1::int) AS n`,
      [BACKLOG],
    );
    await filling.query(
      `INSERT INTO arrival_events (arrival_id, event_id, source) SELECT 'a-' || n, $2 || '-' || n, 'webhook' FROM generate_series(1, $1::int) AS n`,
      [BACKLOG, first],
    );
  };

  const JOURNAL = ['runs', 'intents', 'attempts', 'pauses', 'undone', 'echoes'];
  const recordOne = async (id: string, orderKey: string): Promise<readonly string[]> =>
    stores.journal.recordDecision({}, [
      {
        run: aRun({ id, cause: { kind: 'event', eventId: second } }),
        intents: [anIntent({ id, runId: id, orderKey })],
      },
    ]);
  /** Half of them in the order key `busy`, each other one in an order key of its own; and as many that ended there. */
  const journalBacklog = async (): Promise<void> => {
    await recordOne('first', 'busy');
    const copy = (table: string, over: string): Promise<unknown> =>
      filling.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object('seq', nextval(pg_get_serial_sequence('${table}', 'seq')), ${over}))).*
         FROM ${table} t, generate_series(1, $1::int) AS n WHERE t.id = 'first'`,
        [BACKLOG],
      );
    for (const state of ['planned', 'done']) {
      const run = `'id', 'r-${state}-' || n, 'run_key', 'k-${state}-' || n, 'state', '${state === 'done' ? 'done' : 'open'}'`;
      await copy('runs', run);
      await copy(
        'intents',
        `'id', 'i-${state}-' || n, 'run_id', 'r-${state}-' || n, 'intent_key', 'k-${state}-' || n, 'state', '${state}',
         'order_key', CASE WHEN n % 2 = 0 THEN 'busy' ELSE 'orderKey-' || n END, 'effect_hash', sha256(('e-${state}-' || n)::bytea)`,
      );
    }
  };

  /** Of one half of the runs the first step is held by a budget, of the other the step behind it. */
  const heldBacklog = async (): Promise<void> => {
    for (let from = 1; from <= HELD; from += BACKLOG) {
      const stepNo = from <= HELD / 2 ? 0 : 1;
      await filling.query(
        `INSERT INTO runs SELECT (jsonb_populate_record(t, jsonb_build_object('seq', -n, 'id', 'r-held-' || n, 'run_key', 'k-held-' || n))).*
         FROM runs t, generate_series($1::int, $2::int) AS n WHERE t.id = 'first'`,
        [from, from + BACKLOG - 1],
      );
      await filling.query(
        `INSERT INTO intents SELECT (jsonb_populate_record(t, jsonb_build_object('seq', -n, 'id', 'h-' || n, 'run_id', 'r-held-' || n, 'step_no', $3::int,
           'intent_key', 'k-held-' || n, 'state', 'planned', 'held', true, 'held_by', 'budget', 'held_since', clock_timestamp(),
           'due_at', clock_timestamp() + n * interval '1 second' + interval '1 hour', 'order_key', CASE WHEN n % 2 = 0 THEN 'busy' ELSE 'orderKey-' || n % 5 END,
           'effect_hash', sha256(('e-held-' || n)::bytea)))).*
         FROM intents t, generate_series($1::int, $2::int) AS n WHERE t.id = 'first'`,
        [from, from + BACKLOG - 1, stepNo],
      );
    }
    await filling.query(
      `INSERT INTO budget_holds (budget, org, kind, whose, per_hour, since, until, places)
       VALUES ('budget', 'acme', 'actor', 'eve', 5, clock_timestamp(), clock_timestamp() + interval '1 day', 1)`,
    );
  };

  beforeAll(async () => {
    opened = await openTestStores('postgres');
    stores = await openStores(opened.config, { poolSize: 1 });
    const { config } = opened;
    if (config.kind !== 'postgres') throw new Error('the store is not on a server');
    filling = postgresDataSource(config.url, { size: 1, statementTimeoutMs: 0, logger: silentLogger });
    await filling.initialize();
    await planned();
    await stored(first);
    await backlog();
    await stored(second);
    await inboxBacklog();
    await journalBacklog();
    await heldBacklog();
    await filling.destroy();
    // Tens of thousands of rows: minutes, on a busy machine.
  }, 600_000);

  afterAll(async () => {
    await stores.close();
    await opened.close();
  });

  /** Of events, or of runs and all that hangs on them. */
  const rowsRead = async (tables: readonly string[]): Promise<number> => {
    await stores.dataSource.query('SELECT pg_stat_force_next_flush()');
    const sql = `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_user_tables WHERE relname = ANY ($1)`;
    return Number(((await stores.dataSource.query(sql, [tables])) as Array<{ rows: string }>)[0]?.rows);
  };

  it.each([
    // Two of its object are undecided: the first alone is given, and until its lease runs out nobody gets it.
    ['the first of its object', async () => (await stores.inbox.claimEvents('acme', 1, [], -1))[0]?.id, first],
    ['the oldest of its organization', async () => (await stores.inbox.undecidedEvents(1, 'acme'))[0], first],
  ])('%s', async (_title, ask, answer) => {
    const before = await rowsRead(['events']);

    // The first as it comes, then by the plan that is made for any values.
    for (let n = 0; n < 4; n += 1) expect(await ask()).toBe(answer);

    expect(((await rowsRead(['events'])) - before) / 4).toBeLessThan(FEW);
  });

  it('what several arrivals tell, decided at once', async () => {
    const TIMES = 4;
    const before = await rowsRead(INBOX);

    for (let n = 0; n < TIMES; n += 1) {
      const deliveries = [aDelivery(), aDelivery()];
      await stores.inbox.storeDeliveries(deliveries);
      const found = await Promise.all(
        deliveries.map(({ id }, place) => {
          const [factKey, object] = [
            `fact ${n} ${place}`,
            { repoId: '7', kind: 'issue', objectId: `${n} ${place}` } as const,
          ];
          const textKey = hashOf(id);
          return decideBy(
            stores.inbox,
            id,
            async (tx) => {
              const acts = tx.actsOfText([textKey, hashOf(textKey)]);
              tx.claimText(textKey, 'push');
              const told = tx.eventsOfFact(factKey, `talk ${n} ${place}`);
              const state = tx.objectState(object);
              tx.keepObjectState(object, { labels: [] });
              tx.insertEvent(anEvent({ id, factKey }), `talk ${n} ${place}`, object);
              tx.join(id);
              return { acts, told, state };
            },
            {
              facts: [{ factKey, discussionKey: `talk ${n} ${place}` }],
              objects: [object],
              texts: [textKey, hashOf(textKey)],
            },
          );
        }),
      );
      expect(found).toEqual([
        { acts: [null, null], told: [], state: null },
        { acts: [null, null], told: [], state: null },
      ]);
    }

    expect(((await rowsRead(INBOX)) - before) / TIMES).toBeLessThan(FEW);
  });

  it('what is due at all, without what budgets hold', async () => {
    const before = await rowsRead(JOURNAL);

    const due = await dueOf(stores.journal, FEW);

    expect(due).toHaveLength(FEW);
    expect(due.filter((id) => id.startsWith('h-'))).toEqual([]);
    // A few for each of the order keys that have something to do.
    expect((await rowsRead(JOURNAL)) - before).toBeLessThan(10 * BACKLOG);
  });

  it('how often a rule fired in the last hour, of all that it ever fired', async () => {
    const fired = `SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2 || n, 'run_key', $2 || n, 'rule', 'busy', 'seq', 1000000 + n,
      'decided_at', clock_timestamp() - $3 * interval '1 hour'))).* FROM runs r, generate_series(1, $1::int) AS n WHERE r.id = 'first'`;
    await stores.dataSource.query(`INSERT INTO runs ${fired}`, [BACKLOG, 'f-old-', 2]);
    await stores.dataSource.query(`INSERT INTO runs ${fired}`, [BACKLOG, 'f-new-', 0]);
    const before = await rowsRead(['runs']);

    for (let n = 0; n < 4; n += 1) expect(await stores.journal.firedInLastHour('acme', 'busy', 7)).toBe(7);
    for (let n = 0; n < 4; n += 1) expect(await stores.journal.firedInLastHour('acme', 'idle', 7)).toBe(0);

    expect(((await rowsRead(['runs'])) - before) / 8).toBeLessThan(FEW);
  });

  it('which bodies are old, and takes them away, of all that are decided', async () => {
    await stores.dataSource.query(`UPDATE arrivals SET state = 'decided' WHERE id LIKE 'a-%'`);
    await stores.dataSource.query('ANALYZE arrivals');
    const before = await rowsRead(['arrivals']);
    const longAgo = new Date('2000-01-01');
    for (let n = 0; n < 4; n += 1) expect(await stores.inbox.archive(longAgo, 10)).toBe(0);
    for (let n = 0; n < 4; n += 1) expect(await stores.inbox.archive(new Date(Date.now() + 1_000), 10)).toBe(10);

    expect(((await rowsRead(['arrivals'])) - before) / 8).toBeLessThan(FEW);
  });

  it('where an audit chain ends, however long it is', async () => {
    await stores.dataSource.query(
      `INSERT INTO audit_links (org, n, run_id, as_of, key_id, record, link)
       SELECT 'acme', n, 'r-done-' || n, now(), 'k', 'r', ('l' || n)::bytea FROM generate_series(1, $1::int) AS n`,
      [BACKLOG],
    );
    await stores.dataSource.query(
      `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', 'sealable', 'run_key', 'sealable', 'state', 'done', 'seq', -900000,
         'ended_at', '2000-01-01'))).* FROM runs r WHERE r.id = 'first'`,
    );
    const before = await rowsRead(['audit_links']);

    const grown = await stores.audit.seal('acme', 1, 0, { id: 'k', hash: hashOf });

    expect(grown).toMatchObject({ added: 1, head: { n: BACKLOG + 1 } });
    expect((await rowsRead(['audit_links'])) - before).toBeLessThan(FEW);
  });

  it('tells what budgets hold', async () => {
    expect(await stores.journal.heldByBudgets(9)).toMatchObject([{ kind: 'actor', of: 'eve', effects: HELD }]);
  });

  it.each([
    ['in an order key of its own', 'quiet', (n: number) => `quiet-${n}`],
    ['first in the order key in which most wait', 'busy', (n: number) => (n === 0 ? 'first' : `i-planned-${2 * n}`)],
  ])('what becomes of an intent %s', async (_title, orderKey, idOf) => {
    const TIMES = 4;
    if (orderKey === 'quiet')
      for (let n = 0; n < TIMES; n += 1) expect(await recordOne(idOf(n), `orderKey-of-${n}`)).toEqual([idOf(n)]);
    const before = await rowsRead(JOURNAL);

    for (let n = 0; n < TIMES; n += 1) {
      const id = idOf(n);
      const claim = await claimOne(stores.journal, id, 'me', 30_000);
      expect(claim).toMatchObject({ epoch: 1 });
      const attempt = await stores.journal.markSent(id, 1, {
        id: `attempt-${id}`,
        operation: 'createLabel',
        requestHash: 'hash',
      });
      await stores.journal.recordAnswer(attempt?.id ?? '', {
        outcome: 'done',
        status: 201,
        message: null,
        objectId: '1',
      });
      expect(await stores.journal.move({ intentId: id, from: ['sent'], to: 'done', reason: null, epoch: 1 })).toBe(
        true,
      );
      expect(await stores.journal.dueNear(id, 10)).toEqual(
        orderKey === 'quiet' ? [] : [{ id: idOf(n + 1), isBackground: false }],
      );
      expect(await stores.recovery.doubtAbout((await stores.journal.intent(id))?.runId ?? '')).toBeNull();
    }

    expect(((await rowsRead(JOURNAL)) - before) / TIMES).toBeLessThan(FEW);
  });
});
