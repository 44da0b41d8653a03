// One jest for every tier; the tiers are path patterns (see scripts/test in package.json).
// Some environments (CI=true) colour output that is no terminal: specs compare plain text, in this process and in its children.
process.env.NO_COLOR = '1';

export default {
  testEnvironment: '<rootDir>/test/jest/shared-realm-environment.mjs',
  runtime: '<rootDir>/test/jest/shared-realm-runtime.cjs',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.{ts,tsx}', '**/*.e2e-spec.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/jest/fixed-seed.mjs'],
  // Node loads the modules; test/register-swc.mjs reads TypeScript.
  transform: {},
  // Not among temporary files: those of the tests may lie in memory.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testSequencer: '<rootDir>/test/jest/longest-first.mjs',
  // What specs leave behind stays in their worker.
  workerIdleMemoryLimit: '1GB',
  maxWorkers: 2,
  // A test that hangs is rare; a machine with other work is not.
  testTimeout: 120_000,
};
