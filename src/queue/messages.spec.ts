import { describe, expect, it } from '@jest/globals';
import { readMessage, textOf, wakeUpTexts, type Message } from './messages.js';

/** What PostgreSQL takes. */
const MOST_BYTES = 7_999;

describe('queue/messages', () => {
  it('carries any number of ids, in texts that PostgreSQL takes', () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(80, '0'));

    const texts = wakeUpTexts({
      from: 'f'.repeat(36),
      topic: 'background',
      org: '\u0001'.repeat(250),
      ids,
      isKept: true,
    });

    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(MOST_BYTES);
    expect(texts.flatMap((text) => (readMessage(text) as { ids: string[] }).ids)).toEqual(ids);
  });

  it('has no text without ids', () => {
    expect(wakeUpTexts({ from: 'one', topic: 'event', org: '', ids: [], isKept: false })).toEqual([]);
  });

  it.each<Message>([
    { from: 'one', does: 'wake', topic: 'event', org: 'acme', ids: ['a', 'b'], isKept: false },
    { from: 'one', does: 'listen', proof: 'p' },
    { from: 'one', does: 'leave' },
  ])('reads $does as it was told', (told) => {
    expect(readMessage(textOf(told))).toEqual(told);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'wake'],
    ['no object', '[]'],
    ['no deed', '{"from":"one"}'],
    ['a deed of its own', '{"from":"one","does":"stop"}'],
    ['a topic of its own', '{"from":"one","does":"wake","topic":"secrets","org":"","ids":["a"],"isKept":false}'],
    ['ids that are none', '{"from":"one","does":"wake","topic":"event","org":"","ids":[1],"isKept":false}'],
    [
      'more ids than we send',
      JSON.stringify({ from: 'one', does: 'wake', topic: 'event', org: '', ids: Array(76).fill('a'), isKept: false }),
    ],
    ['something beside', '{"from":"one","does":"leave","also":1}'],
  ])('ignores a text with %s', (_what, text) => {
    expect(readMessage(text)).toBeNull();
  });
});
