import { ok } from '../answer.js';
import type { ControlRoute } from './router.js';

/** `?after=N` leaves out entries up to N. */
export const ledgerRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/ledger',
  run: ({ parts, query }) => {
    const after = Number(query.get('after') ?? 0) || 0;
    return ok({ entries: parts.ledger.entries.filter((entry) => entry.n > after) });
  },
};
