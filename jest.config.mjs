// One jest for every tier; the tiers are path patterns (see scripts/test in package.json).
// Some environments (CI=true) colour output that is no terminal: specs compare plain text, in this process and in its children.
process.env.NO_COLOR = '1';

/** Every sentence of a reason is its code: a program that reads sentences fails then. What a spec expects is turned back into sentences. */
const inCodes = process.env.FORGEHAND_TEST_CODES === '1';

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    ...(inCodes ? { '^\\.{1,2}/(?!.*src/)(.*core/)?reason\\.js$': '<rootDir>/test/text-codes/reason.ts' } : {}),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  setupFilesAfterEnv: inCodes ? ['<rootDir>/test/text-codes/expect-sentences.ts'] : [],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          keepClassNames: true,
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Not among temporary files: those of the tests may lie in memory.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testSequencer: '<rootDir>/test/longest-first.mjs',
  // Modules of a spec stay in its worker; a new worker costs half a second.
  workerIdleMemoryLimit: '1GB',
  maxWorkers: 2,
  testTimeout: 30000,
};
