import type { DataSource } from 'typeorm';
import type { Logger } from '../core/logger.js';

/** Settings of a server under which it confirms a commit that the disk does not have. `local` and the others wait for the own disk at least. */
const NOT_DURABLE: ReadonlyArray<readonly [setting: string, value: string]> = [
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['synchronous_commit', 'off'],
];

/**
 * The settings with which this server may lose what it confirmed in a power cut.
 * @param settings as `current_setting` tells them to this user, for this database
 */
export function notDurable(settings: Readonly<Record<string, string>>): string[] {
  return NOT_DURABLE.filter(([setting, value]) => settings[setting] === value).map(([setting]) => setting);
}

/** One warning at the start: the bot works, and its promises do not hold. */
export async function warnOfLostCommits(dataSource: Pick<DataSource, 'query'>, logger: Logger): Promise<void> {
  const columns = NOT_DURABLE.map(([setting]) => `current_setting('${setting}') AS ${setting}`).join(', ');
  const [row] = (await dataSource.query(`SELECT ${columns}`)) as Array<Record<string, string>>;
  const off = notDurable(row ?? {});
  if (off.length > 0) logger.warn({ code: 'store_not_durable', off }, 'store.not-durable');
}
