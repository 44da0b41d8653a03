import { defineFunction } from './define-function.js';

export const slug = defineFunction({
  name: 'slug',
  summary:
    'The text in lower-case letters, digits and single dashes, for names of branches and variables. An error when it has no Latin letter and no digit.',
  params: [{ name: 'text', type: 'string' }],
  result: 'string',
  example: ['slug("Fix: the Über-bug!")', 'fix-the-uber-bug'],
  charge: ([text]) => text.length / 4,
  run: ([text]) => {
    const name = text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    // A branch named "fix/" would be refused later, where nobody knows the text any more.
    if (name === '')
      throw new Error(`"${text.slice(0, 120)}" has no Latin letter and no digit, so no name can be made of it`);
    return name;
  },
});
