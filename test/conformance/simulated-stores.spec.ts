import { describe } from '@jest/globals';
import { ManualClock } from '../fakes/manual-clock.js';
import { SimStores } from '../simulation/doubles/sim-stores.js';
import { systemClock } from '../../src/core/clock.js';
import { atOnceSuite } from './at-once.suite.js';
import { poisonMessageSuite } from './deadly-work.suite.js';
import { feedRepositoriesSuite } from './feed-repositories.suite.js';
import { inboxStoreSuite } from './inbox-store.suite.js';
import { journalStoreSuite } from './journal-store.suite.js';
import { keptWorkSuite } from './kept-work.suite.js';
import { listedEntriesSuite } from './listed-entries.suite.js';
import { objectOrderSuite } from './object-order.suite.js';
import { pairingSuite } from './pairing.suite.js';
import { recoveryStoreSuite } from './recovery-store.suite.js';

/** The store of the simulation keeps the word that the real ones give. */
describe('conformance/simulated stores', () => {
  describe('journal', () =>
    journalStoreSuite(async () => {
      const clock = new ManualClock();
      return {
        journal: new SimStores(clock).journal,
        expireLeases: async () => clock.advance(60_000),
        endHolds: async () => clock.advance(24 * 3_600_000),
        now: () => clock.now(),
      };
    }));

  describe('recovery', () =>
    recoveryStoreSuite(async () => {
      const clock = new ManualClock();
      const { journal } = new SimStores(clock);
      return { journal, recovery: journal, letPass: async (ms) => clock.advance(ms), anEvent: async () => undefined };
    }));

  describe('inbox', () => inboxStoreSuite(async () => new SimStores(new ManualClock()).inbox));

  describe('deadly work', () =>
    poisonMessageSuite(async () => {
      const { poisonMessages, inbox } = new SimStores(new ManualClock());
      return { store: poisonMessages, inbox };
    }));

  describe('the order of an object', () =>
    objectOrderSuite(async () => {
      const { inbox, journal } = new SimStores(new ManualClock());
      return { inbox, journal, recovery: journal };
    }));

  describe('what is decided at once', () =>
    atOnceSuite(async () => {
      const { inbox, journal } = new SimStores(systemClock);
      return { inbox, journal, recovery: journal };
    }));

  describe('kept work', () => keptWorkSuite(async () => new SimStores(new ManualClock())));

  describe('listed entries', () => listedEntriesSuite(async () => new SimStores(new ManualClock()).inbox));

  feedRepositoriesSuite(async () => ({ seenRepositories: new SimStores(new ManualClock()).seen }));

  describe('pairing', () => pairingSuite(async () => new SimStores(new ManualClock()).inbox, { runs: 100 }));
});
