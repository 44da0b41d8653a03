import { Cron } from 'croner';
import { tableOf } from './table.js';

const UNITS: Readonly<Record<string, number>> = tableOf({ s: 1, m: 60, h: 3600 });

/** What is wrong with a cron expression, and what to do; null = it comes some day. */
export function cronFault(cron: string, tz: string): [message: string, hint?: string] | null {
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5 && !cron.startsWith('@'))
    return [
      `a cron expression has five fields, this has ${fields}`,
      'minute hour day month weekday: "30 2 * * *" is every night at half past two',
    ];
  try {
    const job = new Cron(cron, { paused: true, timezone: tz });
    return job.nextRun(new Date('2024-01-01T00:00:00Z')) ? null : [`"${cron}" never comes`];
  } catch (error) {
    return [`the cron expression does not parse: ${(error as Error).message.replace(/^CronPattern: /, '')}`];
  }
}

/** Whether there is such a time zone: `Europe/Paris`. */
export function isZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    return true;
  } catch {
    return false;
  }
}

/** `90s`, `20m`, `8h`, `1h30m` in seconds; null when it is none. */
export function parseDuration(text: string): number | null {
  const parts = [...text.matchAll(/(\d+)([smh])/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
