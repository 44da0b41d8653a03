import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makePrivate } from './private-files.js';

describe('platform/private-files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fh-private-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const made = (path: string, mode: number): string => {
    const file = join(folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, 'x');
    chmodSync(file, mode);
    return file;
  };
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const ownGroup = (): number => statSync(folder).gid;

  it('takes the bits of group and others away, however deep, and names what it changed', () => {
    const key = made('data.key', 0o644);
    const deep = made('db/base/1/2', 0o606);
    const inner = join(folder, 'db');
    chmodSync(inner, 0o755);

    const mended = makePrivate(folder, null);

    expect(mended).toEqual(expect.arrayContaining([key, deep, inner]));
    expect([modeOf(key), modeOf(deep), modeOf(inner)]).toEqual(['600', '600', '700']);
    expect(makePrivate(folder, null)).toEqual([]);
  });

  it('lets the named group read, and nobody write', () => {
    const key = made('data.key', 0o666);

    makePrivate(folder, ownGroup());

    expect(modeOf(key)).toBe('640');
  });

  it('takes the bits of a group that is not the named one', () => {
    const key = made('data.key', 0o640);

    makePrivate(folder, ownGroup() + 1);

    expect(modeOf(key)).toBe('600');
  });

  it('follows no symbolic link', () => {
    const outside = mkdtempSync(join(tmpdir(), 'fh-outside-'));
    try {
      writeFileSync(join(outside, 'file'), 'x');
      chmodSync(join(outside, 'file'), 0o644);
      symlinkSync(outside, join(folder, 'link'));

      expect(makePrivate(folder, null)).toEqual([]);

      expect(modeOf(join(outside, 'file'))).toBe('644');
      expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('makes private what a folder that is itself a link leads to', () => {
    const key = made('data/data.key', 0o644);
    const named = join(folder, 'named');
    symlinkSync(join(folder, 'data'), named);

    expect(makePrivate(named, null)).toContain(key);
    expect(modeOf(key)).toBe('600');
  });

  // Only root can give a file away.
  (process.getuid?.() === 0 ? it : it.skip)('stops at a file of another user, and changes nothing of it', () => {
    const key = made('data.key', 0o644);
    chownSync(key, 54321, 54321);

    expect(() => makePrivate(folder, null)).toThrow(
      /data\.key belongs to user 54321, and this process runs as user 0: chown it/,
    );
    expect(modeOf(key)).toBe('644');
  });

  it('finds nothing to do where there is no folder yet', () => {
    expect(makePrivate(join(folder, 'none'), null)).toEqual([]);
  });
});
