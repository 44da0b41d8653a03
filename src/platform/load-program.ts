import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Where the build puts the program in a few files (rolldown.config.mjs). */
const BUNDLE = fileURLToPath(new URL('../bundle/', import.meta.url));
const compiledOf = (file: string): string => `${file}.compiled`;

// Garbage among old objects is collected when the heap has grown to two and a half times what lives; by itself V8 waits until it is up to four times
// as large. A bot that is busy or attacked takes tens of megabytes less that way (docs/bench.md).
setFlagsFromString('--heap-growing-percent=150');

// The embedded store's engine is compiled once more for speed where it is busiest, function by function. By V8's own measure that begins within a
// start, and costs a third of it, and memory that stays. An engine that works gets there within seconds, one that waits never does. Set before
// anything is loaded: V8 takes compiled code only under the flags it was made with.
setFlagsFromString('--wasm-tiering-budget=200000000');

// JavaScript likewise, as long as a start takes: most of what is busy then never is again. Afterwards V8's own measure, for what is busy then stays so.
// Only Node 20 has this flag; a later V8 counts otherwise, and says on stderr that it does not know it.
const HAS_BUDGET = process.versions.v8.startsWith('11.');
const STARTING = '--interrupt-budget=400000';
const WORKING = '--interrupt-budget=67584';
let isStarting = isMainThread;
if (isStarting) setBudget(STARTING);

export function startIsOver(): void {
  isStarting = false;
  setBudget(WORKING);
}

function setBudget(flag: string): void {
  if (HAS_BUDGET) setFlagsFromString(flag);
}

interface Loaded {
  readonly module: { exports: unknown };
  readonly script: Script;
}

const loaded = new Map<string, Loaded>();

/**
 * Load a program from the bundle, with the code that V8 compiled when it was built. Both are there for speed alone: another version of Node compiles
 * anew, and without a bundle the separate files are loaded.
 * @param name of the entry in rolldown.config.mjs
 */
export async function loadProgram<T>(name: string, separate: () => Promise<T>): Promise<T> {
  const file = join(BUNDLE, `${name}.cjs`);
  return existsSync(file) ? (load(file) as T) : separate();
}

/** Write beside each file of the bundle what V8 compiled of it so far, for later processes. @returns bytes */
export function keepCompiledCode(): number {
  let bytes = 0;
  for (const [file, { script }] of loaded) {
    const code = underFlagsOfBuild(() => script.createCachedData());
    writeFileSync(compiledOf(file), code);
    // The build may keep a umask under which its builder alone could read this.
    chmodSync(compiledOf(file), 0o644);
    bytes += code.byteLength;
  }
  return bytes;
}

/** What is loaded later has compiled code of the start too. */
function underFlagsOfBuild<Made>(make: () => Made): Made {
  setBudget(STARTING);
  try {
    return make();
  } finally {
    if (!isStarting) setBudget(WORKING);
  }
}

function load(file: string): unknown {
  const before = loaded.get(file);
  if (before) return before.module.exports;
  const compiled = compiledOf(file);
  // ASCII alone (rolldown.config.mjs): nothing has to be decoded.
  const source = Module.wrap(readFileSync(file, 'latin1'));
  const codeCache = existsSync(compiled) ? { cachedData: readFileSync(compiled) } : {};
  const script = underFlagsOfBuild(() => new Script(source, { filename: file, ...codeCache }));
  const module = { exports: {} };
  loaded.set(file, { module, script });
  const outside = createRequire(file);
  const require = (id: string): unknown => (id.startsWith('./') ? load(join(BUNDLE, id)) : outside(id));
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, Object.assign(require, outside), module, file, dirname(file));
  return module.exports;
}
