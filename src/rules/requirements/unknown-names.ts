import { didYouMean } from '../../core/did-you-mean.js';
import { ForgeError } from '../../core/errors.js';
import { isRefused, listAll, orMissing, type ForgeClient } from '../../forge/forge-client.js';
import type { NamedKind } from '../language/catalogue.js';
import type { LiteralName } from '../language/literal-names.js';

/** More repositories are not read for what they have, and more accounts not one by one. */
const MAX_REPOSITORIES = 30;
const MAX_USERS = 50;

/** What is asked of the forge. */
export type NameReader = Pick<
  ForgeClient,
  | 'listOrgRepos'
  | 'listOrgTeams'
  | 'listOrgLabels'
  | 'listLabels'
  | 'listMilestones'
  | 'listBranches'
  | 'listAssignees'
  | 'getUser'
>;

const READS: Readonly<Record<NamedKind, ReadonlyArray<keyof NameReader>>> = {
  repository: ['listOrgRepos'],
  team: ['listOrgTeams'],
  user: ['getUser', 'listOrgRepos', 'listAssignees'],
  label: ['listOrgRepos', 'listOrgLabels', 'listLabels'],
  milestone: ['listOrgRepos', 'listMilestones'],
  branch: ['listOrgRepos', 'listBranches'],
};

/** What comparing these names reads. */
export function readsOf(names: readonly LiteralName[]): Array<keyof NameReader> {
  return [...new Set(names.flatMap(({ kind }) => READS[kind]))];
}

/** The name of a kind that the bot does not see, in a sentence. */
export function sayUnknown(kind: string, name: string): string {
  return `the bot sees no ${kind} "${name}" at the forge`;
}

/** What to do about it. */
export function cureOfUnknown(kind: string, near: string | null): string {
  return near === null ? `create the ${kind}, or name another in the rules` : `did you mean "${near}"?`;
}

/** What could not be compared, in half a sentence. */
export function sayUnread(kind: string): string {
  return `whether each ${kind} that the rules name exists`;
}

const CASED: ReadonlySet<NamedKind> = new Set(['label', 'milestone', 'branch']);

export interface UnknownNames {
  readonly unknown: ReadonlyArray<{
    readonly one: LiteralName;
    /** What was probably meant. */
    readonly near: string | null;
  }>;
  /** Kinds of which a name could not be compared: too many, or the token may not read them. */
  readonly unread: readonly NamedKind[];
  /** Whether a read of these failed. False: they are too many for this comparison, or this forge has no such list. */
  readonly hasFailed: boolean;
}

/** Why names are not compared: a read failed, or it cannot be done at all. */
type Unread = 'failed' | 'cannot';
type Listed = readonly string[] | Unread;

/** Compares what the rules name literally with what the forge has. Each list is read once, and only where a name asks for it. */
export async function unknownNames(
  client: NameReader,
  org: string,
  names: readonly LiteralName[],
): Promise<UnknownNames> {
  const lists = new NameLists(client as ForgeClient, org);
  const unknown: Array<UnknownNames['unknown'][number]> = [];
  const unread = new Set<NamedKind>();
  let hasFailed = false;
  for (const one of names) {
    const present = await lists.namesLike(one);
    if (typeof present === 'string') {
      unread.add(one.kind);
      hasFailed ||= present === 'failed';
      continue;
    }
    // What repositories have differs by case; names of accounts, teams and repositories do not.
    const isKnown = present.some((name) =>
      CASED.has(one.kind) ? name === one.name : name.toLowerCase() === one.name.toLowerCase(),
    );
    if (isKnown) continue;
    const among = one.kind === 'user' ? await lists.people() : present;
    unknown.push({ one, near: didYouMean(one.name, among) });
  }
  return { unknown, unread: [...unread], hasFailed };
}

/** What the forge has. */
class NameLists {
  private readonly read = new Map<string, Promise<Listed>>();
  private users = 0;

  constructor(
    private readonly client: ForgeClient,
    private readonly org: string,
  ) {}

  namesLike(one: LiteralName): Promise<Listed> {
    if (one.kind === 'repository') return this.repositories();
    if (one.kind === 'team')
      return this.once('teams', async () =>
        (await listAll(this.client, 'listOrgTeams', { org: this.org })).map(({ name }) => name ?? ''),
      );
    if (one.kind === 'user') return this.user(one.name);
    if (one.kind === 'label') return this.labels(one);
    return this.ofRepositories(one, one.kind === 'branch' ? 'listBranches' : 'listMilestones');
  }

  /** Who works in the organization: those who may be assigned in one of its repositories. Empty where the forge does not tell. */
  async people(): Promise<readonly string[]> {
    const [repo] = listed(await this.repositories());
    if (repo === undefined) return [];
    const people = await this.once('people', async () =>
      (await this.client.listAssignees({ owner: this.org, repo })).map(({ login }) => login ?? ''),
    );
    return listed(people);
  }

  private repositories(): Promise<Listed> {
    return this.once('repositories', async () =>
      (await listAll(this.client, 'listOrgRepos', { org: this.org })).map(({ name }) => name ?? ''),
    );
  }

  private user(login: string): Promise<Listed> {
    return this.once(`user ${login.toLowerCase()}`, async () => {
      if ((this.users += 1) > MAX_USERS) return 'cannot';
      return (await orMissing(this.client.getUser({ username: login }))) === null ? [] : [login];
    });
  }

  /** Where labels of the organization cannot be listed, an issue gets none of them either. */
  private async labels(one: LiteralName): Promise<Listed> {
    const own = await this.ofRepositories(one, 'listLabels');
    if (typeof own === 'string') return own;
    const inherited = await this.once('labels', async () =>
      (await listAll(this.client, 'listOrgLabels', { org: this.org })).map(({ name }) => name ?? ''),
    );
    return [...own, ...listed(inherited)];
  }

  private async ofRepositories(
    { name, repositories }: LiteralName,
    operation: 'listLabels' | 'listMilestones' | 'listBranches',
  ): Promise<Listed> {
    const there = await this.repositories();
    if (typeof there === 'string') return there;
    const wanted = repositories?.map((one) => one.toLowerCase());
    const among = wanted ? there.filter((one) => wanted.includes(one.toLowerCase())) : there;
    // Then the name of the repository is what is wrong, and is told.
    if (wanted && among.length === 0) return [name];
    if (among.length > MAX_REPOSITORIES) return 'cannot';
    const collected: string[] = [];
    for (const repo of among) {
      const list = await this.once(`${operation} ${repo}`, () => this.namesIn(operation, repo));
      if (typeof list === 'string') return list;
      collected.push(...list);
    }
    return collected;
  }

  private async namesIn(operation: 'listLabels' | 'listMilestones' | 'listBranches', repo: string): Promise<string[]> {
    const where = { owner: this.org, repo };
    if (operation === 'listMilestones')
      return (await listAll(this.client, operation, { ...where, state: 'all' })).map(({ title }) => title ?? '');
    const rows =
      operation === 'listBranches'
        ? await listAll(this.client, operation, where)
        : await listAll(this.client, operation, where);
    return rows.map(({ name }) => name ?? '');
  }

  private once(key: string, ask: () => Promise<Listed>): Promise<Listed> {
    const listing =
      this.read.get(key) ??
      ask().catch((error: unknown) => {
        if (!(error instanceof ForgeError)) throw error;
        // 404: what has such a list is switched off or hidden, for good.
        return error.kind === 'not-offered' || isRefused(error, 404) ? 'cannot' : 'failed';
      });
    this.read.set(key, listing);
    return listing;
  }
}

function listed(names: Listed): readonly string[] {
  return typeof names === 'string' ? [] : names;
}
