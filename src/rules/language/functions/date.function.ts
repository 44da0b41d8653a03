import { defineFunction } from './define-function.js';

export const date = defineFunction({
  name: 'date',
  summary: 'The day of a time in UTC, as YYYY-MM-DD.',
  params: [{ name: 'time', type: 'timestamp' }],
  result: 'string',
  example: ['date(timestamp("2026-07-30T23:30:00Z"))', '2026-07-30'],
  charge: () => 1,
  run: ([time]) => time.toISOString().slice(0, 10),
});
