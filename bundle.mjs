// Second step of the build: what rolldown.config.mjs describes, with one line in place of the names of all chunks, and the licences of what went in.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import configs, { NOT_INSTALLED } from './rolldown.config.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));
const manifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

const chunks = (await build(configs)).flatMap(({ output }) => output.filter(({ type }) => type === 'chunk'));
checkOutside(chunks);
const folders = bundledFolders(chunks);
writeFileSync(join(ROOT, 'dist/THIRD-PARTY-NOTICES.txt'), notices(folders));
console.log(`bundled into ${chunks.length} files, with parts of ${folders.length} packages`);

/** What stays outside is installed with the published package, or is never there. */
function checkOutside(made) {
  const installed = Object.keys(manifest(ROOT).dependencies);
  const isOutside = (name) =>
    isBuiltin(name) ||
    installed.some((one) => name === one || name.startsWith(`${one}/`)) ||
    NOT_INSTALLED.some((one) => (typeof one === 'string' ? one === name : one.test(name)));
  const files = new Set(made.map(({ fileName }) => fileName));
  const missing = made
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((name) => !files.has(name) && !isOutside(name));
  if (missing.length > 0) throw new Error(`neither bundled nor in dependencies: ${[...new Set(missing)].join(', ')}`);
}

/** Folders of the packages that chunks have modules of, by name and version. */
function bundledFolders(made) {
  const found = new Map();
  for (const id of made.flatMap(({ moduleIds }) => moduleIds)) {
    // A virtual module of the bundler has more before its path, or none.
    const [folder] =
      /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll('\\', '/').replace(/^\0/, '')) ?? [];
    if (folder === undefined) continue;
    const { name, version } = manifest(folder);
    found.set(`${name} ${version}`, folder);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, folder]) => folder);
}

function notices(all) {
  const parts = all.map((folder) => {
    const { name, version, license, author } = manifest(folder);
    const texts = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim());
    if (texts.length === 0 && !license) throw new Error(`${name} ${version} does not say its licence`);
    const by = typeof author === 'string' ? author : (author?.name ?? `the authors of ${name}`);
    return `${name} ${version} (${license})\n\n${texts.length > 0 ? texts.join('\n\n') : `Licence: ${license}. Copyright: ${by}.`}\n`;
  });
  return `Forgehand contains parts of the packages below. Each is under its own licence.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
