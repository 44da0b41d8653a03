import { describe, expect, it } from '@jest/globals';
import { mirrorPlaceOf, wrongMirrorAddress, wrongPublicUrl } from './typed-addresses.js';

describe('cli/init/typed-addresses', () => {
  it.each([
    ['https://github.com/acme', 'github.com/acme/'],
    ['https://nas.lan:8443/', 'nas.lan:8443/'],
    ['http://nas.lan:3000/acme/', 'http://nas.lan:3000/acme/'],
    ['https://10.0.0.7/acme', '10.0.0.7/acme/'],
    ['http://127.0.0.1:3000/acme', 'http://127.0.0.1:3000/acme/'],
    ['https://[fd00::7]:3000/acme', '[fd00::7]:3000/acme/'],
  ])('takes %s for mirrors, and lists %s alone', (answer, place) => {
    expect([wrongMirrorAddress(answer), mirrorPlaceOf(answer)]).toEqual([null, place]);
  });

  it.each([
    'github.com/acme',
    'ssh://git@github.com/acme',
    'https://me:secret@github.com/acme',
    'https://github.com/a b',
    'https://github.com/acme?x=1',
    'https://github.com/acme/../other',
    'https://localhost/acme',
    'http://2130706433/acme',
    'https://github.com./acme',
    'https://metadata.google.internal/acme',
    '',
  ])('asks again after %s, which no rule could use', (answer) => {
    expect(wrongMirrorAddress(answer)).toEqual(expect.any(String));
  });

  it.each([
    ['https://bot.example.org', true],
    ['http://10.0.0.7:8080/', true],
    ['https://bot.example.org/?x=1', false],
    ['https://me:secret@bot.example.org', false],
    ['bot.example.org', false],
  ])('takes %s where the forge reaches the bot: %s', (answer, isTaken) => {
    expect(wrongPublicUrl(answer) === null).toBe(isTaken);
  });
});
