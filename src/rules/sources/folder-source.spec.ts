import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { hashOfFiles } from '../language/load/load-rules.js';
import { FolderSource } from './folder-source.js';

const made: string[] = [];
const open: FolderSource[] = [];

afterEach(() => {
  jest.restoreAllMocks();
  for (const source of open.splice(0)) source.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'forgehand-rules-'));
  made.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function names(folder: string): Promise<Array<string | undefined>> {
  return (await new FolderSource(folder).read()).map(({ name }) => name);
}

/** Resolves with the next call back after `change`. */
async function afterChange(folder: string, change: () => void): Promise<void> {
  const source = new FolderSource(folder);
  open.push(source);
  const told = new Promise<void>((resolve) => source.watch(resolve));
  change();
  await told;
}

describe('rules/sources/folder-source', () => {
  it('reads rule files at any depth, by path, without tests, hidden files and others', async () => {
    const folder = folderWith({
      'b.yaml': 'b',
      'a.yml': 'a',
      'deep/er/c.yaml': 'c',
      'a.test.yaml': 'x',
      '.hidden.yaml': 'x',
      '.git/d.yaml': 'x',
      'notes.md': 'x',
      yaml: 'x',
    });

    expect(await names(folder)).toEqual(['a.yml', 'b.yaml', 'deep/er/c.yaml']);
    expect((await new FolderSource(folder).read()).map(({ path, text }) => [path, text])[2]).toEqual([
      join(folder, 'deep/er/c.yaml'),
      'c',
    ]);
  });

  it('follows no links, neither of files nor of folders', async () => {
    const outside = folderWith({ 'secret.yaml': 'x' });
    const folder = folderWith({ 'a.yaml': 'a' });
    symlinkSync(join(outside, 'secret.yaml'), join(folder, 'linked.yaml'));
    symlinkSync(outside, join(folder, 'linked'));

    expect(await names(folder)).toEqual(['a.yaml']);
  });

  it.each([
    ['a folder that is not there', () => new FolderSource('/nowhere/rules'), /does not exist/],
    [
      'too many files',
      () =>
        new FolderSource(
          folderWith(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`${index}.yaml`, '']))),
        ),
      /holds 51 rule files; 50 is the limit/,
    ],
    [
      'a file that is too large',
      () => new FolderSource(folderWith({ 'a.yaml': 'x'.repeat(256 * 1024 + 1) })),
      /262144 is the limit/,
    ],
  ])('refuses %s', async (_situation, source, message) => {
    await expect(source().read()).rejects.toThrow(message);
  });

  it('tells when a file is written, added, moved or removed', async () => {
    const folder = folderWith({ 'a.yaml': 'a', 'b.yaml': 'b' });

    await afterChange(folder, () => writeFileSync(join(folder, 'a.yaml'), 'changed'));
    await afterChange(folder, () => writeFileSync(join(folder, 'c.yaml'), 'new'));
    await afterChange(folder, () => renameSync(join(folder, 'c.yaml'), join(folder, 'd.yaml')));
    await afterChange(folder, () => rmSync(join(folder, 'b.yaml')));

    expect(await names(folder)).toEqual(['a.yaml', 'd.yaml']);
  });

  it('reads the folder again on a look that shows something else, and until what was read is dealt with', async () => {
    const folder = folderWith({ 'a.yaml': 'a' });
    const source = new FolderSource(folder);
    open.push(source);
    source.watch(() => undefined);
    const changed = jest.fn();
    const look = async (): Promise<number> => {
      await source['lookAgain'](changed);
      return changed.mock.calls.length;
    };
    await source.read();
    source.concluded();
    // A time that is younger than the clock's steps tells nothing.
    expect(await look()).toBe(1);

    const aged = Date.now() + 60_000;
    jest.spyOn(Date, 'now').mockReturnValue(aged);
    await source.read();
    source.concluded();
    expect(await look()).toBe(1);
    writeFileSync(join(folder, 'a.yaml'), 'b');
    expect(await look()).toBe(2);
    await source.read();
    expect(await look()).toBe(3);
    source.concluded();
    expect(await look()).toBe(3);
    writeFileSync(join(folder, 'b.yaml'), 'b');
    expect(await look()).toBe(4);
    rmSync(folder, { recursive: true });
    await expect(source.read()).rejects.toThrow('does not exist');
    source.concluded();
    expect(await look()).toBe(5);
  });

  it('reads the folder on each look where rules may extend files of other folders', async () => {
    const source = new FolderSource(folderWith({ 'a.yaml': 'a' }), {
      extendsFrom: [folderWith({})],
      builtInSets: true,
    });
    open.push(source);
    source.watch(() => undefined);
    const changed = jest.fn();
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    await source.read();
    source.concluded();

    await source['lookAgain'](changed);

    expect(changed).toHaveBeenCalledTimes(1);
  });
});

describe('rules/sources/folder-source, in a git checkout', () => {
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();

  function checkout(files: Record<string, string>): string {
    const folder = folderWith(files);
    git(folder, 'init', '--quiet');
    git(folder, 'add', '-A');
    git(folder, '-c', 'user.name=ann', '-c', 'user.email=ann@example.org', 'commit', '--quiet', '--message', 'rules');
    return folder;
  }

  async function commitOf(folder: string): Promise<string | null> {
    const source = new FolderSource(folder);
    return source.commitOf(hashOfFiles(await source.read()));
  }

  const FILES = { 'rules/a.yaml': 'a', 'rules/deep/b.yaml': 'b', 'rules/a.test.yaml': 't', 'notes.md': 'n' };

  it('knows the commit of the files it read', async () => {
    const folder = checkout(FILES);

    expect(await commitOf(join(folder, 'rules'))).toBe(git(folder, 'rev-parse', 'HEAD'));
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['a rule file was changed', { 'rules/deep/b.yaml': 'other' }, false],
    ['a rule file was added', { 'rules/c.yml': 'c' }, false],
    ['a folder of rule files was added', { 'rules/more/c.yaml': 'c' }, false],
    ['a rule file is left out by .gitignore', { '.gitignore': 'c.yaml', 'rules/c.yaml': 'c' }, false],
    ['something beside the folder was changed', { 'notes.md': 'other', 'other/c.yaml': 'c' }, true],
    ['a test or a page was changed', { 'rules/a.test.yaml': 'other', 'rules/page.md': 'p' }, true],
  ])('tells what is so where %s since', async (_what, changes, isKnown) => {
    const folder = checkout(FILES);
    for (const [name, text] of Object.entries(changes)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }

    expect(await commitOf(join(folder, 'rules'))).toBe(isKnown ? git(folder, 'rev-parse', 'HEAD') : null);
  });

  it('knows none of another state of the files, of a checkout without a commit, and outside of a checkout', async () => {
    const empty = folderWith({ 'a.yaml': 'a' });
    git(empty, 'init', '--quiet');

    expect(await new FolderSource(join(checkout(FILES), 'rules')).commitOf('another')).toBeNull();
    expect(await commitOf(empty)).toBeNull();
    expect(await commitOf(folderWith({ 'a.yaml': 'a' }))).toBeNull();
  });
});
