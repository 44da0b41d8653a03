import { defineFunction } from './define-function.js';

export const slug = defineFunction({
  name: 'slug',
  summary: 'The text in lower-case letters, digits and single dashes, for names of branches and variables.',
  params: [{ name: 'text', type: 'string' }],
  result: 'string',
  example: ['slug("Fix: the Über-bug!")', 'fix-the-uber-bug'],
  run: ([text]) =>
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, ''),
});
