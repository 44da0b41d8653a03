import { askPerson, defineRecovery } from './support/recovery.js';

/** Nothing tells a run that we started from one that somebody else did. */
export const dispatchRecovery = defineRecovery<{ readonly workflow: string }, null>({
  reads: [],
  mayRead: [],
  settle: 'none',
  read: () => Promise.resolve(null),
  decide: ({ wanted: { workflow } }) => askPerson(`whether ${workflow} was started cannot be told, and it must not be started twice`),
});
