// node deploy/release/versions.mjs bump|check [TAG]
//   bump   takes the changesets (.changeset/*.md) into CHANGELOG.md and the version, in every file that has it
//   check  whether these files agree, and with the tag of a release (vVERSION)
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Needs Node 22 or later. It has no place in package.json, for who writes a changeset writes a file of four lines. */
const CHANGESETS = '@changesets/cli@3.0.3';
const CHART = 'deploy/helm/Chart.yaml';

const read = (file) => readFileSync(file, 'utf8');
/** Each later version must open it. */
const keptStore = (version) => `test/fixtures/stores/${version}.sql`;
const ownVersion = () => JSON.parse(read('package.json')).version;

/** @param tag of a release; undefined = between releases. @returns what does not agree, one sentence each */
export function disagreements(tag) {
  const version = ownVersion();
  const lock = JSON.parse(read('package-lock.json'));
  const [, newest, date] = /^## \[?(\d[^\s\]]*)\]?(?: - (\S+))?$/m.exec(read('CHANGELOG.md')) ?? [];
  const pending = readdirSync('.changeset').filter((name) => name.endsWith('.md') && name !== 'README.md');
  const said = [
    ['package-lock.json', lock.version],
    ['package-lock.json, packages', lock.packages[''].version],
    ...['version', 'appVersion'].map((key) => [
      `${CHART}, ${key}`,
      new RegExp(`^${key}: (\\S+)$`, 'm').exec(read(CHART))?.[1],
    ]),
    ['the newest section of CHANGELOG.md', newest],
    ...(tag === undefined ? [] : [['the tag', tag.replace(/^v/, '')]]),
  ];
  return [
    ...said.filter(([, one]) => one !== version).map(([what, one]) => `${what} is ${one}, package.json ${version}`),
    ...(tag !== undefined && date === 'unreleased' ? [`CHANGELOG.md says that ${version} is unreleased`] : []),
    ...(tag !== undefined && !existsSync(keptStore(version))
      ? [
          `there is no ${keptStore(version)}: node test/services/run-with.mjs node --import ./test/register-swc.mjs test/tools/keep-store.ts`,
        ]
      : []),
    ...(tag !== undefined && pending.length > 0 ? [`.changeset has ${pending.join(', ')}: run bump first`] : []),
  ];
}

function bump() {
  const command = process.env.FORGEHAND_CHANGESETS?.split(' ') ?? ['npx', '--yes', CHANGESETS];
  const { status } = spawnSync(command[0], [...command.slice(1), 'version'], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command.join(' ')} version ended with ${status}`);
  const version = ownVersion();
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  lock.packages[''].version = version;
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
  writeFileSync(CHART, read(CHART).replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  console.log(`${version}: look at CHANGELOG.md, commit, and tag that commit v${version}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , command, tag] = process.argv;
  if (command === 'bump') bump();
  else if (command === 'check') {
    const said = disagreements(tag);
    for (const one of said) console.error(one);
    process.exitCode = said.length > 0 ? 1 : 0;
  } else {
    console.error('node deploy/release/versions.mjs bump|check [TAG]');
    process.exitCode = 2;
  }
}
