import type {
  BranchRule,
  ProtectionWeakness,
  RuleRepository,
  RuleRepositoryFile,
  RuleRepositoryState,
  RuleReview,
} from './rule-repository.port.js';
import { ForgeError, UserError } from '../../core/errors.js';
import { type ForgeClient, listAll } from '../../forge/forge-client.js';
import { newestVerdicts } from '../../forge/newest-verdicts.js';
import type { OperationName } from '../../forge/operations.js';
import type { Branch, BranchProtection, Contents } from '../../core/objects/git.js';
import type { Review } from '../../core/objects/tracker.js';

/** Merged pull requests are looked through so far back for the one that brought a commit. */
const PULLS_LOOKED_AT = 50;

export interface RuleFilesAccess {
  readonly client: ForgeClient;
  offers(name: OperationName): boolean;
}

/** Reads rule files over the API: the commit by op 2, its protection by op 2 and op 10, contents by op 5 or, where that is missing, one by one. */
export class ForgeRuleFiles implements RuleRepository {
  private readonly owner: string;
  private readonly repo: string;

  /** @param repository owner/name */
  constructor(
    private readonly forge: RuleFilesAccess,
    private readonly repository: string,
  ) {
    const [owner = '', repo = ''] = repository.split('/');
    this.owner = owner;
    this.repo = repo;
  }

  async state(wanted: string | null): Promise<RuleRepositoryState> {
    const { client } = this.forge;
    const description = await this.tell();
    const name = wanted ?? description?.default_branch ?? null;
    if (description?.empty === true) throw new UserError('RULES_EMPTY', `${this.repository} is empty`);
    if (!name)
      throw new UserError(
        'RULES_NO_BRANCH',
        `the forge does not say what the default branch of ${this.repository} is: set orgs[].rules.branch`,
      );
    if (wanted !== null && description?.default_branch && description.default_branch !== wanted)
      throw new UserError(
        'RULES_NO_BRANCH',
        `${wanted} is not the default branch of ${this.repository}: rules must come from ${description.default_branch}`,
      );
    const branch = await this.plain(`branch ${name} of ${this.repository}`, () =>
      client.getBranch({ owner: this.owner, repo: this.repo, branch: name }),
    );
    if (branch.name && branch.name !== name)
      throw new UserError('RULES_NO_BRANCH', `the forge answered branch ${branch.name} for ${name}`);
    return {
      id: description?.id ?? null,
      fullName: description?.full_name ?? null,
      isMirror: description?.mirror === true,
      branch: name,
      commit: branch.commit?.id ?? '',
      author: branch.commit?.author?.username || branch.commit?.author?.name || null,
      signature: signatureOf(branch.commit?.verification),
      isProtected: branch.protected === true,
      protection: await this.protection(branch.effective_branch_protection_name ?? ''),
    };
  }

  async files(commit: string, paths: readonly string[]): Promise<Array<RuleRepositoryFile | null>> {
    const { client, offers } = { client: this.forge.client, offers: (name: OperationName) => this.forge.offers(name) };
    const where = { owner: this.owner, repo: this.repo, ref: commit };
    if (offers('getFiles')) {
      const all = await this.unless('getFiles', () => client.getFiles({ ...where, body: { files: [...paths] } }));
      if (all) return paths.map((path, n) => fileOf(path, all[n] ?? null));
    }
    if (offers('getFilesByQuery')) {
      const all = await this.unless('getFilesByQuery', () =>
        client.getFilesByQuery({ ...where, body: JSON.stringify({ files: [...paths] }) }),
      );
      if (all) return paths.map((path, n) => fileOf(path, all[n] ?? null));
    }
    const files: Array<RuleRepositoryFile | null> = [];
    for (const path of paths) files.push(await this.oneFile(where, path));
    return files;
  }

  private async oneFile(
    where: { owner: string; repo: string; ref: string },
    path: string,
  ): Promise<RuleRepositoryFile | null> {
    try {
      return fileOf(path, await this.forge.client.getContents({ ...where, filepath: path }));
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'refused' && error.facts.status === 404) return null;
      throw error;
    }
  }

  /** Null where the route is missing, or this token may not use it: there is another way. */
  private async unless<Answer>(name: OperationName, call: () => Promise<Answer>): Promise<Answer | null> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const isClosed =
        error.kind === 'not-offered' ||
        (error.kind === 'refused' && (error.facts.status === 403 || error.facts.status === 405));
      if (isClosed && (name === 'getFiles' || name === 'getFilesByQuery')) return null;
      throw error;
    }
  }

  /** Null in the core profile, which has no route that tells of a repository. */
  private async tell(): Promise<Awaited<ReturnType<ForgeClient['getRepo']>> | null> {
    if (!this.forge.offers('getRepo')) return null;
    try {
      return await this.plain(this.repository, () => this.forge.client.getRepo({ owner: this.owner, repo: this.repo }));
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'not-offered') return null;
      throw error;
    }
  }

  /** Only an administrator of the repository is told which rule protects the branch, and may read it. */
  private async protection(rule: string): Promise<BranchRule | null> {
    if (rule === '' || !this.forge.offers('getBranchProtection')) return null;
    try {
      const protection = await this.forge.client.getBranchProtection({
        owner: this.owner,
        repo: this.repo,
        name: rule,
      });
      return { approvals: Number(protection.required_approvals ?? 0), weakness: weaknessOf(protection) };
    } catch (error) {
      const isClosed = error instanceof ForgeError && (error.kind === 'refused' || error.kind === 'not-offered');
      if (isClosed) return null;
      throw error;
    }
  }

  async review({
    branch,
    commit,
  }: Pick<RuleRepositoryState, 'branch' | 'commit'>): Promise<RuleReview | 'none' | 'unknown'> {
    const { client } = this.forge;
    if (!this.forge.offers('listPulls') || !this.forge.offers('listReviews')) return 'unknown';
    const where = { owner: this.owner, repo: this.repo };
    try {
      // The list is in the order of numbers or of the last change, by the server: the newest merges stand in its first page.
      const pulls = await client.listPulls({ ...where, state: 'closed', limit: PULLS_LOOKED_AT });
      const pull = pulls.find(
        (one) => one.merged === true && one.merge_commit_sha === commit && one.base?.ref === branch,
      );
      if (!pull?.number) return 'none';
      const number = Number(pull.number);
      const reviews = await listAll(client, 'listReviews', { ...where, index: number });
      const author = pull.user?.login ?? null;
      return {
        pull: number,
        author,
        mergedBy: pull.merged_by?.login ?? (await this.mergerOf(number)),
        approvedBy: approvalsOf(reviews, pull.head?.sha ?? '', author),
      };
    } catch (error) {
      if (error instanceof ForgeError && (error.kind === 'refused' || error.kind === 'not-offered')) return 'unknown';
      throw error;
    }
  }

  /** Servers leave out of their lists who merged. */
  private async mergerOf(index: number): Promise<string | null> {
    if (!this.forge.offers('getPull')) return null;
    const pull = await this.forge.client.getPull({ owner: this.owner, repo: this.repo, index });
    return pull.merged_by?.login ?? null;
  }

  /** What people can do something about, in their words. */
  private async plain<Answer>(what: string, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.kind === 'moved')
        throw new UserError(
          'RULES_MOVED_AWAY',
          `${this.repository} was renamed or moved, and the bot follows no redirect: write the new name into orgs[].rules.repository`,
        );
      if (error.kind === 'refused' && error.facts.status === 404)
        throw new UserError('RULES_NOT_THERE', `${what} is not there, or the token may not see it`);
      throw error;
    }
  }
}

function signatureOf(verification: NonNullable<Branch['commit']>['verification']): RuleRepositoryState['signature'] {
  if (typeof verification?.verified !== 'boolean') return null;
  const { signer } = verification;
  return {
    isVerified: verification.verified,
    signer: verification.verified ? signer?.username || signer?.name || signer?.email || null : null,
  };
}

function weaknessOf(rule: BranchProtection): ProtectionWeakness[] {
  const isPushOpen = rule.enable_push === true;
  const weaknesses: Record<ProtectionWeakness, boolean> = {
    'force-push': rule.enable_force_push === true && rule.enable_force_push_allowlist !== true,
    'open-push': isPushOpen && rule.enable_push_whitelist !== true,
    'unprotected-files': (rule.unprotected_file_patterns ?? '').trim() !== '',
    'push-list': isPushOpen && rule.enable_push_whitelist === true,
    'bypass-list': rule.enable_bypass_allowlist === true,
  };
  return (Object.keys(weaknesses) as ProtectionWeakness[]).filter((weakness) => weaknesses[weakness]);
}

/** Accounts whose newest verdict is an official approval of this very head; none where the forge does not tell the head. */
function approvalsOf(reviews: readonly Review[], head: string, author: string | null): string[] {
  if (head === '') return [];
  return newestVerdicts(reviews, author)
    .filter(
      ({ state, official, stale, commit_id: commit }) =>
        state === 'APPROVED' && official === true && stale !== true && commit === head,
    )
    .map(({ user }) => user?.login ?? '');
}

function fileOf(path: string, entry: Contents | null): RuleRepositoryFile | null {
  if (!entry) return null;
  const isText = entry.encoding === 'base64' && typeof entry.content === 'string';
  // A link is told by its kind; on servers that would tell it as a file, by where it leads.
  const type = entry.target ? 'symlink' : entry.submodule_git_url ? 'submodule' : (entry.type ?? 'thing of no kind');
  return {
    path: entry.path ?? path,
    type,
    size: Number(entry.size ?? 0),
    bytes: isText ? new Uint8Array(Buffer.from(entry.content ?? '', 'base64')) : null,
  };
}
