import { describe, expect, it } from '@jest/globals';
import { escapeChat } from './escape-chat.js';

const visible = (text: string): string => text.replaceAll('\u200b', '');

describe('core/escape-chat', () => {
  it.each([
    ['a mention', '@all, @here and \uff20everyone', /[@\uff20]\p{L}/u],
    ['a mention between angles', '<!channel> <@U123>', /<!channel>|<@U/],
    ['a link', 'see https://evil.example and www.evil.example', /:\/\/|www\.e/],
    ['a link that says something else', '[fix it](https://evil.example)', /\]\(/],
    ['a link by reference', '[fix it][x] [x]: y', /\][[:]/],
    ['an address of another kind', 'mailto:a javascript:b', /mailto:|javascript:/i],
  ])('breaks %s, and shows it', (_, text, pattern) => {
    expect(escapeChat(text)).not.toMatch(pattern);
    expect(visible(escapeChat(text))).toBe(text);
  });

  it('is one line without what nobody sees, and is cut', () => {
    expect(escapeChat('a\n> b\u202ec\u0007')).toBe('a > bc');
    expect(escapeChat('x'.repeat(2_000))).toBe(`${'x'.repeat(1_000)}…`);
  });

  it('leaves words and names as they are', () => {
    expect(escapeChat('fix_bug *now* (#12), 50% & more: 3 < 4!')).toBe('fix_bug *now* (#12), 50% & more: 3 < 4!');
  });
});
