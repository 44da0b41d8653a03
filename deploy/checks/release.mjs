// Checks what a machine releases by: the workflows, the changelog, and the files of a release with what says where they come from.
import { Ajv } from 'ajv';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DEPLOY, ROOT, expect, goTool, must, npmPackage, run } from './common.mjs';
import { HELM } from './helm.mjs';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const EDITORCONFIG = 'github.com/editorconfig-checker/editorconfig-checker/v3/cmd/editorconfig-checker@v3.4.0';
/** It carries the schemas of CycloneDX. */
const CYCLONEDX = '@cyclonedx/cyclonedx-library@10.3.0';
const NODE = `node-${process.platform}-${process.arch}@24`;

/** @param build makes dist/ if it is not there */
export function releaseChecks(scratch, build) {
  return [
    ['workflows pass actionlint', workflowsPass],
    ['changesets write the changelog and every version', () => changesetsWrite(scratch)],
    ['release has its files, and its bill of materials fits the schema', () => releaseIsMade(scratch, build)],
    [
      'files are as .editorconfig says',
      () =>
        must(goTool('editorconfig-checker', EDITORCONFIG), ['-disable-indentation', '-disable-indent-size']) || 'all',
    ],
  ];
}

function workflowsPass() {
  const actionlint = goTool('actionlint', ACTIONLINT);
  const lint = (args, options) =>
    run(actionlint, ['-config-file', join(DEPLOY, 'checks/actionlint.yaml'), ...args], options);
  const files = ['.gitea', '.forgejo'].flatMap((forge) =>
    readdirSync(join(ROOT, forge, 'workflows')).map((name) => join(ROOT, forge, 'workflows', name)),
  );
  const { status, text } = lint(files);
  expect(status === 0, text);
  const broken = join(ROOT, '.gitea/workflows/broken.yaml');
  expect(
    lint(['-stdin-filename', broken, '-'], { input: 'on: push\njobs: { a: { runs-on: nowhere, steps: [] } }\n' })
      .status !== 0,
    'a label that no runner has is taken',
  );
  return `${files.length} files`;
}

function changesetsWrite(scratch) {
  const folder = join(scratch, 'bump');
  for (const path of [
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    '.changeset',
    'deploy/release',
    'deploy/helm',
  ])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const change = (name, kind, text) =>
    writeFileSync(join(folder, `.changeset/${name}.md`), `---\nforgehand: ${kind}\n---\n\n${text}\n`);
  change('one', 'minor', 'Rules may ask for the moon.');
  change('two', 'patch', 'The sun no longer stops a rule.');
  // Changesets asks git which files are new.
  const git = (...args) =>
    must('git', ['-c', 'user.name=check', '-c', 'user.email=check@localhost', ...args], { cwd: folder });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'start');
  const bin = join(npmPackage(NODE), 'bin');
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  const versions = (...args) => run(join(bin, 'node'), ['deploy/release/versions.mjs', ...args], { cwd: folder, env });
  const bumped = versions('bump');
  expect(bumped.status === 0, bumped.text);
  const next = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
  const [, newest] = changelog.split(/^## /m);
  expect(
    newest.startsWith(`${next}\n`) && newest.includes('- Rules may ask for the moon.'),
    `CHANGELOG.md begins with: ${changelog.slice(0, 500)}`,
  );
  expect(changelog.includes('## [0.1.0]'), 'the earlier sections are gone');
  mkdirSync(join(folder, 'test/fixtures/stores'), { recursive: true });
  writeFileSync(join(folder, `test/fixtures/stores/${next}.sql`), '');
  const agreed = versions('check', `v${next}`);
  expect(agreed.status === 0, agreed.text);
  expect(versions('check', 'v99.0.0').status === 1, 'a tag of another version is taken');
  return `0.1.0 to ${next}`;
}

function releaseIsMade(scratch, build) {
  build();
  const folder = join(scratch, 'release');
  must(process.execPath, ['deploy/release/make.mjs', folder]);
  const names = must(process.execPath, ['deploy/release/verify.mjs', folder]).split('\n');
  const file = (end) =>
    join(
      folder,
      names.find((name) => name.includes(end)),
    );
  must(goTool('helm', HELM), ['lint', '--strict', file('-chart-')]);
  const schemas = join(npmPackage(CYCLONEDX), 'res/schema');
  const read = (name) => JSON.parse(readFileSync(join(schemas, name), 'utf8'));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}`);
  const fits = ajv.compile(read('bom-1.5.SNAPSHOT.schema.json'));
  const bom = JSON.parse(readFileSync(file('.cdx.json'), 'utf8'));
  expect(fits(bom), ajv.errorsText(fits.errors, { dataVar: 'bom' }));
  expect(!fits({ ...bom, components: [{ name: 'x' }] }), 'the schema takes a component without a type');
  return `${bom.components.length} packages in the bill of materials`;
}
