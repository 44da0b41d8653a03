import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import base from '../../jest.config.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Only what can tell something about the journal, and is quick. */
export default {
  ...base,
  rootDir: root,
  testMatch: ['<rootDir>/src/journal/**/*.spec.ts', '<rootDir>/test/mutation/*.mutation.ts'],
};
