import { expect, it } from '@jest/globals';

/** The framework's of this spec, and those of our modules, which are loaded once for all specs. */
const MOST = 8;

it('leaves a promise free of what the specs before it kept with theirs', async () => {
  const kept = Object.getOwnPropertySymbols(Promise.resolve()).filter(
    ({ description }) => description === 'kResourceStore',
  );
  expect(kept.length).toBeLessThanOrEqual(MOST);
});
