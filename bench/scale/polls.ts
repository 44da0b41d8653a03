import { simulatePolls as simulate } from '../../test/builders/simulated-polls.js';
import { median } from '../support/figures.js';
import type { Figures } from './organizations.js';

/** Unlike each other: the first has half of all organizations. The rate is that of the defaults, but for the last one. */
const FORGES = [
  { id: 'half of all', share: 0.5, ratePerS: 10 },
  { id: 'a quarter', share: 0.25, ratePerS: 10 },
  { id: 'an eighth', share: 0.125, ratePerS: 10 },
  { id: 'a sixteenth', share: 0.0625, ratePerS: 10 },
  { id: 'a sixteenth, 100 calls a second', share: 0.0625, ratePerS: 100 },
] as const;

/** So many quiet organizations on five forges, by the real scheduler with a clock of its own. */
export async function simulatePolls(organizations: number): Promise<Figures> {
  const forges = FORGES.map(({ id, share, ratePerS }) => ({
    ...{ id, ratePerS },
    organizations: Math.round(organizations * share),
  }));
  const world = simulate(forges);
  await world.run();
  const figures: Record<string, number> = {};
  for (const { id, organizations: count } of forges) {
    const gaps = Array.from({ length: count }, (_, n) => world.gaps(`feed/${id}/org-${n}`)).flat();
    const period = world.period(id);
    figures[`${id}: organizations`] = count;
    figures[`${id}: calls a minute that the polls need`] = period?.neededPerMin ?? NaN;
    figures[`${id}: calls a minute that were made`] = world.callsPerS(id) * 60;
    figures[`${id}: time between two polls of a feed, median, s`] = median(gaps);
    figures[`${id}: the longest, s`] = Math.max(...gaps);
    figures[`${id}: rate_per_s with which a minute would do`] = period?.ratePerS ?? NaN;
  }
  figures['forges with an alert'] = world.alerts.size;
  return figures;
}
