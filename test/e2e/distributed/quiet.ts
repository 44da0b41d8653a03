import type { Stores } from '../../../src/store/open-stores.js';
import { until } from '../../services/until.js';

/** Whether nothing is left to decide or to do. */
export async function isQuiet({ inbox, journal }: Stores): Promise<boolean> {
  if ((await inbox.dueArrivals(1)).length + (await inbox.undecidedEvents(1)).length > 0) return false;
  const { planned, claimed, sent, unknown } = await journal.countByState();
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
