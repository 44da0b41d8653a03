import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import { ROOT } from '../../services/with-services.mjs';
import { requireBuild } from '../support/built.js';
import { forgehand, type CommandResult } from '../support/forgehand.js';
import { chooseSeed } from '../support/seed.js';

const RULES = join(ROOT, 'config/rules/acme');
const FILES = readdirSync(RULES).filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'));
const SEEDS = [1, chooseSeed()];

/** A whole demo takes seconds of a core; so many at once leave the machine usable. */
const AT_ONCE = 2;
const TIMEOUT_MS = 300_000;

interface Verdict {
  equal: boolean;
  wrong: Array<{ what: string; by: string; verdict: string; item: string }>;
}

describe('demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fh-e2e-demo-'));
  const limit = pLimit(AT_ONCE);
  const runs = new Map<string, Promise<CommandResult>>();

  const demo = (...args: string[]): Promise<CommandResult> => limit(() => forgehand({ dir: folder, env: {} }, 'demo', '--exit', '--json', ...args));

  beforeAll(() => {
    requireBuild();
    for (const seed of SEEDS) runs.set(`seed ${seed}`, demo('--seed', String(seed)));
    for (const file of FILES) runs.set(file, demo('--rules', copyWithout(file, folder)));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const ended = async (name: string): Promise<CommandResult> => {
    const result = await runs.get(name);
    if (!result) throw new Error(`${name} was not run`);
    return result;
  };

  it.each(SEEDS)(
    'finds at the forge exactly what the rules ask for (seed %i)',
    async (seed) => {
      const { code, stdout, stderr } = await ended(`seed ${seed}`);

      expect({ code, wrong: code === 3 ? stderr : (JSON.parse(stdout) as Verdict).wrong }).toEqual({ code: 0, wrong: [] });
    },
    TIMEOUT_MS,
  );

  it(
    'shows a forged delivery refused, one that came twice, and one that polling found',
    async () => {
      const { stderr } = await ended('seed 1');

      expect(stderr).toMatch(/forges a delivery.*refused with 401/);
      expect(stderr).toMatch(/publishes v2\.1\.0 .*came again\) *-> release-branch/);
      expect(stderr).toMatch(/nobody hears *found in the feed \(2 lost\) *-> release-branch/);
    },
    TIMEOUT_MS,
  );

  it.each(FILES)(
    'sees that the bot was not given %s',
    async (file) => {
      const { code, stdout, stderr } = await ended(file);

      expect({ code, stderr: code === 1 ? '' : stderr }).toEqual({ code: 1, stderr: '' });
      expect((JSON.parse(stdout) as Verdict).wrong.filter(({ verdict }) => verdict === 'missing').length).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

function copyWithout(missing: string, folder: string): string {
  const copy = mkdtempSync(join(folder, 'rules-'));
  for (const file of FILES.filter((name) => name !== missing)) copyFileSync(join(RULES, file), join(copy, file));
  return copy;
}
