import { beforeAll, describe, expect, it } from '@jest/globals';
import { FEED_EVERY_MS, simulatePolls } from '../../test/builders/simulated-polls.js';

const RATE_PER_S = 10;

describe('polling/a thousand organizations at ten calls a second', () => {
  const world = simulatePolls([{ id: 'main', organizations: 1000, ratePerS: RATE_PER_S }]);
  beforeAll(async () => {
    // One has a gap, from the start.
    world.urgent.add('org-7');
    await world.run();
  }, 600_000);

  it('are all read alike, as rarely as half of the rate allows', () => {
    const { everyS = 0 } = world.period('main') ?? {};
    expect(everyS).toBeGreaterThan(200);
    expect(everyS).toBeLessThan(300);
    for (let n = 0; n < 1000; n += 1) {
      if (n === 7) continue;
      const gaps = world.gaps(`feed/main/org-${n}`);
      expect(gaps.length).toBeGreaterThanOrEqual(3);
      // Turns come up to a tenth too early or too late, and calls wait for each other.
      for (const gap of gaps) {
        expect(gap).toBeGreaterThan(everyS * 0.85);
        expect(gap).toBeLessThan(everyS * 1.2);
      }
    }
    const perS = world.callsPerS('main');
    expect(perS).toBeLessThanOrEqual(RATE_PER_S / 2);
    expect(perS).toBeGreaterThan(RATE_PER_S * 0.4);
  });

  it('but one with a gap keeps its period', () => {
    for (const gap of world.gaps('feed/main/org-7')) expect(gap).toBeLessThan((FEED_EVERY_MS / 1000) * 1.2);
  });

  it('and make one alert, with what it takes and what there is', () => {
    expect([...world.alerts.keys()]).toEqual(['polls.stretched/main']);
    expect(world.alerts.get('polls.stretched/main')).toMatch(
      /^feeds of main are read every 2\d\d s, wanted 60: 1,000 organizations need 1,\d\d\d calls a minute, 2\d\d are left; raise forges\[\]\.rate_per_s \(4\d would do, if the forge bears it\), or feed\.every_s$/,
    );
  });
});
