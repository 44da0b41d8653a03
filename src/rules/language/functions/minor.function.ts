import { defineFunction } from './define-function.js';
import { readVersion } from './version.js';

export const minor = defineFunction({
  name: 'minor',
  summary: 'The release line of a version tag: major and minor number. An error when the tag is no version.',
  params: [{ name: 'tag', type: 'string' }],
  result: 'string',
  example: ['minor("v1.4.0")', '1.4'],
  charge: ([tag]) => tag.length / 64,
  run: ([tag]) => {
    const { major, minor: number } = readVersion(tag);
    return `${major}.${number}`;
  },
});
