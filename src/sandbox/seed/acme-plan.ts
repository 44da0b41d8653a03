import { seededRandom, type SeededRandom } from '../../core/seeded-random.js';

/** What a repository is there to show. */
export type RepoRole =
  | 'product'
  | 'service'
  | 'frontend'
  | 'library'
  | 'tool'
  | 'docs'
  | 'website'
  | 'infrastructure'
  | 'vault'
  | 'legacy'
  | 'fork'
  | 'template'
  | 'empty';

export interface RepoPlan {
  readonly role: RepoRole;
  readonly name: string;
  readonly description: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  /** Published releases, oldest first. */
  readonly releases: readonly string[];
  /** Tags without a release. */
  readonly tags: readonly string[];
  /** The default branch is protected. */
  readonly isProtected: boolean;
  /** A container image named like the repository, one version per release. */
  readonly hasImage: boolean;
  /** Has a workflow, and runs of it. */
  readonly hasWorkflow: boolean;
}

export interface PersonPlan {
  readonly login: string;
  readonly fullName: string;
}

/** Names and order of the living organization; the same for the same seed. */
export interface AcmePlan {
  readonly org: 'acme';
  readonly owners: readonly PersonPlan[];
  readonly writers: readonly PersonPlan[];
  readonly readers: readonly PersonPlan[];
  /** Not a member: keeps the original of the fork, and forks from the organization. */
  readonly outsider: PersonPlan;
  /** In the order in which they were made. */
  readonly repos: readonly RepoPlan[];
}

type RoleFacts = Omit<RepoPlan, 'role' | 'name'> & { readonly names: readonly string[] };

const PLAIN = {
  private: false,
  defaultBranch: 'main',
  releases: [],
  tags: [],
  isProtected: false,
  hasImage: false,
  hasWorkflow: false,
} as const;

/** The first name of each role is that of seed 1. */
const ROLES: Record<RepoRole, RoleFacts> = {
  product: {
    ...PLAIN,
    names: ['app', 'atlas', 'beacon', 'compass'],
    description: 'the product',
    releases: ['v1.1.0', 'v1.2.0', 'v1.3.0'],
    isProtected: true,
    hasImage: true,
    hasWorkflow: true,
  },
  service: {
    ...PLAIN,
    names: ['api', 'gateway', 'orders', 'ledger'],
    description: 'what the product talks to',
    releases: ['v0.9.0', 'v1.0.0'],
    isProtected: true,
    hasImage: true,
    hasWorkflow: true,
  },
  frontend: {
    ...PLAIN,
    names: ['web', 'console', 'portal', 'dashboard'],
    description: 'what people look at',
    releases: ['v2.0.0'],
    hasImage: true,
    hasWorkflow: true,
  },
  library: {
    ...PLAIN,
    names: ['sdk', 'toolkit', 'commons', 'client'],
    description: 'for those who build on us',
    releases: ['v0.4.0', 'v0.5.0'],
    tags: ['v0.6.0-rc1'],
  },
  tool: {
    ...PLAIN,
    names: ['cli', 'runner', 'pilot', 'lever'],
    description: 'on the command line',
    defaultBranch: 'trunk',
    tags: ['v0.1.0'],
  },
  docs: { ...PLAIN, names: ['docs', 'handbook', 'guides', 'manual'], description: 'how to use it all' },
  website: { ...PLAIN, names: ['site', 'homepage', 'landing', 'press'], description: 'the public face' },
  infrastructure: {
    ...PLAIN,
    names: ['infra', 'platform', 'cluster', 'terraform'],
    description: 'machines and networks',
    private: true,
    isProtected: true,
  },
  vault: {
    ...PLAIN,
    names: ['vault', 'keys', 'payroll', 'contracts'],
    description: 'not for everybody',
    private: true,
  },
  legacy: {
    ...PLAIN,
    names: ['legacy', 'attic', 'classic', 'monolith'],
    description: 'kept for reading',
    releases: ['v0.3.0'],
  },
  fork: { ...PLAIN, names: ['engine', 'parser', 'router', 'renderer'], description: 'somebody else began it' },
  template: { ...PLAIN, names: ['service-template', 'starter', 'skeleton', 'blueprint'], description: 'copy me' },
  empty: { ...PLAIN, names: ['incubator', 'scratch', 'ideas', 'playground'], description: 'nothing yet' },
};

const PEOPLE: readonly PersonPlan[] = [
  ['ann', 'Ann Arbor'],
  ['ben', 'Ben Harbor'],
  ['cleo', 'Cleo Marsh'],
  ['dora', 'Dora Winter'],
  ['emil', 'Emil Storm'],
  ['fritz', 'Fritz Ehrlich'],
  ['greta', 'Greta Nord'],
  ['hugo', 'Hugo Feld'],
  ['ida', 'Ida Berg'],
  ['jonas', 'Jonas Wald'],
  ['kira', 'Kira See'],
  ['liam', 'Liam Stone'],
].map(([login = '', fullName = '']) => ({ login, fullName }));

const FIRST_SEED = 1;
const COUNTS = { owners: 2, writers: 3, readers: 2 } as const;

/**
 * @param seed 1 gives the first names in the written order; any other one varies names of people and repositories, and their order
 */
export function planAcme(seed: number): AcmePlan {
  const random = seed === FIRST_SEED ? null : seededRandom(seed);
  const people = shuffled(PEOPLE, random);
  const take = (count: number): PersonPlan[] => people.splice(0, count);
  return {
    org: 'acme',
    owners: take(COUNTS.owners),
    writers: take(COUNTS.writers),
    readers: take(COUNTS.readers),
    outsider: people[0] as PersonPlan,
    repos: shuffled(Object.keys(ROLES) as RepoRole[], random).map((role) => repoPlan(role, random)),
  };
}

/** The repository of a role; each role is there once. */
export function repoOf(plan: AcmePlan, role: RepoRole): RepoPlan {
  const repo = plan.repos.find((repo) => repo.role === role);
  if (!repo) throw new RangeError(`the plan has no ${role}`);
  return repo;
}

function shuffled<T>(list: readonly T[], random: SeededRandom | null): T[] {
  return random ? random.shuffle(list) : [...list];
}

function repoPlan(role: RepoRole, random: SeededRandom | null): RepoPlan {
  const { names, ...facts } = ROLES[role];
  return { role, name: random ? random.pick(names) : (names[0] as string), ...facts };
}
