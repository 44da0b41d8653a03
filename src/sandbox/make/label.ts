import type { Label, Organization, Repository, User, World } from '../world.js';

/** Six lower-case hex digits without `#`; three are doubled, spaces around are forgiven. Undefined when it is no color. */
export function readColor(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/.exec(text.trim().toLowerCase())?.[1];
  if (digits === undefined || digits.length === 6) return digits;
  return [...digits].map((digit) => digit + digit).join('');
}

export interface LabelWish {
  /** A label of this repository, or of the organization. */
  of: Repository | Organization;
  name: string;
  /** As `readColor` gives it. */
  color: string;
  description?: string | undefined;
  exclusive?: boolean | undefined;
  isArchived?: boolean | undefined;
}

/** Names need not be unique: a second label of a name is a second label. */
export function makeLabel(world: World, by: User, wish: LabelWish): Label {
  const org = 'login' in wish.of ? wish.of : null;
  const repo = 'login' in wish.of ? null : wish.of;
  const label: Label = {
    id: world.nextId('label'),
    repoId: repo?.id ?? null,
    orgId: org?.id ?? null,
    name: wish.name,
    color: wish.color,
    description: wish.description ?? '',
    exclusive: wish.exclusive ?? false,
    isArchived: wish.isArchived ?? false,
  };
  world.labels.set(label.id, label);
  world.changed('label', label.id, 'created');
  if (repo) world.happened(by, { kind: 'label.defined', repo, label });
  return label;
}

/** By name as bytes, as the database of a real server sorts; then by age. */
export function byName(a: Label, b: Label): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || Number(a.id - b.id);
}

export function labelsOfRepo(world: World, repo: Repository): Label[] {
  return [...world.labels.values()].filter((label) => label.repoId === repo.id).sort(byName);
}

export function labelsOfOrg(world: World, org: Organization): Label[] {
  return [...world.labels.values()].filter((label) => label.orgId === org.id).sort(byName);
}

/** Labels that an issue of the repository may carry: its own and its organization's. */
export function labelsUsableIn(world: World, repo: Repository): Label[] {
  return [...world.labels.values()].filter((label) => label.repoId === repo.id || label.orgId === repo.ownerId).sort(byName);
}

/** What stands before the last `/`: of the exclusive labels of a scope an issue carries one. Empty = none. */
export function scopeOf(label: Label): string {
  const slash = label.name.lastIndexOf('/');
  return label.exclusive && slash > 0 ? label.name.slice(0, slash) : '';
}
