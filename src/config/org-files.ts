import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseLocatedYaml } from '../core/located-yaml.js';
import type { Problem } from '../core/problem.js';
import type { ParsedFile } from './composed-config.js';

/** What lies in `orgs.d`, one organization a file. */
export interface OrgFiles {
  readonly files: readonly ParsedFile[];
  /** Of files that cannot be read or are no YAML; each is refused. */
  readonly problems: readonly Problem[];
  /** Files that are probably meant, and are not read. */
  readonly warnings: readonly Problem[];
}

export const NO_ORG_FILES: OrgFiles = { files: [], problems: [], warnings: [] };

/** The folder beside a config file whose files hold one organization each. */
export function orgsFolderOf(configFile: string): string {
  return join(dirname(configFile), 'orgs.d');
}

/** Read `orgs.d/*.yaml` beside a config file, by name. Without the folder there are none. */
export function readOrgFiles(configFile: string): OrgFiles {
  const folder = orgsFolderOf(configFile);
  let names: string[];
  try {
    names = readdirSync(folder).toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? NO_ORG_FILES : { ...NO_ORG_FILES, problems: [unreadable(folder, code)] };
  }
  // Editors and package managers leave hidden files, and a person turns an organization off by another ending, as with other folders of this kind.
  const visible = names.filter((name) => !name.startsWith('.'));
  const read = visible.filter((name) => name.endsWith('.yaml')).map((name) => readOrgFile(join(folder, name)));
  return {
    files: read.flatMap(({ file }) => file ?? []),
    problems: read.flatMap(({ problems }) => problems),
    warnings: visible
      .filter((name) => name.endsWith('.yml'))
      .map((name) => ({
        ...startOf(join(folder, name)),
        message: 'this file is not read: its name does not end in .yaml',
        hint: `rename it: ${name.slice(0, -'.yml'.length)}.yaml`,
      })),
  };
}

function readOrgFile(path: string): { file: ParsedFile | null; problems: readonly Problem[] } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { file: null, problems: [unreadable(path, (error as NodeJS.ErrnoException).code)] };
  }
  const { yaml, problems } = parseLocatedYaml(path, text);
  return { file: yaml && { path, yaml }, problems };
}

function unreadable(path: string, code: string | undefined): Problem {
  return { ...startOf(path), message: `cannot be read (${code ?? 'error'})` };
}

function startOf(file: string): { file: string; line: number; col: number } {
  return { file, line: 1, col: 1 };
}
