import { defineFunction } from './define-function.js';

export const age = defineFunction({
  name: 'age',
  summary: 'How long ago a time was, from `now`; negative for a future time.',
  params: [{ name: 'time', type: 'timestamp' }],
  result: 'duration',
  example: ['age(now - duration("72h")) > duration("48h")', 'true'],
  charge: () => 1,
  run: ([time], { now }) => {
    const ms = now.getTime() - time.getTime();
    return { seconds: BigInt(Math.trunc(ms / 1000)), nanos: (ms % 1000) * 1e6 };
  },
});
