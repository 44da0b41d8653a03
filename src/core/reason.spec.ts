import { describe, expect, it } from '@jest/globals';
import { defineReasons, openPart, textOf, type Reason } from './reason.js';

const say = defineReasons({
  'spec.counted': ({ count }: { count: number }) => `${count} found`,
  'spec.nothing': () => 'nothing found',
  'spec.nested': ({ because }: { because: Reason }) => `stopped: ${textOf(because)}`,
});
const tell = defineReasons(
  {
    'spec.refused': ({ number, labels }: { number: string; labels: readonly string[] }) =>
      `#${number} has no ${labels.join(', ')}`,
    'spec.all': ({ of, is }: { of: readonly Reason[]; is: boolean }) => `${of.map(textOf).join('; ')} (${is})`,
  },
  ['number'],
);

describe('core/reason', () => {
  it('makes the sentence of its code and parameters, also of those within', () => {
    expect(textOf(say('spec.counted', { count: 2 }))).toBe('2 found');
    expect(textOf(say('spec.nested', { because: say('spec.nothing') }))).toBe('stopped: nothing found');
  });

  it('is plain data that survives being stored', () => {
    const stored = JSON.parse(JSON.stringify(say('spec.nested', { because: say('spec.counted', { count: 1 }) })));

    expect(stored).toEqual({
      code: 'spec.nested',
      params: { because: { code: 'spec.counted', params: { count: 1 } } },
    });
    expect(textOf(stored)).toBe('stopped: 1 found');
  });

  it('shows a reason of another program by its code', () => {
    expect(textOf({ code: 'spec.of-tomorrow', params: { count: 3 } })).toBe('spec.of-tomorrow {"count":3}');
  });

  it('shows a reason whose parameters another version wrote', () => {
    expect(textOf({ code: 'spec.nested', params: { message: 'no answer' } })).toBe(
      'spec.nested {"message":"no answer"}',
    );
  });

  it.each([
    [
      'a parameter that anybody may read, and one that is not named so',
      tell('spec.refused', { number: '7', labels: ['a', 'b'] }),
      '#7 has no …',
    ],
    ['nothing named: also no number', say('spec.counted', { count: 2 }), '… found'],
    [
      'reasons within, each by its own names',
      tell('spec.all', { of: [tell('spec.refused', { number: '7', labels: ['a'] }), say('spec.nothing')], is: true }),
      '#7 has no …; nothing found (true)',
    ],
    ['a code of another program', { code: 'spec.of-tomorrow', params: { name: 'a' } }, 'spec.of-tomorrow {"name":"…"}'],
  ])('hides from others what they may not read: %s', (_, reason: Reason, text) => {
    expect(openPart(reason).code).toBe(reason.code);
    expect(textOf(openPart(reason))).toBe(text);
  });

  it('takes no code twice, and none that is not defined', () => {
    expect(() => defineReasons({ 'spec.nothing': () => 'again' })).toThrow('spec.nothing is defined twice');
    // @ts-expect-error a misspelt code does not compile
    say('spec.nothin');
    // @ts-expect-error nor does a parameter of another kind
    say('spec.counted', { count: 'two' });
  });
});
