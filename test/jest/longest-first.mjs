import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const DURATIONS = JSON.parse(readFileSync(new URL('../durations.json', import.meta.url), 'utf8'));

/**
 * Starts the specs that take longest first, so that none of them runs alone at the end. Jest knows that by itself only after a run on the same
 * machine; a clean clone goes by `durations.json`, which `npm test -- --keep-durations` writes. Specs that it does not name are short.
 */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const secondsOf = ({ path, context }) =>
      DURATIONS[relative(context.config.rootDir, path).replaceAll('\\', '/')] ?? 0;
    // The rest as Jest would have it.
    return [...(await super.sort(tests))].sort((a, b) => secondsOf(b) - secondsOf(a));
  }
}
