// Mutants of the journal against its own unit tests and some seeds of the simulation. Run from the root of the project.
export default {
  mutate: ['src/journal/**/*.ts', '!src/journal/**/*.spec.ts'],
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  // Native ES modules, as in every other run of the tests.
  testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // A mutant that loops is found by time; on a busy machine one that does not must not be taken for it.
  timeoutMS: 30_000,
  timeoutFactor: 4,
  dryRunTimeoutMinutes: 20,
  jest: {
    projectType: 'custom',
    configFile: 'test/mutation/jest.config.mjs',
    enableFindRelatedTests: false,
  },
  ignorePatterns: [
    '/dist',
    '/docs',
    '/bench',
    '/deploy',
    '/data',
    '/reports',
    '/test/recordings',
    '/test/e2e',
    '/test/chaos',
    '/.git',
    '/.services',
    '*.tar.gz',
  ],
  tempDirName: '.stryker-tmp',
  reporters: ['progress-append-only', 'json'],
  jsonReporter: { fileName: 'reports/mutation.json' },
  allowConsoleColors: false,
  // The goal is judged by run.mjs, which lists timeouts apart.
  thresholds: { high: 85, low: 85, break: null },
};
