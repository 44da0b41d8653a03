// node deploy/release/publish.mjs FOLDER TAG: puts a release where people find it. What is there already stays: after a failure it is run again.
//   npm package   with NPM_TOKEN, to the registry that npm is configured for
//   image, chart  to the registries of the forge that runs this workflow
//   release       of the tag, with all files of the folder
// GITHUB_SERVER_URL, GITHUB_REPOSITORY and GITHUB_TOKEN say where the forge is; RELEASE_TOKEN, where it is set, is taken in place of the last.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyRelease } from './verify.mjs';

const [folder, tag] = process.argv.slice(2);
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, NPM_TOKEN } = process.env;
const token = process.env.RELEASE_TOKEN ?? process.env.GITHUB_TOKEN;
const lacking = Object.entries({
  FOLDER: folder,
  TAG: tag,
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: repository,
  GITHUB_TOKEN: token,
})
  .filter(([, value]) => !value)
  .map(([name]) => name);
if (lacking.length > 0) {
  console.error(`node deploy/release/publish.mjs FOLDER TAG: there is no ${lacking.join(', ')}`);
  process.exit(2);
}

const version = tag.replace(/^v/, '');
const [owner] = repository.split('/');
verifyRelease(folder, null);
const files = readdirSync(folder);
publishPackage();
pushImage();
await uploadChart();
await makeRelease();

function run(command, args, { input } = {}) {
  return spawnSync(command, args, { encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'inherit'] });
}

function must(command, args, options) {
  const { status, stdout } = run(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
  return stdout.trim();
}

function publishPackage() {
  if (!NPM_TOKEN) return console.log('npm package: not published, NPM_TOKEN is not set');
  const there = run('npm', ['view', `forgehand@${version}`, 'version']);
  if (there.status === 0 && there.stdout.trim() === version) return console.log('npm package: is there already');
  const registry = must('npm', ['config', 'get', 'registry']);
  const home = mkdtempSync(join(tmpdir(), 'fh-npm-'));
  try {
    // npm puts the variable's value in: no token stands in the file.
    writeFileSync(
      join(home, 'npmrc'),
      `${registry.replace(/^https?:/, '').replace(/\/?$/, '/')}:_authToken=\${NPM_TOKEN}\n`,
    );
    const tarball = join(folder, `forgehand-${version}.tgz`);
    must('npm', ['publish', tarball, '--ignore-scripts', '--access', 'public', '--userconfig', join(home, 'npmrc')]);
    console.log('npm package: published');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function pushImage() {
  const archive = files.find((name) => name.startsWith('forgehand-image-'));
  if (!archive) return console.log('image: the folder has none');
  const host = new URL(server).host;
  must('buildah', ['login', '--username', owner, '--password-stdin', host], { input: token });
  // Pushing the same image again changes nothing.
  const image = must('buildah', ['pull', '-q', `oci-archive:${join(folder, archive)}`]);
  must('buildah', ['push', '-q', image, `docker://${host}/${repository.toLowerCase()}:${version}`]);
  console.log('image: pushed');
}

async function uploadChart() {
  const chart = files.find((name) => name.startsWith('forgehand-chart-'));
  const body = readFileSync(join(folder, chart));
  const { status } = await ask('POST', `/api/packages/${owner}/helm/api/charts`, { body, expected: [201, 409] });
  console.log(`chart: ${status === 409 ? 'is there already' : 'uploaded'}`);
}

/** As a draft until all its files are there. */
async function makeRelease() {
  const releases = `/api/v1/repos/${repository}/releases`;
  const release = await drafted(releases);
  const there = new Set(release.assets.map(({ name }) => name));
  for (const name of files.filter((one) => !there.has(one))) {
    const form = new FormData();
    form.set('attachment', new Blob([readFileSync(join(folder, name))]), name);
    await ask('POST', `${releases}/${release.id}/assets?name=${encodeURIComponent(name)}`, { body: form });
  }
  if (release.draft) await ask('PATCH', `${releases}/${release.id}`, { json: { draft: false } });
  console.log(`release ${tag}: ${files.length - there.size} files added, ${there.size} were there already`);
}

async function drafted(releases) {
  const list = await (await ask('GET', `${releases}?limit=50`)).json();
  const same = list.find(({ tag_name }) => tag_name === tag);
  if (same) return same;
  const json = { tag_name: tag, name: tag, draft: true, prerelease: version.includes('-'), body: changes() };
  return (await ask('POST', releases, { json })).json();
}

/** The newest section of the changelog. */
function changes() {
  const [, newest = ''] = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8').split(/^## .*$/m);
  return newest.trim();
}

async function ask(method, path, { body, json, expected = [200, 201] } = {}) {
  const headers = { authorization: `token ${token}`, ...(json ? { 'content-type': 'application/json' } : {}) };
  const answer = await fetch(new URL(path, server), { method, headers, body: json ? JSON.stringify(json) : body });
  if (!expected.includes(answer.status))
    throw new Error(`${method} ${path} was answered with ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
  return answer;
}
