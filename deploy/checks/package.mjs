// The npm package: packed, installed in an empty folder without our overrides and without scripts, and run there with each Node that can be had.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Beside the Node at hand. */
const MAJORS = [22, 24];
const MOST_MB = 12;
/** A file that is none of these, or was not built, does not belong in the package. */
const BELONGS = /^(package\.json|README\.md|LICENSE|config\/|dist\/.*\.(js|cjs|css|tar\.gz|txt)$|dist\/man\/forgehand\.1$)/;
const NEEDED = [
  'dist/THIRD-PARTY-NOTICES.txt',
  'dist/bundle/run-cli.cjs',
  'dist/cli/forgehand.js',
  'dist/man/forgehand.1',
  'config/rules/sets/',
];

/**
 * @param tools `run`, `must`, `expect` and `Skipped` of deploy/check.mjs
 * @param build makes dist/ if it is not there
 * @returns rows [name of the check, its work], in order: later ones need the package of the first
 */
export function packageChecks(scratch, { run, must, expect, Skipped }, build) {
  let tarball;
  const own = Number.parseInt(process.versions.node, 10);
  return [
    ['npm package holds what runs and nothing else', packs],
    [`npm package runs with Node ${own}`, () => runs(own, dirname(process.execPath))],
    ...MAJORS.filter((major) => major !== own).map((major) => [
      `npm package runs with Node ${major}`,
      () => runs(major, nodeOf(major)),
    ]),
  ];

  function packs() {
    build();
    const said = must('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', scratch]);
    const [{ filename, size, unpackedSize, files }] = Object.values(JSON.parse(said.slice(said.search(/[[{]/))));
    const paths = files.map(({ path }) => path);
    const foreign = paths.filter((path) => !BELONGS.test(path));
    const missing = NEEDED.filter((path) => !paths.some((one) => one.startsWith(path)));
    expect(foreign.length === 0, `holds ${foreign.slice(0, 5).join(', ')}`);
    expect(missing.length === 0, `lacks ${missing.join(', ')}`);
    expect(
      paths.some((path) => /\/template-.*\.tar\.gz$/.test(path)),
      'lacks the template of the embedded store',
    );
    tarball = join(scratch, filename);
    const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    expect(size <= MOST_MB * 1e6, `is ${mb(size)}, aim ${MOST_MB}`);
    return `${mb(size)}, unpacked ${mb(unpackedSize)}, ${paths.length} files`;
  }

  /** @returns the folder with the program `node` of another version, from the npm registry */
  function nodeOf(major) {
    const folder = join(scratch, `node-${major}`);
    mkdirSync(folder);
    const name = `node-${process.platform}-${process.arch}@${major}`;
    const { status, text } = run('npm', ['pack', '--silent', '--pack-destination', folder, name], { cwd: folder });
    if (status !== 0) throw new Skipped(`npm pack ${name} did not come through: ${text.split('\n').at(-1)}`);
    must('tar', ['xzf', readdirSync(folder).find((file) => file.endsWith('.tgz'))], { cwd: folder });
    return join(folder, 'package/bin');
  }

  async function runs(major, bin) {
    if (!tarball) throw new Skipped('needs the package, which was not packed');
    const node = join(bin, 'node');
    const folder = join(scratch, `install-${major}`);
    mkdirSync(join(folder, 'home'), { recursive: true });
    const env = {
      PATH: [bin, process.env.PATH].join(delimiter),
      HOME: join(folder, 'home'),
      npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? '', '.npm'),
      npm_config_update_notifier: 'false',
    };
    const options = { cwd: folder, env };
    const npx = (...args) => must(node, [npmProgram('npx'), '--no-install', 'forgehand', ...args], options);

    must(node, [npmProgram('npm'), 'init', '-y'], options);
    const install = [
      'install',
      '--ignore-scripts',
      '--engine-strict',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      tarball,
    ];
    const said = must(node, [npmProgram('npm'), ...install], options);
    expect(!/warn/i.test(said), `the install warns: ${said}`);
    const version = npx('version');
    expect(/^forgehand \S+ \(node \S+\)$/.test(version), `version says: ${version}`);
    npx('demo', '--exit');
    npx('init', '--sandbox', '--yes', '--no-start');
    await starts(node, options);
    const packages = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    return `${must(node, ['--version'])}: demo, init and start; ${sizeOf(join(folder, 'node_modules'))} MB installed (${packages.join(', ')})`;
  }

  /** The bot of the config that init wrote: it starts, and stops with 0. */
  async function starts(node, options) {
    // Not by npx, which dies of a signal without passing it on.
    const program = join(options.cwd, 'node_modules/forgehand/dist/cli/forgehand.js');
    const bot = spawn(node, [program, 'start'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const ended = new Promise((resolve) => bot.once('close', (code, signal) => resolve(signal ?? code)));
    try {
      await new Promise((resolve, reject) => {
        for (const stream of [bot.stdout, bot.stderr])
          stream.setEncoding('utf8').on('data', (part) => {
            text += part;
            if (text.includes('"forgehand.started"')) resolve();
          });
        void ended.then((how) => reject(new Error(`start ended with ${how}: ${text.slice(-2_000)}`)));
      });
      bot.kill('SIGTERM');
      const how = await ended;
      expect(how === 0, `SIGTERM ended start with ${how}`);
    } finally {
      bot.kill('SIGKILL');
    }
  }
}

/** Of the npm that runs here: another Node runs the same one. */
function npmProgram(name) {
  const npm = process.env.npm_execpath ?? realpathOnPath('npm');
  return join(dirname(npm), `${name}-cli.js`);
}

function realpathOnPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return realpathSync(path);
  }
  throw new Error(`${name} is not on the PATH`);
}

function sizeOf(folder) {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
  return Math.round(bytes / 2 ** 20);
}
