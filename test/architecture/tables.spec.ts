import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tables-'));
  const config = { jsPlugins: [resolve('test/lint/local-rules.mjs')], rules: { 'local/no-prototype-tables': 'error' } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lint(text: string): string {
  const file = join(folder, 'a.ts');
  writeFileSync(file, text);
  const args = ['node_modules/oxlint/bin/oxlint', '-c', join(folder, 'config.json'), file];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
}

describe('architecture/tables', () => {
  it.each([
    ['const A: Readonly<Record<string, number>> = { a: 1 };', 'make this table with tableOf'],
    ['class A { readonly #a: Record<string, number> = {}; }', 'make this table with tableOf'],
    ['const isIn = (name: string, map: object) => name in map;', 'ask Object.hasOwn'],
  ])('lint refuses %s', (text, told) => {
    expect(lint(text)).toContain(told);
  });

  it('lint takes a table without a prototype, parameters of any type, and a fixed word', () => {
    const text = "const A: Record<string, number> = tableOf({ a: 1 }); const isIn = 'a' in A;";

    expect(lint(`${text} const B: Record<string, unknown> = {};`)).not.toContain('local(no-prototype-tables)');
  });
});
