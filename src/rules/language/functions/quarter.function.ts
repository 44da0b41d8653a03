import { defineFunction } from './define-function.js';

export const quarter = defineFunction({
  name: 'quarter',
  summary: 'The calendar quarter of a time in UTC.',
  params: [{ name: 'time', type: 'timestamp' }],
  result: 'string',
  example: ['quarter(timestamp("2026-07-30T00:00:00Z"))', '2026-Q3'],
  charge: () => 1,
  run: ([time]) => `${time.getUTCFullYear()}-Q${Math.floor(time.getUTCMonth() / 3) + 1}`,
});
