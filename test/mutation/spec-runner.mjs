// A runner for Stryker that keeps the specs loaded: one mutant is one switch in a module that is there already, and takes the milliseconds
// that its specs take. What is worked out while modules load (static mutants) is tried by loading the project's own modules once more.
import { appendFileSync, readdirSync } from 'node:fs';
import { register } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { collect, runCase } from './spec-harness.mjs';

/** What tells something about the journal, the quickest first. */
const FOLDERS = [
  ['src/pipeline/decide', '.spec.ts'],
  ['src/pipeline', 'decide.spec.ts'],
  ...(process.env.MUTANTS_BY_SPECS_ONLY ? [] : [['test/mutation', '.mutation.ts']]),
];

// The simulation takes the global ones away while it runs.
const { setImmediate: turn, setInterval: every, clearInterval: stop } = globalThis;
/** Ends a case that waits for what never comes. */
class Waits extends Error {}

class SpecRunner {
  /** Cases by file, as far as it was loaded. */
  cases = new Map();
  loading = 0;
  /** A rejection that nobody caught would have ended the bot. */
  uncaught = null;

  async init() {
    register('./spec-hooks.mjs', import.meta.url);
    process.on('unhandledRejection', (error) => (this.uncaught ??= error));
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun({ coverageAnalysis }) {
    const tests = [];
    for (const path of specs()) await this.casesOf(path);
    for (const one of [...this.cases.values()].flat()) {
      if (coverageAnalysis === 'perTest') shared().currentTestId = one.name;
      tests.push(await this.try(one));
      shared().currentTestId = undefined;
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage: shared().mutantCoverage };
  }

  /** Each result is written down at once: a run that is broken off leaves what it found. */
  async mutantRun(options) {
    const startedMs = performance.now();
    const result = await this.tryMutant(options);
    const { fileName, location, mutatorName, replacement } = options.activeMutant;
    const [path, ms] = [relative(process.cwd(), fileName), Math.round(performance.now() - startedMs)];
    const told = {
      path,
      line: location.start.line,
      column: location.start.column,
      mutatorName,
      replacement,
      status: result.status,
      ms,
      by: result.killedBy?.[0],
    };
    if (process.env.MUTANTS_FILE)
      appendFileSync(process.env.MUTANTS_FILE, `${JSON.stringify({ ...told, how: options.mutantActivation })}\n`);
    return result;
  }

  async tryMutant({ activeMutant, testFilter, hitLimit, mutantActivation, reloadEnvironment, disableBail }) {
    const isStatic = mutantActivation === 'static';
    this.isWaiting = false;
    if (reloadEnvironment) this.forget();
    // A simulation is long in loading, and what stands at the top of a module is for its own specs to notice.
    const files = specs(activeMutant.fileName).filter((path) => !isStatic || path.endsWith('.spec.ts'));
    shared().activeMutant = activeMutant.id;
    // Ten times as often as all tests together is a loop; Stryker would wait for a hundred times.
    shared().hitLimit = hitLimit === undefined ? undefined : Math.ceil(hitLimit / 10);
    shared().hitCount = hitLimit === undefined ? undefined : 0;
    try {
      const { tests, isLasting } = await this.tryAll(files, isStatic, testFilter, disableBail);
      if (this.isWaiting) return { status: DryRunStatus.Timeout, reason: 'a case waits for what never comes' };
      const looped = determineHitLimitReached(shared().hitCount, shared().hitLimit);
      if (looped) return looped;
      // What a mutant left in the modules would be laid at the door of the next one.
      if (isLasting && !isStatic) {
        this.forget();
        return toMutantRunResult(
          { status: DryRunStatus.Complete, tests: (await this.tryAll(files, isStatic, testFilter, disableBail)).tests },
          disableBail,
        );
      }
      return toMutantRunResult({ status: DryRunStatus.Complete, tests }, disableBail);
    } catch (error) {
      // The modules cannot even be loaded with it.
      if (isStatic)
        return toMutantRunResult({ status: DryRunStatus.Complete, tests: [failed('loading', error, 0)] }, disableBail);
      throw error;
    } finally {
      shared().activeMutant = undefined;
      shared().hitLimit = undefined;
      shared().hitCount = undefined;
    }
  }

  /** Until the first failure. `isLasting`: what failed goes on to fail when the mutant is off again. */
  async tryAll(files, isStatic, testFilter, disableBail) {
    const wanted = testFilter && new Set(testFilter);
    const tests = [];
    for (const path of files) {
      if (this.isWaiting) break;
      if (wanted && ![...wanted].some((name) => name.startsWith(`${path} > `))) continue;
      // What is loaded while a mutant is on is part of what a static one changes, and of no other.
      for (const one of isStatic ? await this.casesOf(path) : await this.withoutMutant(() => this.casesOf(path))) {
        if (wanted && !wanted.has(one.name)) continue;
        const result = await this.try(one);
        tests.push(result);
        if (result.status !== TestStatus.Failed || disableBail) continue;
        return { tests, isLasting: (await this.withoutMutant(() => this.try(one))).status === TestStatus.Failed };
      }
    }
    return { tests, isLasting: false };
  }

  async withoutMutant(work) {
    const { activeMutant, hitCount, hitLimit } = shared();
    Object.assign(shared(), { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
    try {
      return await work();
    } finally {
      Object.assign(shared(), { activeMutant, hitCount, hitLimit });
    }
  }

  async try(one) {
    const startedMs = performance.now();
    this.uncaught = null;
    const spent = () => Math.round(performance.now() - startedMs);
    try {
      await untilIdle(runCase(one));
      await new Promise((done) => turn(done));
      if (this.uncaught) throw this.uncaught;
      return {
        id: one.name,
        name: one.name,
        fileName: resolve(one.file),
        timeSpentMs: spent(),
        status: TestStatus.Success,
      };
    } catch (error) {
      this.isWaiting ||= error instanceof Waits;
      return { ...failed(one.name, error, spent()), fileName: resolve(one.file) };
    }
  }

  /** The next loading takes nothing from this one. */
  forget() {
    this.loading += 1;
    this.cases.clear();
  }

  async casesOf(path) {
    let cases = this.cases.get(path);
    if (!cases)
      this.cases.set(
        path,
        (cases = await collect(path, () => import(`${pathToFileURL(path).href}?loading=${this.loading}`))),
      );
    return cases;
  }
}

/** Specs of the journal wait for nothing outside: while a case is open and the process has had nothing to do for a second, it never ends. */
async function untilIdle(work) {
  let timer;
  let before = performance.eventLoopUtilization();
  let idleMs = 0;
  const waits = new Promise((_, reject) => {
    timer = every(() => {
      const { idle, utilization } = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      idleMs = utilization < 0.2 ? idleMs + idle : 0;
      if (idleMs > 1_000) reject(new Waits('waits for what never comes'));
    }, 250);
  });
  try {
    await Promise.race([work, waits]);
  } finally {
    stop(timer);
  }
}

function failed(name, error, timeSpentMs) {
  return {
    id: name,
    name,
    timeSpentMs,
    status: TestStatus.Failed,
    failureMessage: error instanceof Error ? error.message : String(error),
  };
}

function shared() {
  return (globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {});
}

/** All of them; what stands beside the file that is changed comes first. */
function specs(changed = '') {
  const files = FOLDERS.flatMap(([folder, ending]) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => join(folder, name)),
  );
  const own = changed.replace(/\.ts$/, '.spec.ts');
  return files.sort((a, b) => Number(own.endsWith(b)) - Number(own.endsWith(a)));
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'specs', SpecRunner)];
