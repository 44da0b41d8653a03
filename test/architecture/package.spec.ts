import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** What Node is started with: the program, its threads, and the verification of the demo. */
const PROGRAMS = [
  'cli/forgehand',
  'insight/trying/try-thread-program',
  'policies/thread/rule-thread-program',
  'store/embedded/embedded-thread',
  'verifier/verify-forge',
];

const SRC = resolve('src');
const { files, dependencies, scripts, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  files: string[];
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
  private?: boolean;
};

/** Files that come with a program when it is loaded, and packages. What it loads later is in the bundle, whose build looks for that itself. */
function loadedWith(program: string): { modules: string[]; packages: string[] } {
  const modules = new Set([join(SRC, `${program}.ts`)]);
  const packages = new Set<string>();
  for (const file of modules)
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
    )) {
      if (target.startsWith('.')) modules.add(resolve(dirname(file), target).replace(/\.js$/, '.ts'));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  return { modules: [...modules], packages: [...packages] };
}

const isPublished = (path: string): boolean =>
  files.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`));

describe('architecture/package', () => {
  it.each(PROGRAMS)('the published files hold all that %s is loaded with', (program) => {
    const { modules } = loadedWith(program);
    const built = modules.map((file) => join('dist', relative(SRC, file)).replace(/\.ts$/, '.js'));

    expect(built.filter((path) => !isPublished(path))).toEqual([]);
  });

  it.each(PROGRAMS)('the packages that %s is loaded with are installed beside it', (program) => {
    const missing = loadedWith(program).packages.filter(
      (name) => !Object.keys(dependencies).some((one) => name === one || name.startsWith(`${one}/`)),
    );

    expect(missing).toEqual([]);
  });

  it('knows every program that is started by its path', () => {
    const started = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('.spec.'))
      .flatMap((name) =>
        [...readFileSync(join(SRC, name), 'utf8').matchAll(/new URL\('(\.[^']*)\.js', import\.meta\.url\)/g)].map(
          ([, path = '']) => relative(SRC, resolve(SRC, dirname(name), path)),
        ),
      );

    expect(started.length).toBeGreaterThan(2);
    expect(started.filter((program) => !PROGRAMS.includes(program))).toEqual([]);
  });

  it('has few npm scripts, each in the table of CONTRIBUTING.md', () => {
    const rows = readFileSync('CONTRIBUTING.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `npm '));
    const missing = Object.keys(scripts).filter(
      (name) => !rows.some((row) => row.includes(`\`npm ${name === 'test' ? name : `run ${name}`}`)),
    );

    expect(missing).toEqual([]);
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(18);
  });

  it('and no page or comment names another', () => {
    const named = ['docs', 'src', 'test', 'bench', 'deploy', 'config', '.'].flatMap((folder) =>
      readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
        .filter((name) => /\.(md|tsx?|mjs|ya?ml)$/.test(name) && !name.includes('node_modules'))
        .flatMap((name) =>
          [
            ...readFileSync(join(folder, name), 'utf8').matchAll(/npm run (?:--silent |-s )?([a-z]+(?::[a-z-]+)*)/g),
          ].map(([, script = '']) => script),
        ),
    );

    expect(named.length).toBeGreaterThan(50);
    expect([...new Set(named)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('is published, with no script that an install would run', () => {
    expect(manifest.private).toBeUndefined();
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
    expect(files.filter((path) => !path.startsWith('dist/') && !existsSync(path))).toEqual([]);
  });
});
