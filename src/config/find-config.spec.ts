import { describe, expect, it } from '@jest/globals';
import { configPlaces, findConfig } from './find-config.js';

describe('config/find-config', () => {
  it.each([
    ['no XDG_CONFIG_HOME', null, '/home/ann/.config/forgehand/forgehand.yaml'],
    ['an absolute one', '/srv/ann', '/srv/ann/forgehand/forgehand.yaml'],
    ['a relative one, which XDG ignores', 'ann', '/home/ann/.config/forgehand/forgehand.yaml'],
  ])('this folder comes before that of the user and that of the machine: %s', (_what, given, ofUser) => {
    const places = configPlaces((name) => (name === 'XDG_CONFIG_HOME' ? given : null), '/home/ann');

    expect(places).toEqual(['config/forgehand.yaml', ofUser, '/etc/forgehand/forgehand.yaml']);
  });

  it.each([
    ['all three', ['a', 'b', 'c'], 'a'],
    ['the last two', ['b', 'c'], 'b'],
    ['the last', ['c'], 'c'],
    ['none', [], 'config/forgehand.yaml'],
  ])('%s are there => %s', (_what, there, config) => {
    expect(findConfig(['a', 'b', 'c'], (path) => there.includes(String(path)))).toBe(config);
  });
});
