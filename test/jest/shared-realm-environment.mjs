import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** More than Node's ten, to show where a failing test came from. */
const STACK_FRAMES = 25;

/**
 * Specs run in the worker's own realm, not in a sandbox of their own. What one of them changes of the process is put back before the next: its
 * environment, its folder, its console and its way out.
 */
export default class SharedRealmEnvironment {
  global = globalThis;
  fakeTimers = null;
  #before = processState();

  constructor({ projectConfig }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    Error.stackTraceLimit = STACK_FRAMES;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    putBack(this.#before);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

function processState() {
  return {
    env: { ...process.env },
    exit: process.exit,
    exitCode: process.exitCode,
    console: globalThis.console,
    directory: process.cwd(),
  };
}

function putBack({ env, exit, exitCode, console, directory }) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exit = exit;
  process.exitCode = exitCode;
  globalThis.console = console;
  // Not asked where it is: a spec may have removed that folder.
  process.chdir(directory);
}
