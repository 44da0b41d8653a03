import { defineFunction } from './define-function.js';
import { readVersion } from './version.js';

export const nextMinor = defineFunction({
  name: 'next_minor',
  summary: 'The release line after that of a version tag. An error when the tag is no version.',
  params: [{ name: 'tag', type: 'string' }],
  result: 'string',
  example: ['next_minor("v1.4.0")', '1.5'],
  charge: ([tag]) => tag.length / 64,
  run: ([tag]) => {
    const { major, minor } = readVersion(tag);
    return `${major}.${minor + 1}`;
  },
});
