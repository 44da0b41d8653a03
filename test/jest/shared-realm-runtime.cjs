// How jest loads modules here: as Node does. Jest's own runtime gives every spec a sandbox and loads every module of ours and of the packages
// anew for each of them, which took more time than the tests. Here a worker loads a module once; TypeScript is read by test/swc-hooks.mjs.
// A spec that needs a module of its own (mocked, or fresh) cannot have it: none does.
const asyncHooks = require('node:async_hooks');
const { createHash } = require('node:crypto');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

/** Where `@jest/globals` (test/jest/globals.mjs) finds what belongs to the spec that runs. */
const GLOBALS = Symbol.for('forgehand.jest.globals');
/** Where jest-circus keeps its handlers between two loads of it. */
const CIRCUS_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** As test/swc-hooks.mjs keeps them. */
const MAPS = join(__dirname, '../../node_modules/.cache/swc');

class SharedRealmRuntime {
  /** Storages of the framework that this spec began with. */
  #storages = [];

  constructor(_config, environment) {
    this.environment = environment;
  }

  /** The framework itself: anew for each spec, so that it begins with no tests and no handlers. */
  requireInternalModule(path) {
    delete require.cache[require.resolve(path)];
    delete globalThis[CIRCUS_HANDLERS];
    delete globalThis[TEST_TIMEOUT];
    return this.#noting(() => require(path));
  }

  setGlobalsForRuntime(globals) {
    globalThis[GLOBALS] = { ...globals, jest: this.#jest() };
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  requireModule(path) {
    return require(path);
  }

  /** Where source maps lie, by the file's address as a stack names it. */
  getSourceMaps() {
    return new SourceMaps();
  }

  getAllCoverageInfoCopy() {
    return globalThis.__coverage__;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {
    delete globalThis[GLOBALS];
    for (const storage of this.#storages) storage.disable();
  }

  /** Node copies the values of all storages that were ever used to each new promise: those of specs that have ended would cost more with each spec. */
  #noting(load) {
    const { AsyncLocalStorage } = asyncHooks;
    const storages = this.#storages;
    asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
      constructor(...args) {
        super(...args);
        storages.push(this);
      }
    };
    try {
      return load();
    } finally {
      asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    }
  }

  #jest() {
    const { moduleMocker: mocks, fakeTimersModern: timers } = this.environment;
    const jest = {
      fn: mocks.fn.bind(mocks),
      spyOn: mocks.spyOn.bind(mocks),
      clearAllMocks: () => (mocks.clearAllMocks(), jest),
      resetAllMocks: () => (mocks.resetAllMocks(), jest),
      restoreAllMocks: () => (mocks.restoreAllMocks(), jest),
      useFakeTimers: (options) => (timers.useFakeTimers(options), jest),
      useRealTimers: () => (timers.useRealTimers(), jest),
      setSystemTime: (now) => timers.setSystemTime(now),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      runAllTimersAsync: () => timers.runAllTimersAsync(),
      getTimerCount: () => timers.getTimerCount(),
      setTimeout: (ms) => ((globalThis[TEST_TIMEOUT] = ms), jest),
    };
    return jest;
  }
}

class SourceMaps extends Map {
  get(address) {
    if (!/\.tsx?$/.test(address)) return undefined;
    const path = address.startsWith('file:') ? fileURLToPath(address) : address;
    const map = join(MAPS, `${createHash('sha1').update(path).digest('hex')}.map`);
    return existsSync(map) ? map : undefined;
  }
}

module.exports = SharedRealmRuntime;
