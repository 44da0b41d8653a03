import type { AppConfig, OrgConfig } from './app-config.js';
import { isSameConfig } from './same-config.js';

/** What a reload changed, by the keys of the organizations. */
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
    const before = new Map(this.#orgs.map((org) => [org.key, org]));
    const keys = new Set(next.map(({ key }) => key));
    const orgs = next.map((org) => {
      const old = before.get(org.key);
      return old && isSameConfig(old, org) ? old : org;
    });
    const isNew = orgs.filter((org) => before.get(org.key) !== org).map(({ key }) => key);
    this.#orgs = Object.freeze(orgs);
    return {
      added: isNew.filter((key) => !before.has(key)),
      changed: isNew.filter((key) => before.has(key)),
      removed: [...before.keys()].filter((key) => !keys.has(key)),
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

/** The organizations by their keys, as they are now. */
export function orgsByKey(config: Pick<AppConfig, 'orgs'>): () => ReadonlyMap<string, OrgConfig> {
  return ofOrgs(config, (orgs) => new Map(orgs.map((org) => [org.key, org])));
}

/** What the forge calls an organization; its key where the config has it no more. */
export function orgNames(config: Pick<AppConfig, 'orgs'>): (key: string) => string {
  const orgs = orgsByKey(config);
  return (key) => orgs().get(key)?.name ?? key;
}

/**
 * How people are shown an organization. One that left the config is shown by its key; where that is how another one is shown now, it is the one
 * that was there before.
 */
export function orgLabels(config: Pick<AppConfig, 'orgs'>): (key: string) => string {
  const labels = ofOrgs(config, (orgs) => ({
    byKey: new Map(orgs.map(({ key, label }) => [key, label])),
    shown: new Set(orgs.map(({ label }) => label.toLowerCase())),
  }));
  return (key) => {
    const { byKey, shown } = labels();
    return byKey.get(key) ?? (shown.has(key.toLowerCase()) ? `${key} (before)` : key);
  };
}
