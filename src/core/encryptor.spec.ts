import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Secret } from './secret.js';
import { Encryptor, isSealed, isSecretReference } from './encryptor.js';

const KEY = new Secret('0123456789abcdef'.repeat(4));
const CANARY = 'canary-5b1f-value';

describe('core/encryptor', () => {
  it('opens what it sealed', () => {
    const encryptor = new Encryptor(KEY);

    const sealed = encryptor.seal(`${CANARY} ü 🚀\r\n`);

    expect(encryptor.unseal(sealed).reveal()).toBe(`${CANARY} ü 🚀\r\n`);
  });

  it('seals one value twice into different texts with one hash', () => {
    const encryptor = new Encryptor(KEY);

    const [one, two] = [encryptor.seal(CANARY), encryptor.seal(CANARY)];

    expect(one.$sealed).not.toBe(two.$sealed);
    expect(one.$hash).toBe(two.$hash);
    expect(encryptor.hash(new Secret(CANARY))).toBe(one.$hash);
    expect(encryptor.hash(`${CANARY}x`)).not.toBe(one.$hash);
  });

  it('shows the value in no form of the sealed one', () => {
    const text = JSON.stringify(new Encryptor(KEY).seal(CANARY));

    for (const form of [
      CANARY,
      Buffer.from(CANARY).toString('base64'),
      Buffer.from(CANARY).toString('hex'),
      encodeURIComponent(CANARY),
    ]) {
      expect(text).not.toContain(form);
    }
    expect(inspect(new Encryptor(KEY))).not.toContain('0123456789abcdef');
  });

  it('refuses a value sealed under another key, or changed since', () => {
    const sealed = new Encryptor(KEY).seal(CANARY);
    const other = new Encryptor(new Secret('f'.repeat(64)));
    const last = sealed.$sealed.at(-3) === 'A' ? 'B' : 'A';
    const changed = { ...sealed, $sealed: `${sealed.$sealed.slice(0, -3)}${last}${sealed.$sealed.slice(-2)}` };

    expect(() => other.unseal(sealed)).toThrow('another keys.data');
    expect(() => new Encryptor(KEY).unseal(changed)).toThrow('another keys.data');
    expect(() => new Encryptor(KEY).unseal({ ...sealed, $sealed: 'v1.AAAA' })).toThrow('another keys.data');
    expect(() => new Encryptor(KEY).unseal({ ...sealed, $sealed: 'v2.AAAA' })).toThrow('another keys.data');
    expect(other.hash(CANARY)).not.toBe(sealed.$hash);
  });

  it.each([
    ['64 hex digits', 'ab'.repeat(32), true],
    ['base64 of 32 bytes', Buffer.alloc(32, 7).toString('base64'), true],
    ['base64url of 32 bytes', Buffer.alloc(32, 251).toString('base64url'), true],
    ['text of 32 bytes', 'correct horse battery staple 123', true],
    ['text of 31 bytes', 'correct horse battery staple 12', false],
    ['nothing', '', false],
  ])('%s => usable is as told', (_, key, usable) => {
    const make = (): Encryptor => new Encryptor(new Secret(key));

    if (usable) expect(make().unseal(make().seal('x')).reveal()).toBe('x');
    else expect(make).toThrow('keys.data needs 32 bytes');
  });

  it('opens what was sealed long ago, and compares with it', () => {
    // As it lies in stores: neither its version nor what its keys are derived for may change.
    const of = 'v1.762oGR9JxqAY_L9QNxaEXTnjUcQsJp0cTI4AMFpuYHgvmbJ39i-MTS-62A';
    const hash = '6e25c10c282fe346c3a3a0e2d503fe61e6b5c3c993c444cced8265327d9e0ba1';
    const encryptor = new Encryptor(KEY);

    expect(encryptor.unseal({ $sealed: of, $hash: hash }).reveal()).toBe('a value of then');
    expect(encryptor.hash('a value of then')).toBe(hash);
    expect(encryptor.seal('a value of then').$sealed).toMatch(/^v1\./);
  });

  it('opens a value of no characters', () => {
    const encryptor = new Encryptor(KEY);

    expect(encryptor.unseal(encryptor.seal('')).reveal()).toBe('');
  });

  it('says by a code of its own that a value cannot be opened, and that a key is none', () => {
    const encryptor = new Encryptor(KEY);
    const { $sealed } = encryptor.seal(CANARY);

    for (const text of ['v1', '', `v2.${$sealed.slice(3)}`, `${$sealed.slice(3)}`, 'v1.'])
      expect(() => encryptor.unseal({ $sealed: text, $hash: '' })).toThrow(
        expect.objectContaining({ code: 'SEAL_BROKEN' }),
      );
    expect(() => new Encryptor(new Secret('short'))).toThrow(expect.objectContaining({ code: 'DATA_KEY_INVALID' }));
  });

  it('takes the bytes of a key for the same, in whatever form they are written', () => {
    const bytes = Buffer.from('fb'.repeat(16) + 'ff07'.repeat(8), 'hex');
    const forms = [
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      ` ${bytes.toString('hex')}\n`,
    ];

    expect(new Set(forms.map((form) => new Encryptor(new Secret(form)).hash(CANARY))).size).toBe(1);
  });

  it('takes what is only nearly hex or base64 for text', () => {
    const hex = 'ab'.repeat(32);
    const base64 = Buffer.alloc(32, 7).toString('base64');
    const keys = [hex, `${hex}!`, `!${hex}`, `?${hex}`, base64, `!${base64}`, `${base64}!`, 'g'.repeat(64)];

    expect(new Set(keys.map((key) => new Encryptor(new Secret(key)).hash(CANARY))).size).toBe(keys.length);
  });

  it('tells sealed values and references from others', () => {
    expect(isSealed(new Encryptor(KEY).seal('x') as never)).toBe(true);
    expect(isSealed({ $sealed: 'x' })).toBe(false);
    expect(isSealed({ $hash: 'x' })).toBe(false);
    expect(isSealed(undefined)).toBe(false);
    expect(isSecretReference({ $secret: 1 })).toBe(false);
    expect(isSecretReference({})).toBe(false);
    expect(isSecretReference(undefined)).toBe(false);
    expect(isSealed(null)).toBe(false);
    expect(isSecretReference({ $secret: 'mirror_token' })).toBe(true);
    expect(isSecretReference('mirror_token')).toBe(false);
  });
});
