import { defineFunction } from './define-function.js';

const MAX_INT = 2n ** 63n - 1n;

export const sum = defineFunction({
  name: 'sum',
  summary: 'The numbers of a list added up; 0 of an empty one. Whole as long as all of them are.',
  params: [{ name: 'numbers', type: 'list' }],
  result: 'dyn',
  example: ['sum([2, 3, 4])', '9'],
  charge: ([numbers]) => numbers.length / 8,
  run: ([numbers]) => {
    if (numbers.every((one) => typeof one === 'bigint')) {
      const total = numbers.reduce<bigint>((all, one) => all + one, 0n);
      if (total > MAX_INT || total < -MAX_INT - 1n) throw new Error('the sum is beyond 64 bits');
      return total;
    }
    return numbers.reduce<number>((all, one) => {
      if (typeof one !== 'bigint' && typeof one !== 'number') throw new Error('sum takes a list of numbers');
      return all + Number(one);
    }, 0);
  },
});
