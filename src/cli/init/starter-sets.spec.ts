import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { checkAlone } from '../check-rules.js';
import { STARTER_NAMES, SCHEMA_LINE, starterFile, starterSets } from './starter-sets.js';

const MIRROR = { address: 'https://github.com/big-co', username: 'bot' };

describe('cli/init/starter-sets', () => {
  it('tells what each does in one sentence', () => {
    for (const { about } of starterSets()) expect(about).toMatch(/^[A-Z][^\n]{20,140}\.$/);
  });

  it.each(STARTER_NAMES)('%s has no mistake and no warning, for any organization', async (name) => {
    const set = starterSets().find((one) => one.name === name);
    if (!set) throw new Error(`no set ${name}`);
    const folder = mkdtempSync(join(tmpdir(), 'forgehand-starters-'));
    const text = starterFile(set, 'Big-Co.7', MIRROR);
    writeFileSync(join(folder, `${name}.yaml`), text);

    const [checked] = await checkAlone(folder);

    expect(checked?.problems).toEqual([]);
    expect(checked?.warnings).toEqual([]);
    expect((checked?.rules ?? 0) + (checked?.policies ?? 0)).toBeGreaterThan(0);
    expect(text.split('\n', 1)[0]).toBe(SCHEMA_LINE);
    expect((parse(text) as { org: string }).org).toBe('Big-Co.7');
    expect(text).not.toMatch(/acme|mirror\.example\.org/);
  });
});
