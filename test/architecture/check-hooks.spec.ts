import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { checkCommand } from '../../src/cli/check.command.js';

const RELEASE = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version.replace(/\.\d+$/, '');
const folder = mkdtempSync(join(tmpdir(), 'forgehand-hooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The words that the script of the action starts npx with. */
function startedBy(script: string, inputs: Record<string, string>): string[] {
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(folder, 'npx'), 0o755);
  const { stdout, status } = spawnSync('sh', ['-e', '-c', script], {
    env: { PATH: `${folder}:${process.env.PATH}`, ...inputs },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout.trimEnd().split('\n');
}

/** Options of `forgehand check` among these words. */
const optionsIn = (words: readonly string[]): string[] =>
  words.slice(words.indexOf('check') + 1).filter((word) => word.startsWith('--'));

describe('architecture/check-hooks', () => {
  const known = checkCommand(() => undefined).options.map(({ long }) => long);
  const action = parse(readFileSync('deploy/action/action.yml', 'utf8')) as {
    inputs: Record<string, { default: string }>;
    runs: { steps: Array<{ run: string; env: Record<string, string> }> };
  };
  const [step] = action.runs.steps;

  it.each([
    ['false', ['--format']],
    ['true', ['--format', '--strict']],
  ])('the action with strict %s checks the folder, whatever it is called', (strict, options) => {
    const words = startedBy(step?.run ?? '', { RULES: 'my rules; exit 1', STRICT: strict, VERSION: RELEASE });

    expect(words.slice(2, 5)).toEqual([`forgehand@${RELEASE}`, 'check', 'my rules; exit 1']);
    expect(optionsIn(words)).toEqual(options);
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
  });

  it('the script of the action holds no input, and each variable of it is given', () => {
    expect(step?.run).not.toContain('${{');
    expect(Object.values(step?.env ?? {})).toEqual(Object.keys(action.inputs).map((name) => `\${{ inputs.${name} }}`));
  });

  it('action and hook take this release', () => {
    const [hook] = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8')) as Array<{ entry: string }>;

    expect([action.inputs.version?.default, hook?.entry.split(' ').at(-2)]).toEqual([RELEASE, `forgehand@${RELEASE}`]);
  });
});
