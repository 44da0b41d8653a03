import { describe } from '@jest/globals';
import { listedEntriesSuite } from '../conformance/listed-entries.suite.js';
import { pairingSuite } from '../conformance/pairing.suite.js';
import { replaysSuite } from '../conformance/replays.suite.js';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';

/** What the inbox has to hold on every store, here on the one that takes no time. */
describe('deciding on fakes', () => {
  describe('listed entries', () => listedEntriesSuite(async () => new InMemoryInboxStore()));
  describe('pairing', () => pairingSuite(async () => new InMemoryInboxStore(), { runs: 30 }));
  describe('replays', () =>
    replaysSuite(async () => {
      const inbox = new InMemoryInboxStore();
      return { inbox, release: async (id) => inbox.reopen(id) };
    }));
});
