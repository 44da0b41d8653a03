import type { ForgeClient } from '../../forge/forge-client.js';
import type { Label } from '../../core/objects/tracker.js';
import { readAll } from './read-all.js';
import { orMissing, whereAllowed } from './where-offered.js';

/** What finding labels by name needs of a forge. */
export type LabelReads = Pick<ForgeClient, 'listLabels'> & Partial<Pick<ForgeClient, 'listOrgLabels'>>;

/** Labels that an issue of the repository can bear, by name: its own first, the oldest of a name first. Names are compared as they are. */
export async function labelsByName(
  forge: LabelReads,
  { owner, repo }: { owner: string; repo: string },
): Promise<ReadonlyMap<string, Label>> {
  const own = await readAll(forge, 'listLabels', { owner, repo });
  const inherited = await whereAllowed(forge.listOrgLabels, () =>
    orMissing(readAll(forge, 'listOrgLabels', { org: owner })),
  );
  const byName = new Map<string, Label>();
  for (const label of [...oldestFirst(own), ...oldestFirst(inherited ?? [])]) {
    const name = label.name ?? '';
    if (!byName.has(name)) byName.set(name, label);
  }
  return byName;
}

function oldestFirst(labels: readonly Label[]): Label[] {
  return [...labels].sort((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')));
}

/** What is before the last slash, of a label that is exclusive in its scope; null otherwise. */
export function scopeOf(label: Label | undefined): string | null {
  const name = label?.name ?? '';
  const slash = name.lastIndexOf('/');
  return label?.exclusive === true && slash > 0 ? name.slice(0, slash) : null;
}
