import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

/** For a spec of one of our lint rules. @returns what the linter says about a text */
export function lintWith(rule: string): (text: string) => string {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lint-'));
    const config = { jsPlugins: [resolve('test/lint/local-rules.mjs')], rules: { [`local/${rule}`]: 'error' } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (text) => {
    const file = join(folder, 'a.ts');
    writeFileSync(file, text);
    const args = ['node_modules/oxlint/bin/oxlint', '-c', join(folder, 'config.json'), file];
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
  };
}
