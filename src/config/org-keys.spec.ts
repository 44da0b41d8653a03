import { describe, expect, it } from '@jest/globals';
import { aConfig } from '../../test/builders/a-config.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { InMemoryKnownFacts } from '../../test/fakes/in-memory-known-facts.js';
import { InMemoryKnownOrgs } from '../../test/fakes/in-memory-known-orgs.js';
import type { KnownOrg } from '../core/known-orgs.port.js';
import { keyedOrgs, withKeys } from './org-keys.js';

const org = (forge: string, name: string) => ({ forge, name });
const known = (key: string, over: Partial<KnownOrg> = {}): KnownOrg => ({
  ...{ forge: 'one', key, name: key, calledNow: null, number: '5' },
  ...over,
});
const keysOf = (orgs: ReadonlyArray<{ forge: string; name: string }>, ofStore: readonly KnownOrg[]): string[] =>
  keyedOrgs(aConfig({ orgs }).orgs, ofStore).map(({ key }) => key);

describe('config/org-keys', () => {
  it.each<[string, Array<{ forge: string; name: string }>, KnownOrg[], string[]]>([
    ['an organization that nobody knows goes by its name', [org('one', 'Acme')], [], ['Acme']],
    [
      'two of one name have their forges behind it',
      [org('one', 'acme'), org('two', 'Acme')],
      [],
      ['acme@one', 'Acme@two'],
    ],
    [
      'the one that was there first keeps its key',
      [org('two', 'acme'), org('one', 'ACME')],
      [known('acme')],
      ['acme@two', 'acme'],
    ],
    [
      'also when the other leaves',
      [org('two', 'acme')],
      [known('acme'), known('acme@two', { forge: 'two', name: 'acme' })],
      ['acme@two'],
    ],
    ['a key is never given twice', [org('one', 'acme')], [known('acme', { name: 'new' })], ['acme@one']],
    [
      'nor where two had the name before',
      [org('one', 'acme')],
      [known('acme', { name: null }), known('ACME@one', { name: null })],
      ['acme@one#2'],
    ],
    [
      'a new name that the forge told means the same organization',
      [org('one', 'new')],
      [known('acme', { calledNow: 'New' })],
      ['acme'],
    ],
    [
      'but not where the config has the old one as well',
      [org('one', 'new'), org('one', 'acme')],
      [known('acme', { calledNow: 'new' })],
      ['new', 'acme'],
    ],
    ['a name of another forge means nothing', [org('two', 'acme')], [known('acme')], ['acme@two']],
  ])('%s', (_says, orgs, ofStore, keys) => {
    expect(keysOf(orgs, ofStore)).toEqual(keys);
  });

  it('the store keeps what was given, where this process may write it, and follows a name', async () => {
    const store = new InMemoryKnownOrgs(new InMemoryKnownFacts(new ManualClock()));
    const { orgs } = aConfig({ orgs: [org('one', 'acme'), org('two', 'acme')] });

    await withKeys(orgs, store, false);
    expect(await store.all()).toEqual([]);
    await withKeys(orgs, store, true);
    await store.keep({ forge: 'one', key: 'acme@one', calledNow: 'new' });
    const after = await withKeys(aConfig({ orgs: [org('one', 'new')] }).orgs, store, true);

    expect(after.map(({ key, name }) => [key, name])).toEqual([['acme@one', 'new']]);
    expect(await store.all()).toEqual([
      { forge: 'one', key: 'acme@one', name: 'new', calledNow: 'new', number: null },
      { forge: 'two', key: 'acme@two', name: 'acme', calledNow: null, number: null },
    ]);
  });
});
