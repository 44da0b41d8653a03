import type { ActProver } from '../../src/pipeline/decide/act-proof.js';

/** A forge that confirms whatever a delivery says: for specs in which nobody lies. */
export const honestActs: ActProver = {
  prove: async (event) => ({ proven: true, by: 'spec', actor: event.actor, event, newer: [], acts: [] }),
};
