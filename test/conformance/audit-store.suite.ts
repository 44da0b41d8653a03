import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Stores } from '../../src/store/open-stores.js';
import type { AuditPage } from '../../src/housekeeping/audit/audit-check.js';
import { checkPage } from '../../src/housekeeping/audit/audit-check.js';
import type { AuditKey } from '../../src/core/audit-chain.js';
import { cutLinks } from '../../src/store/audit-cuts.js';
import { Database } from '../../src/store/database.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../builders/journal.js';
import { storeEvent } from '../builders/store-event.js';
import { because } from '../builders/reasons.js';
import { nextMillisecond } from '../services/until.js';

const keyOf = (secret: string): AuditKey => ({
  id: `key of ${secret}`,
  hash: (text) => createHmac('sha256', secret).update(text).digest('hex'),
});
const KEY = keyOf('the secret of the store');
const RUNS = 5;
const LEASE_MS = 5_000;

const THIRD = `WHERE id = 'run-acme-3'`;
const EFFECT = `WHERE run_id = 'run-acme-3'`;
const CALL = `WHERE intent_id = 'intent-acme-3'`;
/** What a chain is about, in an order in which it can be put back. */
const TABLES = ['arrivals', 'events', 'arrival_events', 'runs', 'intents', 'attempts', 'audit_links'];
/** Each of the third of five runs. */
const CHANGES = [
  ...['forge', 'rule', 'revision_id', 'reason_code', 'reason_params', 'trace', 'lookups', 'cause', 'run_key'].map(
    (column) => `UPDATE runs SET ${column} = ${column} || 'x' ${THIRD}`,
  ),
  `UPDATE runs SET mode = 'dry-run' ${THIRD}`,
  `UPDATE runs SET state = 'failed' ${THIRD}`,
  `UPDATE runs SET event_id = 'event-acme-2' ${THIRD}`,
  `UPDATE runs SET decided_at = decided_at - interval '1 microsecond' ${THIRD}`,
  `UPDATE runs SET ended_at = ended_at + interval '1 microsecond' ${THIRD}`,
  `UPDATE runs SET sealed_n = NULL ${THIRD}`,
  `UPDATE runs SET sealed_n = 1 ${THIRD}`,
  `UPDATE runs SET sealed_n = 5 ${THIRD}`,
  `UPDATE runs SET org = 'other' ${THIRD}`,
  `DELETE FROM runs ${THIRD}`,
  ...['params', 'result', 'target', 'reason_code', 'reason_params', 'action', 'effect_key', 'item_key', 'step_id'].map(
    (column) => `UPDATE intents SET ${column} = ${column} || 'x' ${EFFECT}`,
  ),
  `UPDATE intents SET state = 'unchanged' ${EFFECT}`,
  `UPDATE intents SET approval = 'given', approval_by = 'ada' ${EFFECT}`,
  `UPDATE intents SET two_people = true, approval_beside = 'requested by eve' ${EFFECT}`,
  `UPDATE intents SET run_id = 'run-acme-4' ${EFFECT}`,
  `DELETE FROM intents ${EFFECT}`,
  ...['operation', 'request_hash', 'outcome', 'message', 'object_id'].map(
    (column) => `UPDATE attempts SET ${column} = ${column} || 'x' ${CALL}`,
  ),
  `UPDATE attempts SET status = 200 ${CALL}`,
  `UPDATE attempts SET sent_at = sent_at - interval '1 microsecond' ${CALL}`,
  `UPDATE attempts SET sent_at = sent_at + interval '1 day' ${CALL}`,
  `UPDATE attempts SET answered_at = NULL ${CALL}`,
  `UPDATE attempts SET answered_at = answered_at + interval '1 day' ${CALL}`,
  `DELETE FROM attempts ${CALL}`,
  `INSERT INTO attempts (id, intent_id, org, n, operation, epoch, request_hash, sent_at)
       SELECT 'x', intent_id, org, 7, operation, epoch, request_hash, sent_at FROM attempts ${CALL}`,
  `UPDATE events SET actor = '{}' WHERE id = 'event-acme-3'`,
  `UPDATE events SET data = data || ' ' WHERE id = 'event-acme-3'`,
  `UPDATE arrivals SET text_hash = text_hash || 'x'::bytea WHERE id = (SELECT arrival_id FROM arrival_events WHERE event_id = 'event-acme-3')`,
  ...['run_id', 'key_id', 'record', 'link'].map(
    (column) => `UPDATE audit_links SET ${column} = ${column} || 'x' WHERE n = 3`,
  ),
  `UPDATE audit_links SET as_of = as_of + interval '1 second' WHERE n = 3`,
];

/** The chain of finished runs: every change of what was sealed is found, and nothing else is called one. */
export function auditStoreSuite(open: () => Promise<Stores>): void {
  let stores: Stores;

  beforeEach(async () => {
    stores = await open();
  });

  const sql = (text: string): Promise<unknown> => stores.dataSource.query(text);
  /** Each organization that has something to seal, once. */
  const seal = async (limit = 100, youngMs = 0, key = KEY) => {
    await nextMillisecond();
    const chains: Array<{ org: string; added: number; head: { n: number; link: string } }> = [];
    for (const org of await stores.audit.unsealed()) {
      const grown = await stores.audit.seal(org, limit, youngMs, key);
      if (grown) chains.push({ org, ...grown });
    }
    return chains;
  };

  async function check(org = 'acme', key = KEY, limit = 2, now = new Date()): Promise<AuditPage & { pages: number }> {
    let [after, checked, pages] = [0, 0, 0];
    const again: string[] = [];
    const deleted: Array<AuditPage['deleted'][number]> = [];
    for (;;) {
      const page = await checkPage(stores.audit, key, org, after, limit, now);
      checked += page.checked;
      pages += 1;
      again.push(...page.again);
      deleted.push(...page.deleted);
      if (page.broken || page.isEnd) return { ...page, checked, again, deleted, pages };
      after = page.head?.n ?? 0;
    }
  }

  async function send(id: string): Promise<number> {
    const epoch = (await claimOne(stores.journal, id, 'me', LEASE_MS))?.epoch ?? 0;
    await stores.journal.markSent(id, epoch, {
      id: `attempt-${id}-${epoch}`,
      operation: 'createLabel',
      requestHash: 'hash',
    });
    return epoch;
  }

  async function finish(id: string, to: 'done' | 'refused' = 'done'): Promise<void> {
    const epoch = await send(id);
    await stores.journal.recordAnswer(`attempt-${id}-${epoch}`, {
      outcome: to,
      status: 201,
      message: 'made',
      objectId: '5',
    });
    await stores.journal.move({
      intentId: id,
      epoch,
      from: ['sent'],
      to,
      reason: because('as told'),
      result: { summary: 'label made', detail: {} },
    });
  }

  /** Runs of one effect and one call, caused by an event that a delivery told. */
  async function finished(count = RUNS, org = 'acme'): Promise<void> {
    for (let n = 1; n <= count; n += 1) {
      const [delivery, event] = [
        aDelivery({ org }),
        anEvent({ id: `event-${org}-${n}`, org, factKey: `fact-${org}-${n}` }),
      ];
      await storeEvent(stores.inbox, event, delivery);
      const [runId, id] = [`run-${org}-${n}`, `intent-${org}-${n}`];
      const run = aRun({ id: runId, org, cause: { kind: 'event', eventId: event.id } });
      await stores.journal.recordDecision({ eventId: event.id }, [{ run, intents: [anIntent({ id, runId, org })] }]);
      await finish(id);
    }
  }

  it('chains what is finished, once, and lets what is not or ended lately wait', async () => {
    await finished();
    await stores.journal.recordDecision({}, [
      { run: aRun({ id: 'open' }), intents: [anIntent({ id: 'open', runId: 'open' })] },
    ]);
    await stores.journal.recordDecision({}, [{ run: aRun({ id: 'idle', state: 'not-fired' }), intents: [] }]);

    expect(await stores.audit.unsealed()).toEqual(['acme']);
    expect(await seal(100, 3_600_000)).toEqual([]);
    const [first] = await seal(2);
    const [rest] = await seal();

    expect([first, rest]).toMatchObject([
      { org: 'acme', added: 2, head: { n: 2 } },
      { org: 'acme', added: RUNS - 1, head: { n: RUNS + 1 } },
    ]);
    expect(await seal()).toEqual([]);
    expect(await stores.audit.unsealed()).toEqual([]);
    expect(await check()).toMatchObject({ checked: RUNS + 1, head: rest?.head, broken: null, again: [], isEnd: true });
  });

  it('keeps a chain for each organization, without a gap however many seal at once', async () => {
    await finished(3);
    await finished(2, 'other');

    await Promise.all([seal(1), seal(2), seal(), seal()]);
    await seal();

    expect(await check()).toMatchObject({ checked: 3, head: { n: 3 }, broken: null });
    expect(await check('other')).toMatchObject({ checked: 2, head: { n: 2 }, broken: null });
    expect(await check('nobody')).toMatchObject({ checked: 0, head: null, broken: null });
  });

  it(`finds each of ${CHANGES.length} changes of what was sealed, and names the link`, async () => {
    await finished();
    await seal();
    expect((await check()).broken).toBeNull();
    for (const table of TABLES) await sql(`CREATE TABLE kept_${table} AS TABLE ${table}`);
    const found: Array<{ change: string; n: number | null }> = [];

    for (const change of CHANGES) {
      await sql(change);
      found.push({ change, n: (await check()).broken?.n ?? null });
      for (const table of [...TABLES].reverse()) await sql(`DELETE FROM ${table}`);
      for (const table of TABLES) await sql(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
    for (const table of TABLES) await sql(`DROP TABLE kept_${table}`);

    expect(found.filter(({ n }) => n !== 3)).toEqual([]);
    expect((await check()).broken).toBeNull();
  });

  describe('finds', () => {
    beforeEach(async () => {
      await finished();
      await seal();
    });

    it.each([
      [`DELETE FROM audit_links WHERE n = 3`, 4, 'link 3 is not there'],
      [`DELETE FROM audit_links WHERE n IN (2, 3)`, 4, 'links 2 to 3 are not there'],
      [`DELETE FROM audit_links WHERE n = 1`, 2, 'link 1 is not there'],
      [`DELETE FROM audit_links WHERE n = ${RUNS}`, RUNS, 'the link of this run is not there'],
      ['DELETE FROM audit_links', 1, 'the link of this run is not there'],
    ])('%s', async (change, n, why) => {
      await sql(change);

      for (const limit of [1, 2, 100]) expect((await check('acme', KEY, limit)).broken).toMatchObject({ n, why });
    });

    it('a chain that was made anew without the key', async () => {
      await sql(`UPDATE runs SET reason_code = 'something.else' ${THIRD}`);
      await sql('DELETE FROM audit_links');
      await sql('UPDATE runs SET sealed_n = NULL');
      await seal(100, 0, { ...keyOf('another secret'), id: KEY.id });

      expect((await check()).broken).toMatchObject({ n: 1, why: 'the link, or the one before it, was changed' });
      expect((await check('acme', keyOf('a new secret'))).broken).toMatchObject({
        n: 1,
        why: expect.stringContaining('another keys.data'),
      });
    });
  });

  it('goes on over a run that a person takes up again, tells it, and holds it to what it became', async () => {
    await finished(2);
    const run = aRun({ id: 'again' });
    await stores.journal.recordDecision({}, [{ run, intents: [anIntent({ id: 'again', runId: 'again' })] }]);
    await finish('again', 'refused');
    await seal();

    await stores.journal.retry('again', 'ada');
    expect(await check()).toMatchObject({ checked: 3, broken: null, again: ['again'] });
    await finish('again');
    expect(await check()).toMatchObject({ checked: 3, broken: null, again: ['again'] });
    await seal();

    expect(await check()).toMatchObject({ checked: 4, broken: null, again: ['again'] });
    await sql(`UPDATE intents SET result = NULL WHERE id = 'again'`);
    expect((await check()).broken).toMatchObject({ n: 4, runId: 'again' });
  });

  it('takes an answer, a call or a telling that comes after the record for no change of it', async () => {
    const intent = anIntent({ id: 'late', runId: 'late' });
    await stores.journal.recordDecision({}, [{ run: aRun({ id: 'late' }), intents: [intent] }]);
    const epoch = await send('late');
    await stores.journal.move({ intentId: 'late', epoch, from: ['sent'], to: 'unknown', reason: because('no answer') });
    await stores.recovery.resolve('late', true, 'ada', null);
    await seal();

    await stores.journal.recordAnswer(`attempt-late-${epoch}`, {
      outcome: 'done',
      status: 201,
      message: null,
      objectId: '7',
    });
    await stores.recovery.noteRemoval('late', { id: 'removal', operation: 'deleteLabel', requestHash: 'h' });

    expect(await check()).toMatchObject({ checked: 1, broken: null });
  });

  describe('when retention deletes what is old', () => {
    const DAYS = 400;
    /** All that was sealed is older than that then. */
    const then = () => new Date(Date.now() + (DAYS + 1) * 86_400_000);

    /** As the deletion of events does it. */
    const deleteRuns = async (ids: readonly string[], now = then()): Promise<void> =>
      new Database(stores.dataSource).transaction(async (manager) => {
        await cutLinks(manager, ids, { now, days: DAYS, key: KEY });
        await manager.query('DELETE FROM runs WHERE id = ANY ($1)', [ids]);
      });
    const named = (...numbers: number[]): string[] => numbers.map((n) => `run-acme-${n}`);
    const linkAt = async (n: number): Promise<unknown> =>
      sql(`SELECT encode(link, 'hex') AS link FROM audit_links WHERE org = 'acme' AND n = ${n}`);

    beforeEach(async () => {
      await finished();
      await finished(2, 'other');
      await seal();
    });

    it('the chain says so, holds, and still has the links that somebody may know', async () => {
      const links = [await linkAt(2), await linkAt(RUNS)];
      const [now, later] = [then(), new Date(then().getTime() + 86_400_000)];
      await deleteRuns([...named(2, 3), 'run-other-1'], now);

      for (const limit of [1, 2, 100])
        expect(await check('acme', KEY, limit, now)).toMatchObject({
          checked: RUNS + 1,
          head: { n: RUNS + 1 },
          broken: null,
          again: [],
          deleted: [{ from: 2, to: 3, links: 2, days: DAYS, at: now }],
        });
      expect(await check('other', KEY, 2, now)).toMatchObject({
        broken: null,
        deleted: [{ from: 1, to: 1, links: 1 }],
      });

      await deleteRuns(named(5, 1, 4), later);

      for (const limit of [1, 2, 100])
        expect(await check('acme', KEY, limit, later)).toMatchObject({
          head: { n: RUNS + 2 },
          broken: null,
          deleted: [
            { from: 2, to: 3, links: 2, at: now },
            { from: 1, to: RUNS, links: 3, at: later },
          ],
        });
      expect([await linkAt(2), await linkAt(RUNS)]).toEqual(links);
      expect(await sql(`SELECT n FROM audit_links WHERE run_id IS NOT NULL AND org = 'acme' ORDER BY n`)).toHaveLength(
        2,
      );
    });

    it('the chain grows on behind it', async () => {
      await deleteRuns(named(1, 2, 3, 4, 5));
      await stores.journal.recordDecision({}, [{ run: aRun({ id: 'idle', state: 'not-fired' }), intents: [] }]);
      await seal();

      expect(await check('acme', KEY, 2, then())).toMatchObject({ checked: RUNS + 2, broken: null });
      await sql(`UPDATE runs SET rule = 'other' WHERE id = 'idle'`);
      expect((await check('acme', KEY, 2, then())).broken).toMatchObject({ n: RUNS + 2, runId: 'idle' });
    });

    it('what stays far between is no part of a cut', async () => {
      await sql(`INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', 'far-' || n, 'run_key', 'far-' || n, 'seq', -n))).*
        FROM runs r CROSS JOIN generate_series(1, 200) AS n WHERE r.id = 'run-acme-1'`);
      await sql(`UPDATE runs SET sealed_n = NULL, state = 'not-fired' WHERE id LIKE 'far-%'`);
      await seal(300);
      const ids = (await sql(`SELECT id FROM runs WHERE org = 'acme' AND sealed_n IN (1, 2, 200)`)) as Array<{
        id: string;
      }>;
      await deleteRuns(ids.map(({ id }) => id));

      expect(await check('acme', KEY, 100, then())).toMatchObject({
        broken: null,
        deleted: [
          { from: 1, to: 2, links: 2 },
          { from: 200, to: 200, links: 1 },
        ],
      });
    });

    it('it takes all links of a run that was sealed more than once', async () => {
      const run = aRun({ id: 'again' });
      await stores.journal.recordDecision({}, [{ run, intents: [anIntent({ id: 'again', runId: 'again' })] }]);
      await finish('again', 'refused');
      await seal();
      for (const to of ['refused', 'done'] as const) {
        await stores.journal.retry('again', 'ada');
        await finish('again', to);
        await seal();
      }
      expect(await check()).toMatchObject({ checked: RUNS + 3, broken: null, again: ['again', 'again'] });

      await deleteRuns(['again']);

      expect(await check('acme', KEY, 100, then())).toMatchObject({
        broken: null,
        again: [],
        deleted: [{ from: RUNS + 1, to: RUNS + 3, links: 3 }],
      });
    });

    it('nothing goes that is not sealed, is open again, is not there or is not old enough', async () => {
      await stores.journal.recordDecision({}, [{ run: aRun({ id: 'idle', state: 'not-fired' }), intents: [] }]);
      const almost = new Date(Date.now() + (DAYS - 1) * 86_400_000);

      for (const [ids, now] of [
        [[...named(1), 'idle'], then()],
        [[...named(1), 'nobody'], then()],
        [named(1, 2), almost],
      ] as const)
        await expect(deleteRuns(ids, now)).rejects.toThrow(/not sealed, or by a link younger than 400 days/);

      expect(await check('acme', KEY, 2, then())).toMatchObject({ checked: RUNS, broken: null, deleted: [] });
    });

    it('a cut that was made before its time is one that was not allowed', async () => {
      await deleteRuns(named(1));

      expect((await check()).broken).toEqual({
        n: RUNS + 1,
        runId: `cut-${RUNS + 1}`,
        why: 'its time has not come yet',
      });
    });

    it.each([
      ...['from_n', 'to_n', 'links', 'days'].map((column) => `UPDATE audit_cuts SET ${column} = ${column} + 1`),
      `UPDATE audit_cuts SET from_n = from_n - 1`,
      `UPDATE audit_cuts SET newest = newest - interval '1 microsecond'`,
      `UPDATE audit_cuts SET at = at - interval '1 day'`,
      `DELETE FROM audit_cuts`,
      `UPDATE audit_cuts SET n = n + 1`,
      ...[2, 3].map((n) => `UPDATE audit_links SET link = link || 'x' WHERE n = ${n}`),
      `DELETE FROM audit_links WHERE n = 2`,
      `UPDATE audit_links SET cut_n = cut_n + 1 WHERE n = 2`,
      `UPDATE audit_links SET record = record || 'x' WHERE n = ${RUNS + 1}`,
      `DELETE FROM audit_links WHERE n = ${RUNS + 1}`,
      // A run that goes without a cut, also where somebody gives its link to one that there is.
      `DELETE FROM runs WHERE id = 'run-acme-4'`,
      `WITH gone AS (DELETE FROM runs WHERE id IN ('run-acme-1', 'run-acme-4') RETURNING sealed_n)
       UPDATE audit_links SET cut_n = ${RUNS + 1}, run_id = NULL, as_of = NULL, key_id = NULL, record = NULL FROM gone WHERE n = sealed_n`,
      `WITH gone AS (DELETE FROM runs WHERE id = 'run-acme-1' RETURNING sealed_n), made AS (
         INSERT INTO audit_cuts SELECT org, n + 1, 1, 1, 1, days, newest, at FROM audit_cuts)
       UPDATE audit_links SET cut_n = ${RUNS + 2}, run_id = NULL, as_of = NULL, key_id = NULL, record = NULL FROM gone WHERE n = sealed_n`,
    ])('it is found that somebody did: %s', async (change) => {
      await sql(`DELETE FROM audit_links WHERE org = 'other'`);
      await sql(`DELETE FROM runs WHERE org = 'other'`);
      await deleteRuns(named(2, 3));
      for (const limit of [1, 100]) expect((await check('acme', KEY, limit, then())).broken).toBeNull();

      await sql(change);

      for (const limit of [1, 100]) expect((await check('acme', KEY, limit, then())).broken).not.toBeNull();
    });
  });
}
