import { defineFunction } from './define-function.js';
import { readVersion } from './version.js';

export const nextMajor = defineFunction({
  name: 'next_major',
  summary: 'The first release line of the major version after that of a tag. An error when the tag is no version.',
  params: [{ name: 'tag', type: 'string' }],
  result: 'string',
  example: ['next_major("v1.4.0")', '2.0'],
  charge: ([tag]) => tag.length / 64,
  run: ([tag]) => `${readVersion(tag).major + 1}.0`,
});
