import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { operationNames } from '../../src/forge/operations.js';
import { commentsIn, operationTable, recordedSteps, renderPage, withSection } from './forges-doc.js';
import { storiesAtHand } from './recordings.js';
import type { Story } from './story.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/forges.md'), 'utf8');
const withFullSet = existsSync(join(root, '../shared/recordings')) ? it : it.skip;

describe('contract/forges-doc', () => {
  withFullSet('has written docs/forges.md (npm run docs -- forges)', () => {
    expect(renderPage(page, root, storiesAtHand())).toBe(page);
  });

  it('tells each operation on the page', () => {
    expect(operationNames.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('tells of no operation that neither a recorded step nor a spec holds', () => {
    const rows = page.split('\n').filter((row) => /^\| \d* ?\| `\w+` \|/.test(row));

    expect(rows.length).toBe(operationNames.length);
    expect(
      rows.filter((row) => !/\| \d+ \|/.test(row.replace(/^\| \d* ?\|/, '|')) && !row.endsWith('| yes |')),
    ).toEqual([]);
  });

  it('tells of an operation how many steps hold it, or show that it is missing', () => {
    const step = (path: string): unknown => ({
      n: 1,
      title: '',
      auth: { kind: 'none' },
      request: { method: 'GET', path, headers: {} },
      response: { status: 200, headers: {}, body: '' },
    });
    const story = (server: string): Story =>
      ({
        name: `${server}/tale`,
        steps: [step('/version'), step('/version?x=1'), step('/user/actions/jobs')],
      }) as unknown as Story;

    const rows = operationTable(
      [story('gitea-1.27'), story('forgejo-15')],
      "['x', 'a', 'GET', '/token', undefined, 401]",
    ).split('\n');

    expect(rows.find((row) => row.includes('`getVersion`'))).toBe(
      '|  | `getVersion` | GET `/version` | 2 | · | · | 2 |  |',
    );
    expect(rows.find((row) => row.includes('`listMyJobs`'))).toBe(
      '| 11 | `listMyJobs` | GET `/user/actions/jobs` | 1 | · | – | –1 |  |',
    );
    expect(rows.find((row) => row.includes('`getOwnToken`'))).toBe(
      '|  | `getOwnToken` | GET `/token` | · | – | – | – | yes |',
    );
  });

  it('refuses recordings that have fewer steps than the page counts', () => {
    expect(recordedSteps(page)).toBeGreaterThan(1_000);
    expect(() => renderPage(page, root, [])).toThrow(
      `docs/forges.md counts ${recordedSteps(page)} recorded steps, and these recordings have 0. Set FORGEHAND_RECORDINGS`,
    );
    expect(recordedSteps('| 15 | `createLabel` | POST `/x` | 39 | · | –3 | 9 | yes |')).toBe(51);
  });

  it('replaces what stands between its markers, and needs them', () => {
    expect(withSection('a\n<!-- begin x -->\nold\n<!-- end x -->\nb', 'x', 'new')).toBe(
      'a\n<!-- begin x -->\nnew\n<!-- end x -->\nb',
    );
    expect(() => withSection('a', 'x', 'new')).toThrow('no section x');
  });

  it('reads meanings out of comments', () => {
    const source =
      '/** One line. */\n  readonly one: string;\n  two: number;\n  /**\n   * Two\n   * lines.\n   */\n  three: boolean;';

    expect([...commentsIn([source])]).toEqual([
      ['one', 'One line.'],
      ['three', 'Two lines.'],
    ]);
  });
});
