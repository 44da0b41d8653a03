import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { missingSets, readShared } from './shared-files.js';

describe('rules/sources/shared-files', () => {
  let home: string;
  let place: string;
  let second: string;

  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'forgehand-shared-')));
    place = join(home, 'shared');
    second = join(home, 'second');
    mkdirSync(join(place, 'deep'), { recursive: true });
    mkdirSync(second);
    writeFileSync(join(home, 'outside.yaml'), 'secret: true\n');
    writeFileSync(join(place, 'base.yaml'), 'extends: deep/more.yaml\n');
    writeFileSync(join(place, 'deep', 'more.yaml'), 'version: 1\n');
    writeFileSync(join(second, 'base.yaml'), 'hidden: true\n');
    writeFileSync(join(second, 'other.yaml'), 'other: true\n');
  });

  const read = (...refs: string[]) =>
    readShared([{ path: 'a.yaml', text: `extends: [${refs.map((ref) => JSON.stringify(ref)).join(', ')}]\n` }], {
      extendsFrom: [place, second],
      builtInSets: true,
    });

  it('gives what is extended, also by shared files, out of the first place that has it', async () => {
    expect((await read('base.yaml', 'other.yaml')).map(({ shared, text, refused }) => [shared, text, refused])).toEqual(
      [
        ['base.yaml', 'extends: deep/more.yaml\n', undefined],
        ['other.yaml', 'other: true\n', undefined],
        ['deep/more.yaml', 'version: 1\n', undefined],
      ],
    );
  });

  it('reads nothing where nothing is extended', async () => {
    expect(
      await readShared([{ path: 'a.yaml', text: 'version: 1\n' }], { extendsFrom: [place], builtInSets: true }),
    ).toEqual([]);
  });

  it('allows nothing where the operator allows nothing', async () => {
    const own = [{ path: 'a.yaml', text: 'extends: [base.yaml, forgehand/stale@1]\n' }];

    expect(await readShared(own, { extendsFrom: [], builtInSets: false })).toMatchObject([
      {
        shared: 'base.yaml',
        text: '',
        refused: 'the operator allows no shared files here (orgs[].rules.extends_from)',
      },
      {
        shared: 'forgehand/stale@1',
        text: '',
        refused: 'the operator allows no built-in sets here (orgs[].rules.built_in_sets)',
      },
    ]);
  });

  it('has the built-in sets without any folder, and names each by the hash of its text', async () => {
    const own = [{ path: 'a.yaml', text: 'extends: forgehand/stale@1\n' }];
    const [set, ...others] = await readShared(own, { extendsFrom: [], builtInSets: true });

    expect(others).toEqual([]);
    expect(set).toMatchObject({ path: 'forgehand/stale@1', shared: 'forgehand/stale@1', isPublic: true });
    expect(set?.text).toContain('id: stale-warn');
    expect(set?.name).toBe(`extends:forgehand/stale@1 sha256:${hash('sha256', set?.text ?? '', 'hex')}`);
  });

  it('gives a draft the built-in sets that it lacks, with those that they extend', () => {
    const own = { path: 'a.yaml', text: 'extends: [base.yaml, forgehand/release-drafter@1, forgehand/stale@1]\n' };
    const present = { path: 'x', text: 'version: 1\n', shared: 'forgehand/stale@1' };

    expect(missingSets([own, present], { builtInSets: true }).map(({ shared }) => shared)).toEqual([
      'forgehand/release-drafter@1',
      'forgehand/release-notes@1',
    ]);
  });

  it.each([
    ['forgehand/stael@1', 'forgehand/stale@1'],
    ['forgehand/stale@9', 'forgehand/stale@1'],
    ['forgehand/stale', 'forgehand/stale@1'],
    ['forgehand/welcom@2', 'forgehand/welcome@1'],
  ])('says which set is nearest to %s, and which there are', async (ref, near) => {
    const [file] = await read(ref);

    expect(file?.refused).toContain(`there is no such built-in set, did you mean "${near}"? There are: forgehand/`);
  });

  it('says how a set is named that is named without the program', async () => {
    const [file] = await read('stale@1');

    expect(file?.refused).toBe('built-in sets have the name of the program before theirs: forgehand/stale@1');
  });

  it('a folder may have files below the name of the program', async () => {
    mkdirSync(join(place, 'forgehand'));
    writeFileSync(join(place, 'forgehand', 'own.yaml'), 'version: 1\n');

    expect(await read('forgehand/own.yaml')).toMatchObject([{ text: 'version: 1\n', shared: 'forgehand/own.yaml' }]);
  });

  it.each([
    ['../outside.yaml'],
    ['deep/../../outside.yaml'],
    ['/etc/passwd.yaml'],
    ['.hidden.yaml'],
    ['deep\\\\..\\\\x.yaml'],
    ['base.txt'],
    ['deep//more.yaml'],
  ])('refuses the name %s', async (ref) => {
    expect(await read(ref)).toMatchObject([
      { text: '', refused: expect.stringContaining('named by its path below an allowed folder') },
    ]);
  });

  it('follows no link, neither of a file nor of a folder', async () => {
    symlinkSync(join(home, 'outside.yaml'), join(place, 'link.yaml'));
    symlinkSync(home, join(place, 'up'));

    expect(await read('link.yaml', 'up/outside.yaml')).toMatchObject([
      { text: '', refused: 'it is a link, or lies behind one' },
      { text: '', refused: 'it is a link, or lies behind one' },
    ]);
  });

  it('says what is in none of the places, and what is too large', async () => {
    writeFileSync(join(place, 'large.yaml'), 'x'.repeat(256 * 1024 + 1));

    expect((await read('gone.yaml', 'large.yaml')).map(({ refused }) => refused)).toEqual([
      'it is in none of the allowed folders',
      'it has 262145 bytes; 262144 is the limit',
    ]);
  });
});
