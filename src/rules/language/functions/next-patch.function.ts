import { defineFunction } from './define-function.js';
import { readVersion } from './version.js';

export const nextPatch = defineFunction({
  name: 'next_patch',
  summary: 'The patch release after a version tag. An error when the tag is no version.',
  params: [{ name: 'tag', type: 'string' }],
  result: 'string',
  example: ['next_patch("v1.4.0")', '1.4.1'],
  charge: ([tag]) => tag.length / 64,
  run: ([tag]) => {
    const { major, minor, patch } = readVersion(tag);
    return `${major}.${minor}.${patch + 1}`;
  },
});
