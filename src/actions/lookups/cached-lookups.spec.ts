import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { LookupAnswer, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { CachedLookups } from './cached-lookups.js';

const scope: LookupScope = {
  forge: 'main',
  org: 'acme',
  repo: { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web' },
};
const request = (over: Partial<LookupRequest> = {}): LookupRequest => ({
  as: 'a',
  use: 'branch.get',
  params: { branch: 'main' },
  onMissing: 'none',
  maxAgeS: 600,
  ...over,
});

function cached(...answers: LookupAnswer[]) {
  const clock = new ManualClock();
  let reads = 0;
  const reader = {
    read: async (): Promise<LookupAnswer> => answers[Math.min(reads++, answers.length - 1)] ?? { value: null },
  };
  return { clock, lookups: new CachedLookups(reader, clock), reads: () => reads };
}

describe('actions/lookups/cached-lookups', () => {
  it('gives an answer again while it is young enough, and says of when it is', async () => {
    const { clock, lookups, reads } = cached({ value: 1 }, { value: 2 });
    const at = clock.now().toISOString();

    expect(await lookups.read(request(), scope)).toEqual({ value: 1 });
    clock.advance(600_000);
    expect(await lookups.read(request({ as: 'other' }), scope)).toEqual({ value: 1, cachedAt: at });
    clock.advance(1_000);
    expect(await lookups.read(request(), scope)).toEqual({ value: 2 });
    expect(reads()).toBe(2);
  });

  it.each<[string, LookupRequest, LookupScope]>([
    ['another organization', request(), { ...scope, org: 'other' }],
    ['another forge', request(), { ...scope, forge: 'second' }],
    [
      'another repository',
      request(),
      { ...scope, repo: { id: '8', owner: 'acme', name: 'api', full_name: 'acme/api' } },
    ],
    ['other parameters', request({ params: { branch: 'dev' } }), scope],
    ['another lookup', request({ use: 'protection.get' }), scope],
    ['a lookup without cache', request({ maxAgeS: undefined as never }), scope],
  ])('reads anew for %s', async (_what, other, where) => {
    const { lookups, reads } = cached({ value: 1 });

    await lookups.read(request(), scope);
    expect(await lookups.read(other, where)).toEqual({ value: 1 });
    expect(reads()).toBe(2);
  });

  it('keeps that something is not there, and forgets what failed', async () => {
    const missing = cached({ missing: true });
    const failing = cached({ failed: 'the forge said 500' }, { value: 1 });

    for (const { lookups } of [missing, failing]) await lookups.read(request(), scope);

    expect(await missing.lookups.read(request(), scope)).toMatchObject({ missing: true, cachedAt: expect.any(String) });
    expect(await failing.lookups.read(request(), scope)).toEqual({ value: 1 });
  });
});
