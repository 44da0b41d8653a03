import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const IMPORT = /^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm;

/** What is loaded with this file before its first line runs. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, from, bare] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const name = from ?? bare ?? '';
    if (name.startsWith('.')) loadedWith(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

describe('architecture/empty clone', () => {
  it.each(['test/run.mjs', 'test/tools/demo.mjs'])('lets %s start before packages are installed', (file) => {
    const all = [...loadedWith(file)];

    expect(all.filter((name) => !name.endsWith('.mjs') && !name.startsWith('node:'))).toEqual([]);
    expect(all.length).toBeGreaterThan(2);
  });
});
