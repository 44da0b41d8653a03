import { ok } from '../answer.js';
import type { ControlRoute } from './router.js';

/** `?after=N` leaves out entries up to N, `limit=N` all after so many, `writes=true` those that only read. */
export const ledgerRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/ledger',
  run: ({ parts, query }) => {
    const after = Number(query.get('after') ?? 0) || 0;
    const limit = Number(query.get('limit') ?? 0) || Infinity;
    // Numbers are places: entries are never dropped.
    const entries = parts.ledger.entries.slice(after, after + limit);
    return ok({ last: parts.ledger.entries.length, entries: query.get('writes') === 'true' ? entries.filter(({ method }) => method !== 'GET') : entries });
  },
};
