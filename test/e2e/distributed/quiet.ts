import type { Stores } from '../../../src/store/open-stores.js';
import { waitFor } from '../support/wait-for.js';
import { until } from '../../services/until.js';

/** Whether nothing is left to decide or to do. */
export async function isQuiet({ inbox, journal }: Stores): Promise<boolean> {
  if ((await inbox.dueArrivals(1)).length + (await inbox.undecidedEvents(1)).length > 0) return false;
  const { planned, claimed, sent, unknown } = await journal.countNewestByState(1_000_000, null);
  return planned + claimed + sent + unknown === 0;
}

/** Wait until the feed was read twice more: what it tells late would have come by then. */
export async function twoMorePolls({ cursors }: Stores): Promise<void> {
  const advancedAt = async (): Promise<number> =>
    (await cursors.read('main', 'acme', 'feed'))?.advancedAt.getTime() ?? 0;
  for (let polls = 0; polls < 2; polls += 1) {
    const before = await advancedAt();
    await until(async () => (await advancedAt()) > before);
  }
}

const OPEN = `
SELECT 'arrival ' || id || ' ' || state || ' ' || coalesce(code, '') AS what FROM arrivals WHERE state = 'stored'
UNION ALL SELECT 'event ' || id || ' ' || kind FROM events WHERE decided_at IS NULL
UNION ALL SELECT 'run ' || id || ' ' || rule || ' ' || state || ' ' || reason_code FROM runs WHERE state = 'gathering'
UNION ALL SELECT 'intent ' || id || ' ' || action || ' ' || state || ' ' || coalesce(reason_code, '') || ' ' || coalesce(reason_params, '') || ' attempts ' || attempts || ' due ' || due_at
  FROM intents WHERE state IN ('planned', 'claimed', 'sent', 'unknown', 'waiting')
LIMIT 50`;

/** @throws Error that names all work that is not done, when the condition does not come true within the time */
export async function untilOr(
  { dataSource }: Stores,
  what: string,
  isTrue: () => Promise<boolean>,
  withinMs = 150_000,
): Promise<void> {
  let isReached = false;
  await waitFor(async () => (isReached = await isTrue()), withinMs);
  if (isReached) return;
  const open = (await dataSource.query(OPEN)) as Array<{ what: string }>;
  throw new Error(
    `${what}: not within ${withinMs / 1000} s; open are\n${open.map((row) => row.what).join('\n') || 'nothing'}`,
  );
}
