// Mutants of the journal against its own unit tests and some seeds of the simulation. Run from the root of the project.
export default {
  mutate: ['src/pipeline/decide/**/*.ts', '!src/pipeline/decide/**/*.spec.ts'],
  plugins: ['./test/mutation/spec-runner.mjs'],
  testRunner: 'specs',
  testRunnerNodeArgs: ['--no-warnings'],
  coverageAnalysis: 'perTest',
  // Nobody checks the types of mutants.
  disableTypeChecks: false,
  concurrency: 2,
  // A mutant that loops is found by time; on a busy machine one that does not must not be taken for it.
  timeoutMS: 10_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 20,
  ignorePatterns: [
    '/dist',
    '/docs',
    '/bench',
    '/deploy',
    '/data',
    '/reports',
    '/test/e2e',
    '/test/chaos',
    '/.git',
    '/.services',
    '*.tar.gz',
  ],
  incrementalFile: 'reports/mutation-incremental.json',
  tempDirName: '.stryker-tmp',
  reporters: ['progress-append-only', 'json'],
  jsonReporter: { fileName: 'reports/mutation.json' },
  allowConsoleColors: false,
  // The goal is judged by run.mjs, which lists timeouts apart.
  thresholds: { high: 85, low: 85, break: null },
};
