// Builds the image without a container engine (buildah, on a base of Debian's packages and a Node binary) and runs its tree (sandbox.mjs).
import { Ajv } from 'ajv';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { DEPLOY, ROOT, Skipped, expect, goModule, must, need, npmPackage, run } from './common.mjs';
import { runInImage, startInImage, stop, untilHealthy } from './sandbox.mjs';

const MOST_MB = 200;
const STOP_S = 10;
const NODE = `node-linux-${process.arch}@24`;
/** The specification's own library carries its schema. */
const COMPOSE_SCHEMA = 'github.com/compose-spec/compose-go/v2@v2.4.1';
const NAME = 'localhost/forgehand:check';
/** What a person would find to look around with. */
const PROGRAMS = ['bin', 'sbin', 'usr/bin', 'usr/sbin'];

/** @returns rows [name of the check, its work], in order: later ones need the image of the first */
export function imageChecks(scratch) {
  let image;
  const built = () => {
    if (!image) throw new Skipped('needs the image, which was not built');
    return image;
  };
  return [
    ['compose file fits the schema of the compose specification', composeFits],
    ['image builds on a base without a shell', async () => (image = await buildImage(scratch)).said],
    ['a release refuses a base without a digest', () => releaseRefuses(built())],
    ['image runs as its user on a read-only tree', () => imageIsLocked(built())],
    ['image starts, is healthy and stops', () => imageStarts(built(), scratch)],
    ['each service of the compose file starts from the image', () => servicesStart(built(), scratch)],
  ];
}

function composeFits() {
  const file = join(goModule(COMPOSE_SCHEMA), 'schema/compose-spec.json');
  // The `id` of its draft is `$id` today; nothing refers to one.
  const schema = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const fits = ajv.compile(schema);
  const compose = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true });
  expect(fits(compose), ajv.errorsText(fits.errors, { dataVar: 'compose' }));
  expect(!fits({ ...compose, services: { web: { port: 1 } } }), 'the schema takes a key that the specification lacks');
  return COMPOSE_SCHEMA;
}

async function buildImage(scratch) {
  if (process.getuid?.() !== 0) throw new Skipped('needs root: mmdebstrap, buildah and network namespaces');
  need('buildah', 'it builds the image');
  need('mmdebstrap', 'it makes the base of the image');
  need('bwrap', 'it runs the tree of the image');
  chmodSync(scratch, 0o711);
  const store = ['--storage-driver', 'vfs', '--root', join(scratch, 'store'), '--runroot', join(scratch, 'runroot')];
  const buildah = (...args) => must('buildah', [...store, ...args]);
  const { base, buildBase } = makeBases(scratch);
  for (const [name, folder] of [
    ['base', base],
    ['build-base', buildBase],
  ]) {
    const id = buildah('from', 'scratch');
    buildah('copy', '-q', id, folder, '/');
    buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', id);
    buildah('commit', '-q', '--rm', id, `localhost/forgehand-${name}`);
  }
  const args = [
    '--build-arg',
    'BASE=localhost/forgehand-base',
    '--build-arg',
    'BUILD_BASE=localhost/forgehand-build-base',
  ];
  const build = ['build', '--isolation', 'chroot', '--format', 'docker', '--layers=false', '-f', 'deploy/Dockerfile'];
  buildah(...build, ...args, ...npmMounts(), '-t', NAME, ROOT);
  const archive = join(scratch, 'image.tar');
  buildah('push', '-q', NAME, `oci-archive:${archive}`);
  const mb = Math.round(statSync(archive).size / 1e6);
  const id = buildah('from', NAME);
  const rootfs = join(scratch, 'rootfs');
  must('cp', ['-a', buildah('mount', id), rootfs]);
  chmodSync(rootfs, 0o755);
  // An engine puts these files into each container.
  writeFileSync(join(rootfs, 'etc/hosts'), '127.0.0.1 localhost\n');
  writeFileSync(join(rootfs, 'etc/resolv.conf'), '');
  const { config } = JSON.parse(buildah('inspect', '--type', 'image', NAME)).Docker;
  const unpacked = Math.round(Number(must('du', ['-sk', rootfs]).split(/\s/)[0]) / 1_000);
  expect(mb <= MOST_MB, `the compressed archive has ${mb} MB, at most ${MOST_MB} are allowed`);
  const said = `${mb} MB as a compressed archive, ${unpacked} MB unpacked, Node ${must(join(base, 'usr/local/bin/node'), ['--version'])}`;
  return {
    rootfs,
    config,
    said,
    refuses: () => run('buildah', [...store, ...build, ...args, '--build-arg', 'RELEASE=1.0.0', ROOT]),
  };
}

/** Two trees of Debian's packages and the same Node: one to build in, and one without any program to run on. */
function makeBases(scratch) {
  const node = join(npmPackage(NODE), 'bin/node');
  const buildBase = join(scratch, 'build-base');
  const base = join(scratch, 'base');
  const lists = '/var/lib/apt/lists';
  // The machine's own package lists, where there are any: to fetch and check them again takes minutes.
  const known = existsSync(lists) && readdirSync(lists).some((name) => name.includes('_Packages'));
  const reuse = ['--skip=update', `--setup-hook=mkdir -p "$1${lists}" && cp ${lists}/*_* "$1${lists}/"`];
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((file) =>
    existsSync(file),
  );
  const packages = 'base-files,libc6,libstdc++6,libgcc-s1,dash,coreutils,findutils';
  const suite = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
  const made = run('mmdebstrap', [
    '--quiet',
    '--variant=extract',
    `--include=${packages}`,
    ...(known ? reuse : []),
    suite,
    buildBase,
    ...sources,
  ]);
  if (made.status !== 0) throw new Skipped(`mmdebstrap did not come through: ${made.text.split('\n').at(-1)}`);
  must('cp', ['-a', buildBase, base]);
  for (const folder of PROGRAMS) rmSync(join(base, folder), { recursive: true, force: true });
  for (const root of [base, buildBase]) {
    // Without it, the C library asks for names in DNS alone.
    writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
    cpSync(node, join(root, 'usr/local/bin/node'));
  }
  const npm = dirname(dirname(must('readlink', ['-f', need('npm', 'it installs packages')])));
  cpSync(npm, join(buildBase, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(buildBase, 'usr/local/bin/npm'));
  return { base, buildBase };
}

/** How this machine reaches the npm registry, for the build alone: nothing of it stays in the image. */
function npmMounts() {
  const setting = (name) => must('npm', ['config', 'get', name]);
  const mounts = [
    [setting('cache'), '/root/.npm', 'rw'],
    [setting('globalconfig'), '/usr/local/etc/npmrc', 'ro'],
    [setting('userconfig'), '/root/.npmrc', 'ro'],
    ['/etc/ssl/certs', '/etc/ssl/certs', 'ro'],
  ];
  return mounts.filter(([from]) => existsSync(from)).flatMap(([from, to, mode]) => ['-v', `${from}:${to}:${mode}`]);
}

function releaseRefuses({ refuses }) {
  const { status, text } = refuses();
  expect(status !== 0 && text.includes('has no digest'), `ended with ${status}: ${text.slice(-500)}`);
  return 'BASE=NAME@sha256:DIGEST is asked for';
}

export async function imageIsLocked(image) {
  const { rootfs, config } = image;
  const look = `const { accessSync, existsSync, writeFileSync } = require('node:fs');
    const writes = (file) => { try { writeFileSync(file, ''); return true; } catch { return false; } };
    console.log(JSON.stringify({ uid: process.getuid(), pid: process.pid,
      shell: ['/bin/sh', '/usr/bin/sh', '/bin/bash'].filter((file) => existsSync(file)),
      npm: existsSync('/usr/local/lib/node_modules') || existsSync('/usr/local/bin/npm'),
      written: ['/x', '/app/x', '/app/dist/x', '/etc/forgehand/x', '/usr/local/bin/x'].filter(writes), tmp: writes('/tmp/x') }))`;
  const { status, text } = await runInImage(image, ['node', '-e', look]);
  expect(status === 0, text);
  const seen = JSON.parse(text);
  expect(seen.uid === 10_001 && seen.pid === 1, `runs as ${seen.uid}, process ${seen.pid}`);
  expect(seen.written.length === 0 && seen.tmp, `can write ${seen.written.join(', ') || 'nothing, not even /tmp'}`);
  expect(seen.shell.length === 0 && !seen.npm, 'has a shell or npm');
  const version = await runInImage(image, [...config.Entrypoint, 'version']);
  // One line: a flag that this version of Node lacks would write another.
  expect(version.status === 0 && !version.text.includes('\n'), version.text);
  for (const name of ['title', 'description', 'licenses', 'version', 'revision'])
    expect(`org.opencontainers.image.${name}` in (config.Labels ?? {}), `has no label ${name}`);
  expect(existsSync(join(rootfs, 'app/LICENSE')), 'has no LICENSE');
  return `user ${seen.uid}, no shell, no npm, ${version.text}`;
}

/** One process with a store of its own, as `docker run` with a config starts it. */
export async function imageStarts(image, scratch) {
  const folder = join(scratch, 'embedded');
  mkdirSync(join(folder, 'rules'), { recursive: true });
  writeFileSync(join(folder, 'rules/rules.yaml'), 'version: 1\norg: acme\nrules: []\n');
  const forge = { id: 'main', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: { env: 'TOKEN' } } };
  const org = {
    name: 'acme',
    forge: 'main',
    hooks: [{ id: 'acme', secret: { env: 'TOKEN' } }],
    rules: { path: 'rules' },
  };
  const config = {
    forges: [forge],
    orgs: [org],
    store: { url: 'embedded:/var/lib/forgehand' },
    server: { host: '127.0.0.1', port: 8080 },
  };
  writeFileSync(join(folder, 'forgehand.yaml'), JSON.stringify(config));
  const netns = `fh-one-${process.pid}`;
  must('ip', ['netns', 'add', netns]);
  try {
    must('ip', ['-n', netns, 'link', 'set', 'lo', 'up']);
    const options = { state: join(scratch, 'state'), env: { TOKEN: 'x' }, binds: [[folder, '/etc/forgehand']], netns };
    const { Entrypoint, Cmd, Healthcheck } = image.config;
    const started = startInImage(image, [...Entrypoint, ...Cmd], options);
    try {
      await untilHealthy(image, Healthcheck.Test, started, options);
      const { how, seconds } = await stop(started);
      expect(how === 0 && seconds <= STOP_S, `SIGTERM ended it with ${how} after ${seconds} s`);
      return `healthy by its own health check, ended with 0 in ${seconds.toFixed(1)} s after SIGTERM`;
    } finally {
      started.child.kill('SIGKILL');
    }
  } finally {
    must('ip', ['netns', 'del', netns]);
  }
}

/** compose-services.mjs, in a network of its own: the ports of the compose file may be taken on this machine. */
export function servicesStart({ rootfs, config }, scratch) {
  need('ip', 'it makes the network of the services');
  const hub = `fh-hub-${process.pid}`;
  writeFileSync(join(scratch, 'image.json'), JSON.stringify({ rootfs, config }));
  must('ip', ['netns', 'add', hub]);
  try {
    return must('ip', [
      'netns',
      'exec',
      hub,
      process.execPath,
      join(DEPLOY, 'checks/compose-services.mjs'),
      scratch,
      hub,
    ])
      .split('\n')
      .at(-1);
  } finally {
    must('ip', ['netns', 'del', hub]);
  }
}
