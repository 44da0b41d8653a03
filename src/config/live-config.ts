import type { AppConfig, OrgConfig } from './app-config.js';
import { isSameConfig } from './same-config.js';

/** What a reload changed, by the names of the organizations. */
export interface ChangedOrgs {
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

/**
 * The config of a process. A reload replaces its organizations; everything else stays as it was at the start. Whatever reads `orgs` when it needs them
 * follows by itself; what is made of them once is made by `ofOrgs`.
 */
export class LiveConfig {
  #orgs: readonly OrgConfig[];

  constructor(started: AppConfig) {
    const { orgs, ...rest } = started;
    Object.assign(this, rest);
    this.#orgs = orgs;
  }

  get orgs(): readonly OrgConfig[] {
    return this.#orgs;
  }

  /** An organization that says what it said before stays the same object: nothing that was made for it is made anew. */
  replaceOrgs(next: readonly OrgConfig[]): ChangedOrgs {
    const before = new Map(this.#orgs.map((org) => [org.name, org]));
    const names = new Set(next.map(({ name }) => name));
    const orgs = next.map((org) => {
      const old = before.get(org.name);
      return old && isSameConfig(old, org) ? old : org;
    });
    const isNew = orgs.filter((org) => before.get(org.name) !== org).map(({ name }) => name);
    this.#orgs = Object.freeze(orgs);
    return {
      added: isNew.filter((name) => !before.has(name)),
      changed: isNew.filter((name) => before.has(name)),
      removed: [...before.keys()].filter((name) => !names.has(name)),
    };
  }
}
export interface LiveConfig extends Omit<AppConfig, 'orgs'> {}

/** What is made of the organizations of a config, made again after each reload. */
export function ofOrgs<Made>(config: Pick<AppConfig, 'orgs'>, make: (orgs: readonly OrgConfig[]) => Made): () => Made {
  let latest: { readonly of: readonly OrgConfig[]; readonly made: Made } | null = null;
  return () => {
    const { orgs } = config;
    if (latest?.of !== orgs) latest = { of: orgs, made: make(orgs) };
    return latest.made;
  };
}

/** The organizations by their names, as they are now. */
export function orgsByName(config: Pick<AppConfig, 'orgs'>): () => ReadonlyMap<string, OrgConfig> {
  return ofOrgs(config, (orgs) => new Map(orgs.map((org) => [org.name, org])));
}
