// For e2e in the mode of FORGEHAND_TEST_CODES=1: `build/` is the program as it was built, not bundled, whose reasons tell codes in place of sentences.
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';

export function buildInCodes(root) {
  const [from, to] = [join(root, 'dist'), join(root, 'build')];
  rmSync(to, { recursive: true, force: true });
  // Without a bundle a program loads its separate files.
  cpSync(from, to, { recursive: true, filter: (path) => path !== join(from, 'bundle') });
  renameSync(join(to, 'core/reason.js'), join(to, 'core/real-reason.js'));
  const source = readFileSync(join(root, 'test/text-codes/reason.ts'), 'utf8');
  const { code } = transformSync(source, {
    module: { type: 'es6' },
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  });
  writeFileSync(join(to, 'core/reason.js'), code.replaceAll('../../src/core/reason.js', './real-reason.js'));
}
