// node deploy/release/make.mjs FOLDER [--image]: the files of a release, from a built source (npm run build).
//   forgehand-VERSION.tgz (npm package) · forgehand-chart-VERSION.tgz · forgehand-image-VERSION.tar (with --image, by buildah) · forgehand-VERSION.cdx.json
//   SHA256SUMS · provenance.intoto.json · provenance.dsse.json (signed, where FORGEHAND_SIGNING_KEY has an ed25519 key: PEM, PKCS #8)
// What it says of its source and its run comes from the variables that workflows of Gitea and Forgejo have; elsewhere from git.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENVELOPE, STATEMENT, SUMS, digestsOf, envelopeOf, statementOf, sumsOf } from './attestation.mjs';
import { bomOf } from './sbom.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Its digest is looked up, and told in the statement. */
const BASE = process.env.FORGEHAND_BASE ?? 'node:24-slim';
const env = process.env;

const [folderName, ...options] = process.argv.slice(2);
if (!folderName || options.some((one) => one !== '--image')) {
  console.error('node deploy/release/make.mjs FOLDER [--image]');
  process.exit(2);
}
const folder = resolve(folderName);
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);

const startedAt = new Date().toISOString();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const commit = env.GITHUB_SHA ?? must('git', ['rev-parse', 'HEAD']);
const epoch = must('git', ['log', '-1', '--format=%ct']);

must('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]);
packChart();
const base = options.includes('--image') ? buildImage() : null;
writeJson(`forgehand-${version}.cdx.json`, bomOf(ROOT));

const digests = digestsOf(folder);
const statement = statementOf(digests, source(), { ...builder(), startedAt, base });
writeFileSync(join(folder, SUMS), sumsOf(digests));
writeJson(STATEMENT, statement);
if (env.FORGEHAND_SIGNING_KEY) writeJson(ENVELOPE, envelopeOf(statement, env.FORGEHAND_SIGNING_KEY));
else console.error('not signed: FORGEHAND_SIGNING_KEY is not set');
console.log(readdirSync(folder).join('\n'));

function must(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    // To look for a newer npm can take minutes where the registry is slow to answer.
    env: { ...env, npm_config_update_notifier: 'false' },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error ?? status}: ${stderr}`);
  return stdout.trim();
}

function writeJson(name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** A chart is its folder by its name, packed; the same bytes for the same commit. */
function packChart() {
  const file = join(folder, `forgehand-chart-${version}.tar`);
  const stable = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${epoch}`,
    '--mode=go=rX,u=rwX',
  ];
  must('tar', [...stable, '--transform=s,^helm,forgehand,', '-cf', file, '-C', 'deploy', 'helm']);
  must('gzip', ['-n', file]);
  renameSync(`${file}.gz`, file.replace(/tar$/, 'tgz'));
}

/** @returns the name of the base with its digest */
function buildImage() {
  must('buildah', ['pull', '-q', BASE]);
  const digest = must('buildah', ['inspect', '--type', 'image', '--format', '{{.FromImageDigest}}', BASE]);
  const pinned = BASE.includes('@') ? BASE : `${BASE.replace(/:[^:/]*$/, '')}@${digest}`;
  const args = { BASE: pinned, RELEASE: version, REVISION: commit };
  const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  must('buildah', ['build', '--isolation', 'chroot', '-f', 'deploy/Dockerfile', ...buildArgs, '-t', 'forgehand', '.']);
  must('buildah', ['push', '-q', 'forgehand', `oci-archive:${join(folder, `forgehand-image-${version}.tar`)}`]);
  return pinned;
}

function source() {
  const own = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: ROOT, encoding: 'utf8' });
  const repository = env.GITHUB_SERVER_URL
    ? `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}`
    : own.status === 0
      ? own.stdout.trim().replace(/\/\/[^/@]*@/, '//')
      : 'urn:forgehand:no-remote';
  return { repository, ref: env.GITHUB_REF ?? 'HEAD', commit };
}

function builder() {
  if (!env.GITHUB_RUN_ID) return { builder: 'urn:forgehand:by-hand', run: `urn:forgehand:process:${process.pid}` };
  const actions = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions`;
  return { builder: actions, run: `${actions}/runs/${env.GITHUB_RUN_NUMBER ?? env.GITHUB_RUN_ID}` };
}
