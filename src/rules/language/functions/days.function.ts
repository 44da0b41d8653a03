import { defineFunction } from './define-function.js';

/** Days that a time of four digits for the year can be moved by. */
const MAX_DAYS = 3_652_500n;

/** Units of `duration()` end at hours, as those of CEL do. */
export const days = defineFunction({
  name: 'days',
  summary: 'So many days of 24 hours, as a duration. An error beyond 10000 years.',
  params: [{ name: 'count', type: 'int' }],
  result: 'duration',
  example: ['date(timestamp("2026-07-30T00:00:00Z") + days(2))', '2026-08-01'],
  charge: () => 1,
  run: ([count]) => {
    if (count > MAX_DAYS || count < -MAX_DAYS) throw new Error(`${count} days are more than 10000 years`);
    return { seconds: count * 86_400n, nanos: 0 };
  },
});
