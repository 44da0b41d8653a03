// Second step of the build: what `forgehand` and its threads for rules load (platform/load-program.ts), from dist/ and from the packages, in a few
// files in dist/bundle/. Some 1,700 files took a process longer to find, read and compile than everything else it does before it works.
import { readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const DIST = join(dirname(fileURLToPath(import.meta.url)), 'dist');
const BUNDLE = join(DIST, 'bundle');

/** Finds its own files (WebAssembly, data) beside itself. */
const OWN_FILES = [/^@electric-sql\/pglite(\/|$)/];

/** Packages that ours ask for if they happen to be installed. We have none of them. */
export const NOT_INSTALLED = [
  /^@nestjs\/(microservices|platform-express|websockets)(\/|$)/,
  /^@fastify\/(multipart|static|view)$/,
  /^class-(transformer|validator)$/,
  'pg-native',
];

/** A module that looks for files beside itself still finds them from within the bundle. */
const ownPlace = {
  name: 'own-place',
  transform(code, id) {
    if (!id.startsWith(DIST) || !code.includes('import.meta.url')) return null;
    const place = relative(BUNDLE, id).replaceAll('\\', '/');
    return {
      code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`),
      map: null,
    };
  },
};

/** One character beyond ASCII makes V8 keep a whole file in two bytes a character, as long as the process lives. Only texts and patterns have any. */
const plainCharacters = {
  name: 'plain-characters',
  generateBundle(options, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk')
        chunk.code = chunk.code.replace(
          /[^\0-\x7f]/g,
          (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  },
};

/** Else it would be found out by whoever runs the command, or opens the page, that needs it. */
function failOnUnresolved(level, log, handle) {
  if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
  handle(level, log);
}

/** What runs in a browser: each file of `console/islands/` that stands alone there. */
const ISLANDS = join(DIST, 'console/islands');
const islands = readdirSync(ISLANDS).filter((name) => name.endsWith('.js'));

const server = {
  input: {
    'run-cli': join(DIST, 'cli/run-cli.js'),
    'rule-thread-main': join(DIST, 'policies/thread/rule-thread-main.js'),
    'try-thread-main': join(DIST, 'insight/trying/try-thread-main.js'),
  },
  platform: 'node',
  external: [...OWN_FILES, ...NOT_INSTALLED],
  plugins: [ownPlace, plainCharacters],
  onLog: failOnUnresolved,
  // Classes are known by name to TypeORM and in error messages. CommonJS, for Node cannot take compiled code of other modules (load-program.ts).
  output: {
    dir: BUNDLE,
    format: 'cjs',
    cleanDir: true,
    // As modules are. Else a function that is called on a text finds an object in `this`, and CEL's methods of texts fail.
    banner: "'use strict';",
    keepNames: true,
    // Without comments and spaces: the source stays in memory too.
    minify: { compress: false, mangle: false, codegen: true },
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  },
};

/** Names change with the contents, so that browsers may keep them (src/console/http/assets.ts). */
const browser = {
  input: Object.fromEntries(islands.map((name) => [basename(name, '.js'), join(ISLANDS, name)])),
  platform: 'browser',
  onLog: failOnUnresolved,
  output: {
    dir: join(DIST, 'console/assets'),
    format: 'esm',
    cleanDir: true,
    minify: true,
    hashCharacters: 'hex',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: 'shared-[hash].js',
  },
};

export default defineConfig([server, browser]);
