// Second step of the build: what `forgehand` and the thread for rules load (core/load-program.ts), from dist/ and from the packages, in a few
// files in dist/bundle/. Some 1,700 files took a process longer to find, read and compile than everything else it does before it works.
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const DIST = join(dirname(fileURLToPath(import.meta.url)), 'dist');
const BUNDLE = join(DIST, 'bundle');

/** Finds its own files (WebAssembly, data) beside itself. */
const OWN_FILES = [/^@electric-sql\/pglite(\/|$)/];

/** Packages that ours ask for if they happen to be installed. We have none of them. */
const NOT_INSTALLED = [
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

export default defineConfig({
  input: {
    'run-cli': join(DIST, 'cli/run-cli.js'),
    'rule-thread-main': join(DIST, 'policies/thread/rule-thread-main.js'),
  },
  platform: 'node',
  external: [...OWN_FILES, ...NOT_INSTALLED],
  plugins: [ownPlace, plainCharacters],
  onLog(level, log, handle) {
    // Else it would be found out by whoever runs the command that needs it.
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
    handle(level, log);
  },
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
});
