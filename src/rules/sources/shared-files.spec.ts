import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readShared } from './shared-files.js';

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
    readShared(
      [{ path: 'a.yaml', text: `extends: [${refs.map((ref) => JSON.stringify(ref)).join(', ')}]\n` }],
      [place, second],
    );

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
    expect(await readShared([{ path: 'a.yaml', text: 'version: 1\n' }], [place])).toEqual([]);
  });

  it('allows nothing where the operator allows nothing', async () => {
    expect(await readShared([{ path: 'a.yaml', text: 'extends: base.yaml\n' }], [])).toMatchObject([
      {
        shared: 'base.yaml',
        text: '',
        refused: 'the operator allows no shared files here (orgs[].rules.extends_from)',
      },
    ]);
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
