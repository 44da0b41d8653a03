import { grouped } from '../core/grouped.js';
import type { KnownOrg, KnownOrgs } from '../core/known-orgs.port.js';
import type { OrgConfig } from './app-config.js';

/**
 * The organizations of a config, each under its key: the one that the store knows by forge and name, else a fresh one. Every process of the bot finds
 * the same, also before the first contact with the forge.
 * @param isKept whether a fresh key, or a name that changed, is written into the store; a receiver may not
 */
export async function withKeys(
  orgs: readonly OrgConfig[],
  store: KnownOrgs,
  isKept: boolean,
): Promise<readonly OrgConfig[]> {
  const before = await store.all();
  const keyed = keyedOrgs(orgs, before);
  const names = new Map(before.map(({ key, name }) => [key, name]));
  const changed = isKept ? keyed.filter(({ key, name }) => names.get(key) !== name) : [];
  await Promise.all(changed.map(({ forge, key, name }) => store.keep({ forge, key, name })));
  return keyed;
}

/** Pure. */
export function keyedOrgs(orgs: readonly OrgConfig[], inStore: readonly KnownOrg[]): readonly OrgConfig[] {
  const keys = new Map<OrgConfig, string>();
  const keysInUse = new Set<string>();
  const give = (org: OrgConfig, key: string): void => {
    keys.set(org, key);
    keysInUse.add(key.toLowerCase());
  };
  // A name that the forge told counts only where no organization of the config works under it already.
  for (const part of ['name', 'calledNow'] as const) {
    const byName = new Map(inStore.map((one) => [placeOf(one.forge, one[part] ?? ''), one.key]));
    for (const org of orgs) {
      const key = keys.has(org) ? undefined : byName.get(placeOf(org.forge, org.name));
      if (key !== undefined && !keysInUse.has(key.toLowerCase())) give(org, key);
    }
  }
  for (const { key } of inStore) keysInUse.add(key.toLowerCase());
  const named = grouped(orgs, ({ name }) => name.toLowerCase());
  for (const org of orgs)
    if (!keys.has(org)) give(org, freshKey(org, keysInUse, (named.get(org.name.toLowerCase())?.length ?? 0) > 1));
  return orgs.map((org) => {
    const key = keys.get(org) ?? org.key;
    return key === org.key ? org : { ...org, key };
  });
}

/** The name where it is free, else the name with its forge, else with a number behind. @param keysInUse in lower case */
export function freshKey(
  { forge, name }: Pick<OrgConfig, 'forge' | 'name'>,
  keysInUse: ReadonlySet<string>,
  isShared: boolean,
): string {
  const isFree = (key: string): boolean => !keysInUse.has(key.toLowerCase());
  if (!isShared && isFree(name)) return name;
  const withForge = `${name}@${forge}`;
  if (isFree(withForge)) return withForge;
  for (let n = 2; ; n += 1) if (isFree(`${withForge}#${n}`)) return `${withForge}#${n}`;
}

function placeOf(forge: string, name: string): string {
  return JSON.stringify([forge, name.toLowerCase()]);
}
