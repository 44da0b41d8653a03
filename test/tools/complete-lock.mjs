// Adds to package-lock.json the optional packages of other platforms that npm left out, so that `npm ci` finds the file complete
// everywhere. Some registries do not offer all of them, and npm then writes a lock it refuses itself. Run after each change of
// dependencies: npm run lock:complete
import { readFileSync, writeFileSync } from 'node:fs';

const OS = [
  ['win32', 'win32'],
  ['darwin', 'darwin'],
  ['linux', 'linux'],
  ['freebsd', 'freebsd'],
  ['android', 'android'],
  ['openharmony', 'openharmony'],
];
const CPU = [
  ['arm64', 'arm64'],
  ['x64', 'x64'],
  ['ia32', 'ia32'],
  ['ppc64', 'ppc64'],
  ['s390x', 's390x'],
  ['riscv64', 'riscv64'],
  ['loong64', 'loong64'],
  ['arm', 'arm'],
  // For any system: npm installs it nowhere by itself, and wants it in the file all the same.
  ['wasm32', 'wasm32'],
];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
let added = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const here = [`${place}/node_modules/${name}`, `node_modules/${name}`];
    if (place === '' || here.some((path) => lock.packages[path])) continue;
    const os = OS.find(([word]) => name.includes(word))?.[1];
    const cpu = CPU.find(([word]) => name.includes(word))?.[1];
    if (!os && cpu !== 'wasm32') continue;
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ''),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms added to package-lock.json`);
