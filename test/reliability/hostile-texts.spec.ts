import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { TrackerRig } from '../integration/support/tracker-rig.js';

/** Ways out of a segment of a path, a line of a header, a template, a shell, a text. */
const WAYS = [
  '..',
  '.',
  '../other',
  '../../acme/other',
  '..%2fother',
  '%2e%2e',
  '%2e%2e/%2e%2e/other',
  '%252e%252e',
  '..\\other',
  '/',
  '//',
  '/api/v1/user',
  'https://evil.example/x',
  '//evil.example/x',
  'x?token=1',
  'x&y=1',
  'x#fragment',
  'x;y',
  'x%00',
  'x\u0000y',
  'x\r\nHost: evil.example',
  'x\nX-Evil: 1',
  '@all',
  '@evil.example',
  'fixes #1',
  'closes acme/app#1',
  '{{ .Secret }}',
  '${{ secrets.token }}',
  '$(reboot)',
  '`reboot`',
  '| reboot',
  '; reboot',
  '"quoted"',
  "it's",
  '<b>bold</b>',
  '\u202e\u2066evil',
  '\u200b',
  'ｆｕｌｌ',
  '日本語',
  '🎉',
  'a b',
  ' a',
  'a ',
  '-x',
  '--help',
  '~',
  '^',
  ':',
  '*',
  '[a]',
];
const TEXTS = [...WAYS, ...WAYS.map((way) => `v1${way}`), ...WAYS.map((way) => `${way}/x`)];

describe('reliability/hostile-texts', () => {
  let tracker: TrackerRig;
  let first: number;
  const ledger = (): ReadonlyArray<{ path: string; applied: readonly unknown[] }> =>
    tracker.sandbox.parts.ledger.entries;
  beforeAll(async () => {
    tracker = await TrackerRig.start('gitea');
    const { world, admin } = tracker.sandbox.parts;
    makeRepository(world, admin, { owner: admin, name: 'other', files: { 'README.md': '# other\n' } });
    first = ledger().length;
  });

  afterAll(() => tracker?.close());

  it(`puts ${TEXTS.length} of them into paths, and each request stays below the repository of its rule`, async () => {
    for (const text of TEXTS) {
      await tracker.want('branch.create', { new_branch_name: text, old_ref_name: 'main' });
      await tracker.want('release.update', { tag: text, name: 'polished' });
      await tracker.want('label.ensure', { name: text, color: '#00aabb' });
    }

    const paths = ledger()
      .slice(first)
      .map(({ path }) => path.split('?')[0] ?? '');
    expect(paths.length).toBeGreaterThan(TEXTS.length);
    expect(
      paths.filter(
        (path) =>
          !/^\/api\/v1\/(repos\/acme\/app(\/(branches|labels|releases|tags|git)(\/[^/]+)*)?|orgs\/acme\/labels|user|repositories\/\d+)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(paths.filter((path) => path.split('/').some((segment) => segment === '.' || segment === '..'))).toEqual([]);
    expect(
      ledger()
        .slice(first)
        .flatMap(({ applied }) => applied).length,
    ).toBeGreaterThan(50);
    expect(
      ledger()
        .slice(first)
        .filter(({ path, applied }) => applied.length > 0 && !path.startsWith('/api/v1/repos/acme/app/')),
    ).toEqual([]);
  }, 120_000);
});
