import type { LocatedYaml } from '../core/located-yaml.js';
import type { Position } from '../core/problem.js';

/** Where a value stands in the composed config. */
export type Path = readonly PropertyKey[];

/** A file of the operator as it was parsed. */
export interface ParsedFile {
  readonly path: string;
  readonly yaml: LocatedYaml;
}

/** Where a value was written, and its name there: the keys from the top of that file, with dots. */
export interface WrittenAt extends Position {
  readonly name: string;
}

/**
 * The operator's config as one value: the config file, with the organizations of the files of `orgs.d` behind its own, and with what each
 * organization lacks from `defaults`. Only whole keys of an organization come from there: `feed` is hers or theirs, never half of each.
 */
export class ComposedConfig {
  readonly value: unknown;
  private readonly orgs: readonly unknown[];
  private readonly ownOrgs: number;
  private readonly defaults: Readonly<Record<string, unknown>>;
  private readonly defaultsFor: ReadonlySet<string> | null;

  /** @param orgFiles one organization each */
  constructor(
    readonly main: ParsedFile,
    private readonly orgFiles: readonly ParsedFile[],
  ) {
    const config = main.yaml.value ?? {};
    const { defaults, orgs = [] } = isMap(config) ? config : {};
    const { orgs: names, ...keys } = isMap(defaults) ? defaults : {};
    this.defaults = keys;
    this.defaultsFor = Array.isArray(names) ? new Set(names.map((name) => String(name).toLowerCase())) : null;
    this.ownOrgs = Array.isArray(orgs) ? orgs.length : 0;
    this.orgs = [...(Array.isArray(orgs) ? (orgs as unknown[]) : []), ...orgFiles.map(({ yaml }) => yaml.value)];
    this.value =
      isMap(config) && Array.isArray(orgs)
        ? { ...config, orgs: this.orgs.map((org) => (isMap(org) ? { ...this.defaultsOf(org), ...org } : org)) }
        : config;
  }

  /** @param atKey where the last key stands, instead of its value */
  writtenAt(path: Path, atKey = false): WrittenAt {
    const { file, keys } = this.sourceOf(path);
    return { file: file.path, ...file.yaml.positionOf(keys, atKey), name: keys.join('.') };
  }

  /** Whether it is a whole file of `orgs.d`. */
  isOrgFile(path: Path): boolean {
    return path.length === 2 && path[0] === 'orgs' && Number(path[1]) >= this.ownOrgs;
  }

  private sourceOf(path: Path): { file: ParsedFile; keys: Path } {
    const [first, index, key] = path;
    if (first !== 'orgs' || index === undefined) return { file: this.main, keys: path };
    const org = this.orgs[Number(index)];
    if (key !== undefined && isMap(org) && !Object.hasOwn(org, key) && Object.hasOwn(this.defaultsOf(org), key))
      return { file: this.main, keys: ['defaults', ...path.slice(2)] };
    const file = this.orgFiles[Number(index) - this.ownOrgs];
    return file ? { file, keys: path.slice(2) } : { file: this.main, keys: path };
  }

  private defaultsOf({ forge, name }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const isNamed = (one: string): boolean => this.defaultsFor?.has(one.toLowerCase()) !== false;
    return isNamed(String(name)) || isNamed(`${String(forge ?? this.defaults['forge'])}/${String(name)}`)
      ? this.defaults
      : {};
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
