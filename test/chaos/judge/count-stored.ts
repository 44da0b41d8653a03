import { createHash } from 'node:crypto';
import type { Stores } from '../../../src/store/open-stores.js';

/** A delivery as sent: its number among all of the storm, and its bytes. */
export interface Sent {
  readonly n: number;
  readonly text: string;
}

export interface Counted {
  /** Acknowledged, and the store has no row of that id with that body, or that is counted as a repeat of that body. */
  readonly lost: readonly number[];
  /** Bodies with more than one row, repeats apart. */
  readonly doubled: readonly number[];
  /** Bodies that do not have exactly one event of their own. */
  readonly withoutOneEvent: readonly number[];
  /** Rows whose body nobody sent (half-written), and repeats that tell an event. */
  readonly strange: number;
  /** Without repeats. */
  readonly rows: number;
  /** Those that the feed told are not among them. */
  readonly events: number;
}

interface Row {
  id: string;
  body: string;
  /** What the body was when it was decided: a repeat has none any more. */
  text: string | null;
  isRepeat: boolean;
  state: string;
  events: string[];
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Count from the rows themselves, not by the code that wrote them. */
export async function countStored(
  { dataSource }: Stores,
  bodies: readonly Sent[],
  acknowledged: ReadonlyMap<number, { readonly id: string }>,
): Promise<Counted> {
  const all: Row[] = await dataSource.query(`
    SELECT a.id, encode(sha256(a.body), 'hex') AS body, encode(a.text_hash, 'hex') AS text, a.code IS NOT DISTINCT FROM 'duplicate' AS "isRepeat", a.state,
           coalesce((SELECT json_agg(e.event_id) FROM arrival_events e WHERE e.arrival_id = a.id), '[]'::json) AS events
    FROM arrivals a WHERE a.kind = 'delivery'`);
  const [{ count: events }] = (await dataSource.query(`
    SELECT count(*)::int AS count FROM events e WHERE NOT EXISTS (
      SELECT 1 FROM arrival_events x JOIN arrivals a ON a.id = x.arrival_id WHERE x.event_id = e.id AND a.kind <> 'delivery')`)) as [
    { count: number },
  ];
  const rows = all.filter(({ isRepeat }) => !isRepeat);
  const repeats = new Map(all.filter(({ isRepeat }) => isRepeat).map((row) => [row.id, row]));
  const byBody = new Map<string, Row[]>();
  for (const row of rows) byBody.set(row.body, [...(byBody.get(row.body) ?? []), row]);
  const tellers = new Map<string, number>();
  for (const row of rows) for (const event of row.events) tellers.set(event, (tellers.get(event) ?? 0) + 1);
  const own = (row: Row): boolean =>
    row.state === 'decided' && row.events.length === 1 && tellers.get(row.events[0] ?? '') === 1;
  const rowsOf = ({ text }: Sent): Row[] => byBody.get(hashOf(text)) ?? [];
  const sent = new Set(bodies.map(({ text }) => hashOf(text)));
  const isLost = (body: Sent): boolean => {
    const answer = acknowledged.get(body.n);
    if (answer === undefined) return false;
    const repeated = repeats.get(answer.id);
    return repeated ? repeated.text !== hashOf(body.text) : !rowsOf(body).some(({ id }) => id === answer.id);
  };
  const numbers = (are: (body: Sent) => boolean): number[] => bodies.filter(are).map(({ n }) => n);
  return {
    lost: numbers(isLost),
    doubled: numbers((body) => rowsOf(body).length > 1),
    withoutOneEvent: numbers((body) => rowsOf(body).filter(own).length !== 1),
    strange:
      rows.filter(({ body }) => !sent.has(body)).length +
      [...repeats.values()].filter(({ text, events: told }) => !sent.has(text ?? '') || told.length > 0).length,
    rows: rows.length,
    events,
  };
}
