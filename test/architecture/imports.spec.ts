import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SRC = resolve('src');
/** Rooms without files, sockets and processes. */
const PURE = ['core', 'events', 'actions', 'verifier'];

/** Folder -> folders it may import from, types included; everybody but `verifier` may import `core`, and everybody but the pure rooms `platform`. No folder stands above one that it is imported by. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  platform: [],
  config: [],
  notify: [],
  observability: ['config', 'notify'],
  events: [],
  forge: ['config'],
  rules: ['config', 'forge'],
  actions: ['forge', 'rules'],
  pipeline: ['config', 'notify', 'observability', 'events', 'forge', 'rules', 'actions'],
  policies: ['config', 'forge', 'rules', 'actions', 'pipeline'],
  webhooks: ['config', 'observability', 'events', 'pipeline'],
  polling: ['config', 'observability', 'events', 'forge', 'rules', 'pipeline'],
  insight: ['config', 'rules', 'actions', 'pipeline', 'policies'],
  housekeeping: ['config', 'observability', 'forge', 'rules', 'actions', 'pipeline', 'policies', 'webhooks', 'polling'],
  api: [
    'config',
    'observability',
    'events',
    'forge',
    'rules',
    'pipeline',
    'policies',
    'polling',
    'insight',
    'housekeeping',
  ],
  console: ['config', 'observability', 'forge', 'insight', 'api'],
  // Adapters: of the rooms above they know the ports alone, see below.
  queue: ['config', 'forge', 'pipeline'],
  store: [
    'config',
    'forge',
    'rules',
    'pipeline',
    'policies',
    'webhooks',
    'polling',
    'insight',
    'housekeeping',
    'api',
    'console',
    'queue',
  ],
  sandbox: ['forge'],
  // Shares nothing with what it checks, not even `core`: see verifier-alone.spec.ts.
  verifier: [],
  // The start of a process: which modules a role has.
  '.': [
    'config',
    'observability',
    'forge',
    'rules',
    'actions',
    'pipeline',
    'policies',
    'webhooks',
    'polling',
    'insight',
    'housekeeping',
    'api',
    'console',
    'queue',
    'store',
  ],
  cli: [
    'config',
    'notify',
    'observability',
    'events',
    'forge',
    'rules',
    'actions',
    'pipeline',
    'policies',
    'insight',
    'housekeeping',
    'api',
    // Work on a whole store, while no bot runs.
    'store',
    'sandbox',
    'verifier',
    '.',
  ],
};

/** Folders that implement ports: all they import of rooms above is a file `*.port.ts`. */
const ADAPTERS = ['queue', 'store'];

/** Library -> the only places that may import it (prefixes below src/). */
const HOMES: Record<string, readonly string[]> = {
  axios: ['forge/http/'],
  nodemailer: ['notify/'],
  oauth4webapi: ['forge/oauth/', 'console/login/'],
  bull: ['queue/'],
  '@nestjs/bull': ['queue/', 'app.module.ts'],
  ioredis: ['queue/'],
  typeorm: ['store/'],
  pg: ['store/'],
  '@electric-sql/pglite': ['store/'],
  'prom-client': ['observability/'],
  pino: ['observability/'],
  '@bufbuild/cel': ['rules/'],
  re2js: ['rules/'],
  commander: ['cli/'],
  preact: ['console/'],
  'preact-render-to-string': ['console/'],
  'cli-table3': ['cli/'],
  undici: ['sandbox/', 'cli/'],
  croner: ['core/', 'housekeeping/', 'rules/'],
  '@nestjs/schedule': ['housekeeping/', 'polling/', 'app.module.ts'],
};

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
  /** `import()`: loaded when somebody asks for it. */
  isLazy: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(spec|d)\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)) {
    found.push({ file, target: match[2] ?? '', typeOnly: match[1] !== undefined, isLazy: false });
  }
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g))
    found.push({ file, target: match[1] ?? '', typeOnly: false, isLazy: true });
  return found;
}

const inSrc = (file: string): string => relative(SRC, file).split(sep).join('/');
const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '.') : '.');
/** Whether one folder may import another, directly or through others. */
function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  const next = MAY_IMPORT[from] ?? [];
  return next.includes(to) || next.some((one) => reaches(one, to, seen));
}

const all = sources(SRC).flatMap(importsOf);

/** What comes with a file when it is loaded: files of ours, and packages. Without what it loads when somebody asks for it. */
function loadedWith(entry: string): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set([join(SRC, entry)]);
  const packages = new Set<string>();
  for (const file of files)
    for (const { target, typeOnly, isLazy } of all.filter((one) => one.file === file)) {
      if (typeOnly || isLazy || target.startsWith('node:')) continue;
      const path = resolve(dirname(file), target).replace(/\.js$/, '.ts');
      if (target.startsWith('.')) files.add(existsSync(path) ? path : `${path}x`);
      else packages.add(target);
    }
  return { files: [...files].map(inSrc), packages: [...packages].sort() };
}

describe('architecture/imports', () => {
  it('finds the sources', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  it('follows the order of the data', () => {
    const wrong = all
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target }) => ({
        from: inSrc(file),
        to: inSrc(resolve(dirname(file), target)).replace(/\.js$/, '.ts'),
      }))
      .filter(({ from, to }) => {
        const [a, b] = [folderOf(from), folderOf(to)];
        if (a === b || (b === 'core' && a !== 'verifier') || (b === 'platform' && !PURE.includes(a))) return false;
        return !(MAY_IMPORT[a] ?? []).includes(b);
      })
      .map(({ from, to }) => `${from} -> ${to}`);

    expect(wrong).toEqual([]);
  });

  it('loads the Console where it is served alone', () => {
    const loaded = loadedWith('main.ts').files;

    expect(loaded).toContain('api/api.module.ts');
    expect(loaded.filter((file) => file.startsWith('console/') && !file.endsWith('.port.ts'))).toEqual([]);
  });

  it('loads for a command line what reads and answers it, and no more', () => {
    expect(loadedWith('cli/run-cli.ts').packages).toEqual(['cli-table3', 'commander', 'picocolors', 'uuid', 'zod']);
  });

  it('loads for `check` what reads rules, and neither framework nor store', () => {
    expect(loadedWith('cli/check-rules.ts').packages).toEqual([
      '@bufbuild/cel',
      '@bufbuild/cel/ext',
      'croner',
      'fastest-levenshtein',
      'lru-cache',
      're2js',
      'safe-stable-stringify',
      'uuid',
      'yaml',
      'zod',
    ]);
  });

  it('loads Bull and the client of Redis where the queue is Redis', () => {
    const { files, packages } = loadedWith('main.ts');

    expect(files).toContain('queue/queue.module.ts');
    expect(packages.filter((name) => /^(bull|ioredis|@nestjs\/bull)$/.test(name))).toEqual([]);
  });

  it('has no folders that import one another', () => {
    const wrong = Object.entries(MAY_IMPORT).flatMap(([folder, others]) =>
      others.filter((other) => reaches(other, folder)).map((other) => `${folder} <-> ${other}`),
    );

    expect(wrong).toEqual([]);
  });

  it('has no files that import one another, types included', () => {
    const edges = all
      .filter(({ target, isLazy }) => target.startsWith('.') && !isLazy)
      .map(({ file, target }) =>
        [file, resolve(dirname(file), target)].map((path) => inSrc(path).replace(/\.\w+$/, '')),
      );
    let circles = edges;
    for (let before = -1; before !== circles.length;) {
      before = circles.length;
      const [importers, imported] = [0, 1].map((end) => new Set(circles.map((edge) => edge[end])));
      circles = circles.filter(([from, to]) => imported?.has(from) && importers?.has(to));
    }

    expect(edges.length).toBeGreaterThan(1000);
    expect(circles.map((edge) => edge.join(' -> '))).toEqual([]);
  });

  it('lets adapters know nothing but ports', () => {
    const wrong = all
      .filter(({ file, target }) => ADAPTERS.includes(folderOf(inSrc(file))) && target.startsWith('.'))
      .map(({ file, target }) => ({
        from: inSrc(file),
        to: inSrc(resolve(dirname(file), target)).replace(/\.js$/, '.ts'),
      }))
      .filter(
        ({ from, to }) =>
          !['core', 'platform', 'config', folderOf(from)].includes(folderOf(to)) && !to.endsWith('.port.ts'),
      )
      .map(({ from, to }) => `${from} -> ${to}`);

    expect(wrong).toEqual([]);
  });

  it('keeps each library in its home', () => {
    const wrong = all
      .filter(({ target, typeOnly, file }) => {
        const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : (target.split('/')[0] ?? '');
        const homes = HOMES[name];
        return homes !== undefined && !typeOnly && !homes.some((home) => inSrc(file).startsWith(home));
      })
      .map(({ file, target }) => `${inSrc(file)} imports ${target}`);

    expect(wrong).toEqual([]);
  });

  it('keeps Nest out of the pure rooms', () => {
    const wrong = all
      .filter(
        ({ file, target }) =>
          target.startsWith('@nestjs/') &&
          /^(core|events|rules\/language|actions)\//.test(inSrc(file)) &&
          inSrc(file) !== 'actions/actions.module.ts',
      )
      .map(({ file }) => inSrc(file));

    expect(wrong).toEqual([]);
  });

  it('lets nobody import cli, and sandbox share only the operations table', () => {
    const local = all
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target, typeOnly }) => ({
        from: inSrc(file),
        to: inSrc(resolve(dirname(file), target)),
        typeOnly,
      }));

    expect(local.filter(({ from, to }) => folderOf(to) === 'cli' && folderOf(from) !== 'cli')).toEqual([]);
    expect(
      local.filter(
        ({ from, to, typeOnly }) =>
          folderOf(from) === 'sandbox' &&
          folderOf(to) === 'forge' &&
          !typeOnly &&
          !/^forge\/(operations|define-operation)/.test(to),
      ),
    ).toEqual([]);
  });

  it('reads the environment in config alone', () => {
    const wrong = sources(SRC)
      .filter((file) => /process\.env/.test(readFileSync(file, 'utf8')) && folderOf(inSrc(file)) !== 'config')
      .map(inSrc);

    expect(wrong).toEqual([]);
  });

  it('never reads recordings', () => {
    const wrong = sources(SRC)
      .filter((file) => /recordings\//.test(readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')))
      .map(inSrc);

    expect(wrong).toEqual([]);
  });
});
