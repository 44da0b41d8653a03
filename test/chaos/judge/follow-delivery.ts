import type { Stores } from '../../../src/store/open-stores.js';

/**
 * What the store holds of an acknowledged delivery, from its row to its intents, as lines for people: where an effect that is missing got lost.
 *
 * @param id the answered id of the arrival
 */
export async function followDelivery({ dataSource }: Stores, id: string): Promise<string[]> {
  const told = async (what: string, sql: string): Promise<string[]> => {
    const rows = (await dataSource.query(sql, [id])) as object[];
    return rows.length === 0 ? [`no ${what}`] : rows.map((row) => `${what} ${JSON.stringify(row)}`);
  };
  const events = 'SELECT event_id FROM arrival_events WHERE arrival_id = $1';
  const runs = `SELECT id FROM runs WHERE event_id IN (${events})`;
  return [
    ...(await told(
      'arrival',
      `SELECT id, state, code, reason, event_id, repeats, arrived_at, octet_length(body) AS bytes FROM arrivals
       WHERE id = $1 OR (text_hash, org) = (SELECT text_hash, org FROM arrivals WHERE id = $1)`,
    )),
    ...(await told(
      'event',
      `SELECT id, kind, source, stored_at, decided_at, decided_by FROM events WHERE id IN (${events})`,
    )),
    ...(await told(
      'run',
      `SELECT id, rule, mode, state, reason_code, decided_at, ended_at FROM runs WHERE id IN (${runs})`,
    )),
    ...(await told('intent', `SELECT id, item_key, state, reason_code FROM intents WHERE run_id IN (${runs})`)),
    ...(await told(
      'attempt',
      `SELECT intent_id, outcome, sent_at FROM attempts WHERE intent_id IN (SELECT id FROM intents WHERE run_id IN (${runs}))`,
    )),
  ];
}
