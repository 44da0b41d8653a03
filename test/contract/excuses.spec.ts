import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Excuse } from './excuses.js';
import { belongsTo, faultsOf, readExcuses } from './excuses.js';
import type { Story } from './story.js';

const story = {
  name: 'gitea-1.27/labels',
  story: 'labels',
  server: 'gitea 1.27.0-rc0',
  people: [],
  given: [],
  steps: [
    { n: 1, title: 'list', request: {}, auth: {}, response: {} },
    { n: 2, title: 'plain', op: 15, request: {}, auth: {}, response: {} },
  ],
} as unknown as Story;

function excuse(changes: Partial<Excuse> = {}): Excuse {
  return { server: 'gitea-1.27', story: 'labels', step: 1, reason: 'why', ...changes };
}

function table(rows: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'excuses-')), 'forges.md');
  writeFileSync(
    file,
    `# Title\n\n| a | b |\n|---|---|\n| x | y |\n\n| Server | Story | Step | Reason |\n|---|---|---|---|\n${rows}\n\ntext\n`,
  );
  return file;
}

describe('contract/excuses', () => {
  it('reads the rows of its table and of no other', () => {
    expect(readExcuses(table('| gitea-1.27 | labels | 1 | why |'))).toEqual([excuse()]);
    expect(readExcuses(table(''))).toEqual([]);
  });

  it.each(['| gitea-1.27 | labels | 1 | |', '| gitea-1.27 | labels | one | why |', '|  | labels | 1 | why |'])(
    'refuses the row %s',
    (row) => {
      expect(() => readExcuses(table(row))).toThrow('an excuse needs');
    },
  );

  it('may excuse a step without an operation, by the folder or the version of the server', () => {
    expect(faultsOf([excuse()], [story])).toEqual([]);
    expect(belongsTo(excuse({ server: 'gitea 1.27.0-rc0' }), story)).toBe(true);
    expect(belongsTo(excuse({ server: 'forgejo-15' }), story)).toBe(false);
  });

  it('may not excuse a step that has an operation', () => {
    expect(faultsOf([excuse({ step: 2 })], [story])).toEqual(['labels step 2 has op 15 and may not be excused']);
  });

  it('may excuse ten steps and no more', () => {
    const excuses = Array.from({ length: 11 }, (_, i) => excuse({ step: 100 + i }));

    expect(faultsOf(excuses.slice(1), [story])).toEqual([]);
    expect(faultsOf(excuses, [story])).toEqual(['11 excuses, at most 10 are allowed']);
  });
});
