import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const FOLDER = resolve('src/verifier');

/** What the verification may use besides itself: reading YAML and colours. */
const PACKAGES = ['yaml', 'picocolors'];

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));

function importsOf(file: string): Import[] {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const written = [...text.matchAll(/^(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)].map(
    ([, target = '']) => ({ file, target }),
  );
  const called = [...text.matchAll(/\b(?:import|require)\(\s*([^)]*)\)/g)].map((match) => ({
    file,
    target: (match[1] ?? '').replace(/['"]/g, ''),
  }));
  return [...written, ...called];
}

describe('architecture/verifier', () => {
  const all = files.flatMap(importsOf);

  it('finds the verification', () => {
    expect(files).toContain('verify-forge.ts');
    expect(all.length).toBeGreaterThan(10);
  });

  it('takes nothing from the rest of the product, not even a type', () => {
    const wrong = all
      .filter(({ target }) => target.startsWith('.') && !/^\.\/[^/]+\.js$/.test(target))
      .map(({ file, target }) => `${file} imports ${target}`);

    expect(wrong).toEqual([]);
  });

  it('uses no package that the bot reads or writes a forge with', () => {
    const wrong = all
      .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:') && !PACKAGES.includes(target))
      .map(({ file, target }) => `${file} imports ${target}`);

    expect(wrong).toEqual([]);
  });
});
