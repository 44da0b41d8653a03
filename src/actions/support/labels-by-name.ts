import { orMissing, readAll, whereAllowed, type ForgeClient } from '../../forge/forge-client.js';
import { objectName } from '../../core/object-name.js';
import type { Label } from '../../core/objects/tracker.js';
import { chosenFirst, isInUse } from './same-name.js';

/** Labels that an issue of the repository can bear, by name: those in use first, and of these its own. */
export async function labelsByName(
  forge: Pick<ForgeClient, 'listLabels'> & Partial<Pick<ForgeClient, 'listOrgLabels'>>,
  { owner, repo }: { owner: string; repo: string },
): Promise<ReadonlyMap<string, Label>> {
  const own = await readAll(forge, 'listLabels', { owner, repo });
  const inherited = await whereAllowed(forge.listOrgLabels, () =>
    orMissing(readAll(forge, 'listOrgLabels', { org: owner })),
  );
  const byName = new Map<string, Label>();
  const all = [...chosenFirst(own), ...chosenFirst(inherited ?? [])];
  for (const label of [...all.filter(isInUse), ...all]) {
    const name = objectName(label.name ?? '');
    if (!byName.has(name)) byName.set(name, label);
  }
  return byName;
}

/** What is before the last slash, of a label that is exclusive in its scope; null otherwise. */
export function scopeOf(label: Label | undefined): string | null {
  const name = label?.name ?? '';
  const slash = name.lastIndexOf('/');
  return label?.exclusive === true && slash > 0 ? name.slice(0, slash) : null;
}

/** Two wanted labels of one exclusive scope: the forge would keep the last one. */
export function rivalsIn(
  names: readonly string[],
  labelOf: (name: string) => Label | undefined,
): [string, string] | null {
  const byScope = new Map<string, string>();
  for (const name of names) {
    const scope = scopeOf(labelOf(name));
    if (scope === null) continue;
    const other = byScope.get(scope);
    if (other !== undefined) return [other, name];
    byScope.set(scope, name);
  }
  return null;
}
