import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { LookupAnswer, LookupReader, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { CoalescedLookups } from './coalesced-lookups.js';
import { lookupCatalogue } from './index.js';

const about = (name: string, over: Partial<LookupScope> = {}): LookupScope => ({
  forge: 'main',
  org: 'acme',
  repo: { id: name, owner: 'acme', name, full_name: `acme/${name}` },
  pass: 'tick-1',
  ...over,
});
const ofOrg: LookupRequest = { as: 'hooks', use: 'hooks.list', params: {}, onMissing: 'none' };
const ofRepo: LookupRequest = { as: 'main', use: 'branch.get', params: { branch: 'main' }, onMissing: 'none' };

function coalesced(read: (n: number) => LookupAnswer | Promise<LookupAnswer> = (n) => ({ value: n })) {
  const clock = new ManualClock();
  let reads = 0;
  const reader: LookupReader = { read: async () => read((reads += 1)) };
  return { clock, lookups: new CoalescedLookups(reader, lookupCatalogue(), clock), reads: () => reads };
}

describe('actions/lookups/coalesced-lookups', () => {
  it('asks once about the organization, however many repositories a pass is about', async () => {
    const { lookups, reads } = coalesced();

    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => lookups.read({ ...ofOrg, as: `h${n}` }, about(String(n)))),
    );

    expect([new Set(answers.map((answer) => JSON.stringify(answer))), reads()]).toEqual([new Set(['{"value":1}']), 1]);
  });

  it.each<[string, LookupRequest, LookupScope]>([
    ['another repository, where it is about one', ofRepo, about('web')],
    ['other parameters', { ...ofRepo, params: { branch: 'dev' } }, about('app')],
    ['another lookup', { ...ofRepo, use: 'protection.get' }, about('app')],
    ['another organization', ofRepo, about('app', { org: 'other' })],
    ['another forge', ofRepo, about('app', { forge: 'second' })],
    ['another pass', ofRepo, about('app', { pass: 'tick-2' })],
    ['a decision of no pass', ofRepo, { forge: 'main', org: 'acme', repo: about('app').repo }],
  ])('asks anew for %s', async (_what, request, scope) => {
    const { lookups, reads } = coalesced();

    await lookups.read(ofRepo, about('app'));
    await lookups.read(request, scope);

    expect(reads()).toBe(2);
  });

  it('asks anew after ten seconds, and at once after a failure', async () => {
    const { clock, lookups, reads } = coalesced((n) =>
      n === 1 ? Promise.reject(new Error('away')) : n === 2 ? { failed: 'not now' } : { value: n },
    );

    await expect(lookups.read(ofRepo, about('app'))).rejects.toThrow('away');
    expect(await lookups.read(ofRepo, about('app'))).toEqual({ failed: 'not now' });
    expect(await lookups.read(ofRepo, about('app'))).toEqual({ value: 3 });
    clock.advance(9_999);
    expect(await lookups.read(ofRepo, about('app'))).toEqual({ value: 3 });
    clock.advance(1);
    expect(await lookups.read(ofRepo, about('app'))).toEqual({ value: 4 });
    expect(reads()).toBe(4);
  });
});
