import { describe, expect, it } from '@jest/globals';
import { defineReasons, textOf, type Reason } from './reason.js';

const say = defineReasons({
  'spec.counted': ({ count }: { count: number }) => `${count} found`,
  'spec.nothing': () => 'nothing found',
  'spec.nested': ({ because }: { because: Reason }) => `stopped: ${textOf(because)}`,
});

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

  it('takes no code twice, and none that is not defined', () => {
    expect(() => defineReasons({ 'spec.nothing': () => 'again' })).toThrow('spec.nothing is defined twice');
    // @ts-expect-error a misspelt code does not compile
    say('spec.nothin');
    // @ts-expect-error nor does a parameter of another kind
    say('spec.counted', { count: 'two' });
  });
});
