import { describe, expect, it } from '@jest/globals';
import { cleanLine, redact } from './map-error.js';

const SECRET = 'p@ss word/ü';

describe('forge/http/redact', () => {
  it.each([
    ['plain', SECRET],
    ['URL', encodeURIComponent(SECRET)],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64 for addresses', Buffer.from(SECRET).toString('base64url')],
    ['hex', Buffer.from(SECRET).toString('hex')],
  ])('takes a secret out in %s form', (_, form) => {
    expect(redact(`before ${form} after`, [SECRET])).toBe('before [secret] after');
  });

  it('leaves a text without the secret as it is', () => {
    expect(redact('label exists', [SECRET, ''])).toBe('label exists');
  });

  it('makes one line of a text from outside and cuts it', () => {
    expect(cleanLine('a\r\nb\u001b[31mc\u2028d')).toBe('a b [31mc d');
    expect(cleanLine('x'.repeat(501))).toHaveLength(501);
  });
});
