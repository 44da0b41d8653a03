import { describe, expect, it } from '@jest/globals';
import { escapeMarkdown, escapeTitle } from './escape-markdown.js';

const MENTIONS = [
  '@all',
  '@ann',
  '(@ann)',
  '[@ann]',
  'x @acme/owners',
  '@@ann',
  'mail@example.org',
  '\u200b@ann',
  '@\u200bann',
  '\u202e@ann',
  '＠ann',
  '﹫ann',
  '\\@ann',
  '&#64;ann',
  '&commat;ann',
  '**@ann**',
  '> @ann',
  '- @ann',
  '| @ann |',
  "'@ann'",
  '@ann:',
  '@ann,@ben',
  '@-ann',
  '@_ann',
  '@ann.',
];
const WORDS = [
  'close',
  'closes',
  'closed',
  'fix',
  'fixes',
  'fixed',
  'resolve',
  'resolves',
  'resolved',
  'reopen',
  'reopens',
  'Fixes',
  'CLOSES',
];
const TARGETS = ['#1', '!1', 'acme/app#1', 'acme/app!1', 'https://forge.example.org/acme/app/issues/1', ': #1'];
const REFERENCES = [
  ...WORDS.map((word, index) => `${word} ${TARGETS[index % TARGETS.length] ?? ''}`),
  ...TARGETS.map((target) => `fixes ${target}`),
  'ABC-1',
  'closes ABC-123',
  'GH-1',
  '＃1',
  '#\u200b1',
  '#\u00ad1',
  'fixes\n#1',
  'fixes\r\n#1',
  'fixes\u2028#1',
  'fixes\u00a0#1',
  '(#1)',
  '[#1]',
  '"#1"',
  '#1#2#3',
  '##1',
  '&#35;1',
  '\\#1',
  'fixes \\#1',
  '#１',
];
const HTML = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '<!-- forgehand:0123456789abcdef -->',
  '-->',
  '<!--',
  '</p>',
  '<br>',
  '<b',
  '&lt;img&gt;',
  '&#60;img&#62;',
  '<details open>',
  '<svg/onload=alert(1)>',
  '<iframe src=//x>',
  '<<b>>',
  '<\u0000b>',
  '<?php',
  '<![CDATA[',
  '<style>*{display:none}</style>',
  '<ANN@example.org>',
  '<https://example.org>',
];
const IMAGES = [
  '![x](https://t.example/p.png)',
  '![x][y]',
  '![](//t.example/p)',
  '!\u200b[x](y)',
  '!\n[x](y)',
  '[x](https://t.example)',
  '[x]: https://t.example',
  '[x][y]',
  'https://t.example/p.png',
  'HTTP://t.example',
  'ftp://t.example',
  '//t.example/p.png',
  'www.t.example',
  'mailto:ann@example.org',
  'javascript:alert(1)',
  '![a](b) ![c](d)',
  '\\![x](y)',
  '\\\\![x](y)',
  '[![x](y)](z)',
];
const BLOCKS = [
  '# heading',
  '## h',
  '- item',
  '* item',
  '+ item',
  '1. one',
  '1) one',
  '> quote',
  '```',
  '```js\ncode\n```',
  '~~~',
  '    code',
  '\tcode',
  '---',
  '***',
  '___',
  '===',
  'a\n===',
  '| a | b |\n|---|---|',
  '`code`',
  '``',
  '*x*',
  '**x**',
  '_x_',
  '~~x~~',
  '$x$',
  '$$x$$',
  '\\',
  '\\\\',
  '- [ ] task',
  '[ ] task',
  '[^1]',
  ':tada:',
];
const OTHERS = [
  '../../etc/passwd',
  '%2e%2e%2f',
  'a\r\nSet-Cookie: x',
  '{{ .Secret }}',
  '${{ secrets.token }}',
  '#{1+1}',
  '/merge',
  '/label x',
  '\u001b[31mred',
  '\u0007',
  '\u0000',
  '\u202eevil',
  '\ud800',
  '\udfff@ann',
  '\u{e0041}@ann',
  '\u{e0100}x',
  '\ufeff/merge',
  '日本語 @ann',
  'مرحبا #1',
  '🎉 fixes #1',
  `${'a'.repeat(10_000)} @ann`,
  `@ann ${'x'.repeat(10_000)}`,
  `${' '.repeat(5_000)}#1`,
  '',
  ' ',
  '\n\n\n',
  'null',
  'a & b',
  'a < b > c',
  '1 + 1 = 2',
  "it's",
  '"quoted"',
];

const all = [...new Set([...MENTIONS, ...REFERENCES, ...HTML, ...IMAGES, ...BLOCKS, ...OTHERS])];

/** What readers of the forge would act on, each looked for in another way than it is taken out. */
const HARMFUL: ReadonlyArray<readonly [string, RegExp]> = [
  ['a mention', /[@\uff20\ufe6b][\p{L}\p{N}_.-]/u],
  ['a reference', /[#!\uff03]\p{N}/u],
  ['a reference to a tracker elsewhere', /\p{L}-\p{N}/u],
  ['HTML', /[<>]/],
  ['an entity of somebody else', /&(?!amp;|lt;|gt;)/],
  ['an image or a link', /(?<!\\)(?:\\\\)*[[\]]/],
  ['an address', /:\/\/|www\.\p{L}|(?:javascript|mailto):\S/iu],
  ['code', /(?<!\\)(?:\\\\)*[`~]/],
  ['emphasis', /(?<!\\)(?:\\\\)*[*_]/],
  ['a table or formula', /(?<!\\)(?:\\\\)*[|$]/],
  ['a second line', /[\n\r\u2028\u2029\u0085]/],
  ['a block', /^(?: {4}|\t|[#>+\-=/]|\d+[.)])/],

  ['a control', /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/],
  ['half a character', /[\ud800-\udfff]/u],
];

describe('core/escape-markdown', () => {
  it('is tried with 150 hostile texts and more', () => {
    expect(all.length).toBeGreaterThanOrEqual(150);
  });

  it.each(
    all.map(
      (text) => [text.length > 60 ? `${text.slice(0, 30)}… (${text.length})` : JSON.stringify(text), text] as const,
    ),
  )('%s does nothing', (_, text) => {
    const escaped = escapeMarkdown(text);

    expect(HARMFUL.filter(([, pattern]) => pattern.test(escaped)).map(([what]) => what)).toEqual([]);
    expect(escaped.length).toBeLessThan(13_000);
  });

  it('finds harm in every kind of hostile text as it comes', () => {
    const found = new Set(
      all.flatMap((text) => HARMFUL.filter(([, pattern]) => pattern.test(text)).map(([what]) => what)),
    );

    expect([...found].sort()).toEqual(HARMFUL.map(([what]) => what).sort());
  });

  it.each([
    ['Faster by half', 'Faster by half'],
    ['It is 3 o’clock, (nearly)', 'It is 3 o’clock, \\(nearly\\)'],
    ['日本語', '日本語'],
    ['two\nlines', 'two lines'],
    ['a < b & c', 'a &lt; b &amp; c'],
  ])('people read %j as it was', (text, shown) => {
    expect(escapeMarkdown(text)).toBe(shown);
  });
});

describe('core/escape-markdown: titles', () => {
  it.each(['1-'.repeat(130_000), '@'.repeat(240), `${'a'.repeat(199)}\u{1f600}${'b'.repeat(40)}`])(
    'a long text is cut, however much it grows by what is broken up (%#)',
    (text) => {
      const title = escapeTitle(text);

      expect(title.length).toBeLessThanOrEqual(201);
      expect(title.endsWith('…')).toBe(true);
      expect(title.isWellFormed()).toBe(true);
    },
  );
});
