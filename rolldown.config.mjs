// Second step of the build: what `forgehand` and the thread for rules load, from dist/ and from the packages, in a few files in
// dist/bundle/. Some 1,700 files took a process longer to find, read and compile than everything else it does before it works.
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

/** A module that looks for files beside itself still finds them from within the bundle, but for the thread's program, which is bundled too. */
const ownPlace = {
  name: 'own-place',
  transform(code, id) {
    if (!id.startsWith(DIST) || id === join(DIST, 'policies/thread/make-rules.js') || !code.includes('import.meta.url'))
      return null;
    const place = relative(BUNDLE, id).replaceAll('\\', '/');
    return {
      code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`),
      map: null,
    };
  },
};

export default defineConfig({
  input: {
    'run-cli': join(DIST, 'cli/run-cli.js'),
    'rule-thread-program': join(DIST, 'policies/thread/rule-thread-program.js'),
  },
  platform: 'node',
  external: [...OWN_FILES, ...NOT_INSTALLED],
  plugins: [ownPlace],
  onLog(level, log, handle) {
    // Else it would be found out by whoever runs the command that needs it.
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
    handle(level, log);
  },
  // Classes are known by name to TypeORM and in error messages.
  output: { dir: BUNDLE, keepNames: true, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
});
