import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { InvalidFile, UserError } from '../../core/errors.js';
import type { RuleFile } from '../language/revision.js';
import { hashOfFiles } from '../language/load/load-rules.js';
import { checkoutCommit } from './checkout-commit.js';
import { readShared, type Extendable } from './shared-files.js';

const MAX_FILES = 50;
const MAX_TEST_FILES = 1000;
const MAX_FILE_BYTES = 256 * 1024;

/** Editors write a file in several steps; what is read between them is broken for a moment. */
const SETTLE_MS = 150;
/** Some file systems (network shares, some containers) tell no changes: the bot looks at the folder anyway. */
const LOOK_MS = 5_000;
/** A file that was written shortly before it was looked at may be written again without another time. */
const YOUNG_MS = 2_000;

/** A local folder of rule files, or one file. */
export class FolderSource {
  private watchers: FSWatcher[] = [];
  private settle: NodeJS.Timeout | null = null;
  private looking: NodeJS.Timeout | null = null;
  /** What the folder showed right before it was last read, and before the last read that came to an end. Null = not known. */
  private looked: string | null = null;
  private concludedLook: string | null = null;
  /** Known until something may have changed. */
  private commit: { readonly hash: string; readonly commit: Promise<string | null> } | null = null;

  constructor(
    readonly folder: string,
    /** Default: the built-in sets alone. Of the folders, the first that has a file of the name gives it. */
    private readonly allowed: Extendable = { extendsFrom: [], builtInSets: true },
  ) {}

  /**
   * Every `*.yaml` and `*.yml` below the folder but tests (`*.test.yaml`) and hidden ones, by path; links are not followed. Then the shared files they extend.
   * @throws UserError when the folder is not there, InvalidFile when it holds too many files or a file is too large
   */
  async read(): Promise<RuleFile[]> {
    if (this.looking) this.looked = await this.look();
    return this.readFiles();
  }

  private async readFiles(): Promise<RuleFile[]> {
    const paths = await this.paths(isRuleFile);
    if (paths.length > MAX_FILES)
      throw refused(
        'TOO_MANY_RULE_FILES',
        shownPath(this.folder),
        `the folder holds ${paths.length} rule files; ${MAX_FILES} is the limit`,
        'put several rules into one file',
      );
    const own = await Promise.all(paths.map((path) => this.readOne(path)));
    return [...own, ...(await readShared(own, this.allowed))];
  }

  /**
   * Every fixture (`*.test.yaml`) below the folder, by path.
   * @throws UserError when the folder is not there, InvalidFile when it holds too many or one is too large
   */
  async readTests(): Promise<RuleFile[]> {
    const paths = await this.paths((name) => !isRuleFile(name));
    if (paths.length > MAX_TEST_FILES)
      throw refused(
        'TOO_MANY_FIXTURES',
        shownPath(this.folder),
        `the folder holds ${paths.length} files of fixtures; ${MAX_TEST_FILES} is the limit`,
      );
    return Promise.all(paths.map((path) => this.readOne(path)));
  }

  /** The commit that holds the state of the files with this hash, where the folder lies in a git checkout; null when there is none. */
  commitOf(hash: string): Promise<string | null> {
    if (this.commit?.hash !== hash) this.commit = { hash, commit: this.findCommit(hash).catch(() => null) };
    return this.commit.commit;
  }

  private async findCommit(hash: string): Promise<string | null> {
    const commit = await checkoutCommit(this.folder);
    return commit !== null && hashOfFiles(await this.readFiles()) === hash ? commit : null;
  }

  /** Call back (at most once per settling time) when something below the folder may have changed. */
  watch(listener: () => void): void {
    const changed = (): void => {
      this.commit = null;
      listener();
    };
    const soon = (): void => {
      if (this.settle) clearTimeout(this.settle);
      this.settle = setTimeout(changed, SETTLE_MS);
    };
    this.looking = setInterval(() => void this.lookAgain(changed), LOOK_MS);
    this.looking.unref();
    for (const place of [this.folder, ...this.allowed.extendsFrom]) {
      try {
        const watcher = watch(place, { recursive: true }, soon);
        watcher.on('error', () => watcher.close());
        this.watchers.push(watcher);
      } catch {
        // Not watchable here: the regular looks remain.
      }
    }
  }

  /** What was read is dealt with: until the folder shows something else, it is not read again. */
  concluded(): void {
    this.concludedLook = this.looked;
  }

  private async lookAgain(changed: () => void): Promise<void> {
    this.commit = null;
    if (this.concludedLook === null || (await this.look()) !== this.concludedLook) changed();
  }

  /** Names, sizes and times of the rule files; null where they do not tell whether something changed. Shared files may lie anywhere: they are read. */
  private async look(): Promise<string | null> {
    if (this.allowed.extendsFrom.length > 0) return null;
    try {
      const paths = await this.paths(isRuleFile);
      const now = Date.now();
      const stats = await Promise.all(paths.map((path) => lstat(path, { bigint: true })));
      if (stats.some(({ ctimeMs }) => now - Number(ctimeMs) < YOUNG_MS)) return null;
      return stats
        .map(({ ino, size, mtimeNs, ctimeNs }, index) => [paths[index], ino, size, mtimeNs, ctimeNs].join(' '))
        .join('\n');
    } catch {
      // Whoever reads it is told why.
      return null;
    }
  }

  close(): void {
    for (const watcher of this.watchers) watcher.close();
    if (this.settle) clearTimeout(this.settle);
    if (this.looking) clearInterval(this.looking);
  }

  private async paths(isWanted: (name: string) => boolean): Promise<string[]> {
    let entries;
    try {
      entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // A file that is named is read whatever it is called.
      if (code === 'ENOTDIR' && (await lstat(this.folder).catch(() => null))?.isFile()) return [this.folder];
      throw new UserError(
        'NO_RULE_FOLDER',
        `the rule folder ${this.folder} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}`,
      );
    }
    return entries
      .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && isWanted(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (path) =>
          !relative(this.folder, path)
            .split(sep)
            .some((part) => part.startsWith('.')),
      )
      .sort();
  }

  private async readOne(path: string): Promise<RuleFile> {
    const displayPath = shownPath(path);
    const { size } = await lstat(path);
    if (size > MAX_FILE_BYTES)
      throw refused(
        'RULE_FILE_TOO_LARGE',
        displayPath,
        `the file has ${size} bytes; ${MAX_FILE_BYTES} is the limit`,
        'split it into several files, of 256 KB at most',
      );
    return {
      path: displayPath,
      name: path === this.folder ? basename(path) : relative(this.folder, path).split(sep).join('/'),
      text: await readFile(path, 'utf8'),
    };
  }
}

function isRuleFile(name: string): boolean {
  return !/\.test\.ya?ml$/.test(name);
}

/** Below the folder where the program runs without the way to it, else whole. */
function shownPath(path: string): string {
  const displayPath = relative(process.cwd(), path);
  return displayPath === '' || displayPath.startsWith('..') ? path : displayPath;
}

function refused(code: string, file: string, message: string, hint?: string): InvalidFile {
  return new InvalidFile([{ file, line: 1, col: 1, message, ...(hint ? { hint } : {}) }], code);
}
