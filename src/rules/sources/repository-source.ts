import { BotError, UserError } from '../../core/errors.js';
import { hashOfFiles } from '../language/load/load-rules.js';
import type { RuleFile } from '../language/revision.js';
import { INDEX_PATH, readRuleIndex } from './rule-index.js';
import type {
  RuleOrigin,
  RuleRepository,
  RuleRepositoryFile,
  RuleRepositoryState,
  RuleReview,
  RuleVerdict,
} from './rule-repository.port.js';
import { readShared, type Extendable } from './shared-files.js';
import { tableOf } from '../../core/table.js';

const MAX_FILE_BYTES = 256 * 1024;
/** Deliveries of one push come close together, and the branch may lag behind its own push for a moment. */
const SETTLE_MS = 250;
const MAX_COMMITS = 20;

/** What lets a change pass without the reviews that were asked for. */
const HOLES: Partial<Record<string, string>> = tableOf({
  'open-push': 'lets every writer push',
  'unprotected-files': 'has unprotected file patterns, which every writer may push',
  'push-list': 'lets listed accounts push',
  'bypass-list': 'lets listed accounts pass over it',
});

function isOpen(weakness: readonly string[]): boolean {
  return weakness.includes('open-push') || weakness.includes('unprotected-files');
}

/** Where the numeric id of the repository is kept, so that another one of the same name is not taken for it. */
interface RepositoryPin {
  read(): Promise<{ repository: string; id: string } | null>;
  write(pin: { repository: string; id: string }): Promise<void>;
}

export interface RepositorySourceOptions extends Extendable {
  /** owner/name, as the operator wrote it. */
  readonly repository: string;
  /** The operator's; null = the default branch. */
  readonly branch: string | null;
  /** The operator's own word for the number; null = the first one seen is kept. */
  readonly id: string | null;
  /** Seconds between two looks that no push asked for. */
  readonly everyS: number;
  /** Optional. The operator takes a branch onto which writers may push without a review. Default: refused. */
  readonly acceptsOpenBranch?: boolean;
  /** Optional. What the operator asks of each commit. Default: nothing. */
  readonly require?: { readonly reviews: number; readonly signed: boolean };
}

export interface RepositorySourceDeps {
  /** Null until the forge was reached. */
  readonly repository: () => RuleRepository | null;
  readonly pin: RepositoryPin;
  /** Told after each look that came to an end; never waited for. */
  readonly concluded: (verdict: RuleVerdict) => void;
}

/**
 * Rule files out of the organization's own repository: those that `.forgehand/index.yaml` names, at the newest commit of the protected default
 * branch. Whatever is wrong with the place itself (another repository under the name, a branch that writers push to, a missing review, a link) is a
 * UserError, and the revision that runs stays.
 */
export class RepositorySource {
  private timer: NodeJS.Timeout | null = null;
  private settle: NodeJS.Timeout | null = null;
  private changed: (() => void) | null = null;
  /** Something asked for a look before anybody followed. */
  private isWaiting = false;
  private seen: RuleRepositoryState | null = null;
  /** Of `seen`: what the forge tells of the pull request that brought the commit. */
  private review: RuleReview | 'none' | 'unknown' = 'unknown';
  /** Origins of the last states of the files, by their hash. */
  private readonly origins = new Map<string, RuleOrigin>();

  constructor(
    private readonly options: RepositorySourceOptions,
    private readonly deps: RepositorySourceDeps,
  ) {}

  /** @throws UserError when the place is not as it must be; BotError `transient` when the forge could not be asked */
  async read(): Promise<RuleFile[]> {
    this.seen = null;
    this.review = 'unknown';
    const repository = this.reached();
    const state = await this.checkedState(repository);
    const files = await this.filesAt(repository, state);
    const origin = this.originNow();
    if (origin) this.origins.set(hashOfFiles(files), origin);
    if (this.origins.size > MAX_COMMITS) this.origins.delete([...this.origins.keys()][0] ?? '');
    return files;
  }

  /**
   * The files as a commit has them that nobody merged.
   * @returns null where the repository is not the one of the rules
   * @throws as `read`
   */
  async proposed(repositoryId: string, commit: string): Promise<RuleFile[] | null> {
    return (await this.liesIn(repositoryId)) ? this.filesAt(this.reached(), { commit }) : null;
  }

  /** Whether this is the repository of the rules; false until it was read once. */
  async liesIn(repositoryId: string): Promise<boolean> {
    return (this.options.id ?? (await this.keptId())) === repositoryId;
  }

  private async filesAt(repository: RuleRepository, at: Pick<RuleRepositoryState, 'commit'>): Promise<RuleFile[]> {
    const [index] = await repository.files(at.commit, [INDEX_PATH]);
    const paths = readRuleIndex(this.placeOf(at, INDEX_PATH), this.textOf(at, INDEX_PATH, index ?? null));
    const answers = paths.length === 0 ? [] : await repository.files(at.commit, paths);
    const own = paths.map((path, n) => ({
      path: this.placeOf(at, path),
      name: path,
      text: this.textOf(at, path, answers[n] ?? null),
    }));
    return [...own, ...(await readShared(own, this.options))];
  }

  /** Where the state of the files with this hash came from; null for one that this process did not read. */
  originOf(hash: string): RuleOrigin | null {
    return this.origins.get(hash) ?? null;
  }

  /** The commit that holds the state of the files with this hash; null for one that this process did not read. */
  commitOf(hash: string): Promise<string | null> {
    return Promise.resolve(this.origins.get(hash)?.commit ?? null);
  }

  /**
   * Look once more, right before what was read becomes active: it must still be the newest commit of the same protected branch.
   * @throws UserError when it is not
   */
  async confirm(): Promise<void> {
    const { seen } = this;
    const state = await this.checkedState(this.reached());
    if (seen && state.commit === seen.commit && state.branch === seen.branch && state.id === seen.id) return;
    this.nudge();
    throw new BotError(
      'RULES_MOVED',
      `${this.options.repository} changed while the bot read it; the bot reads it again`,
      'transient',
    );
  }

  watch(changed: () => void): void {
    this.changed = changed;
    this.timer = setInterval(changed, this.options.everyS * 1000);
    this.timer.unref();
    if (this.isWaiting) this.nudge();
  }

  /** Something happened in a repository; look soon when it may be ours. */
  nudge(repositoryId: string | null = null): void {
    const own = this.options.id ?? this.seen?.id ?? null;
    this.isWaiting = this.changed === null;
    if (!this.changed || (repositoryId !== null && own !== null && repositoryId !== own)) return;
    if (this.settle) clearTimeout(this.settle);
    this.settle = setTimeout(this.changed, SETTLE_MS);
    this.settle.unref();
  }

  concluded(outcome: {
    readonly problems: readonly string[];
    readonly isTransient: boolean;
    readonly code?: string | null;
  }): void {
    const { seen, options } = this;
    const weakness = seen?.protection?.weakness ?? [];
    this.deps.concluded({
      repository: options.repository,
      commit: seen?.commit ?? null,
      branch: seen?.branch ?? null,
      state: outcome.problems.length === 0 ? 'active' : outcome.isTransient ? 'unreachable' : 'refused',
      problems: outcome.problems,
      code: outcome.code ?? null,
      origin: this.originNow(),
      notes:
        seen && isOpen(weakness)
          ? [
              `everybody who may write to ${options.repository} may push to ${seen.branch} without a review (accept: open-branch)`,
            ]
          : [],
    });
  }

  close(): void {
    this.changed = null;
    if (this.timer) clearInterval(this.timer);
    if (this.settle) clearTimeout(this.settle);
  }

  private reached(): RuleRepository {
    const repository = this.deps.repository();
    if (!repository)
      throw new BotError(
        'FORGE_NOT_REACHED',
        `the forge of ${this.options.repository} was not reached yet`,
        'transient',
      );
    return repository;
  }

  private async checkedState(repository: RuleRepository): Promise<RuleRepositoryState> {
    const { options } = this;
    const state = await repository.state(options.branch);
    if (state.fullName !== null && state.fullName.toLowerCase() !== options.repository.toLowerCase())
      throw new UserError(
        'RULES_MOVED_AWAY',
        `${options.repository} is called ${state.fullName} now: write the new name into orgs[].rules.repository`,
      );
    await this.checkPin(state);
    // From here on it is the operator's repository: what is said about it may be said there.
    this.seen ??= state;
    if (state.isMirror)
      throw new UserError(
        'RULES_MIRRORED',
        `${options.repository} is a mirror, so its content is decided elsewhere: use a repository of the organization`,
      );
    if (!state.isProtected)
      throw new UserError(
        'RULES_UNPROTECTED',
        `branch ${state.branch} of ${options.repository} is not protected: protect it (repository settings, Branches, Add New Rule), then push or wait`,
      );
    if (state.protection?.weakness.includes('force-push'))
      throw new UserError(
        'RULES_UNPROTECTED',
        `the protection of ${state.branch} in ${options.repository} lets everybody force-push: take that away, or give it an allow list (repository settings, Branches)`,
      );
    if (!/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(state.commit))
      throw new UserError(
        'RULES_NO_COMMIT',
        `the forge names no commit for branch ${state.branch} of ${options.repository}`,
      );
    if (!options.acceptsOpenBranch) this.checkPushes(state);
    this.review = await repository.review(state);
    this.checkReviews(state, this.review);
    this.checkSignature(state);
    return state;
  }

  /** Who may push without a review writes rules that act with the bot's rights. */
  private checkPushes({ branch, protection }: RuleRepositoryState): void {
    const { repository } = this.options;
    if (protection === null)
      throw new UserError(
        'RULES_PROTECTION_UNKNOWN',
        `the token may not read the protection of ${branch} in ${repository}: make the bot account an administrator of that repository, or write accept: open-branch into orgs[].rules`,
      );
    if (protection.weakness.includes('open-push'))
      throw new UserError(
        'RULES_OPEN_BRANCH',
        `everybody who may write to ${repository} may push to ${branch} without a review: disable pushes or give them an allow list (repository settings, Branches, edit the rule), or write accept: open-branch into orgs[].rules`,
      );
    if (protection.weakness.includes('unprotected-files'))
      throw new UserError(
        'RULES_OPEN_BRANCH',
        `the protection of ${branch} in ${repository} has unprotected file patterns, which every writer may push: empty that field (repository settings, Branches, edit the rule), or write accept: open-branch into orgs[].rules`,
      );
  }

  private checkReviews(
    { branch, commit, protection }: RuleRepositoryState,
    review: RuleReview | 'none' | 'unknown',
  ): void {
    const { repository, require } = this.options;
    const wanted = require?.reviews ?? 0;
    if (wanted === 0) return;
    if (protection === null || review === 'unknown')
      throw new UserError(
        'RULES_REVIEWS_UNKNOWN',
        `orgs[].rules.require asks for ${wanted} reviews, and the forge does not show this token who approved ${repository}@${commit.slice(0, 12)}: make the bot account an administrator of that repository, or take require.reviews away`,
      );
    const hole = protection.weakness.find((weakness) => Object.hasOwn(HOLES, weakness));
    if (hole !== undefined)
      throw new UserError(
        'RULES_REVIEWS_BYPASSED',
        `orgs[].rules.require asks for ${wanted} reviews, and the protection of ${branch} in ${repository} ${HOLES[hole]}: take that away (repository settings, Branches, edit the rule)`,
      );
    if (protection.approvals < wanted)
      throw new UserError(
        'RULES_REVIEWS_BYPASSED',
        `orgs[].rules.require asks for ${wanted} reviews, and the protection of ${branch} in ${repository} asks for ${protection.approvals}: raise its required approvals (repository settings, Branches, edit the rule)`,
      );
    const approvals = review === 'none' ? 0 : review.approvedBy.length;
    if (approvals < wanted)
      throw new UserError(
        'RULES_NOT_REVIEWED',
        `${repository}@${commit.slice(0, 12)} ${review === 'none' ? 'came by no merged pull request' : `came by #${review.pull}, which has ${approvals} approvals of its last commit`}, and orgs[].rules.require asks for ${wanted} reviews: merge an approved pull request`,
      );
  }

  private checkSignature({ commit, signature }: RuleRepositoryState): void {
    const { repository, require } = this.options;
    if (!require?.signed) return;
    if (signature === null)
      throw new UserError(
        'RULES_SIGNATURE_UNKNOWN',
        `orgs[].rules.require asks for signed commits, and the forge does not say whether ${repository}@${commit.slice(0, 12)} is signed: remove require.signed`,
      );
    if (!signature.isVerified)
      throw new UserError(
        'RULES_NOT_SIGNED',
        `${repository}@${commit.slice(0, 12)} has no signature that the forge could verify, and orgs[].rules.require asks for one: sign the newest commit with a key that its author registered at the forge`,
      );
  }

  private originNow(): RuleOrigin | null {
    const { seen, review, options } = this;
    if (!seen) return null;
    const { branch, commit, author, signature } = seen;
    return {
      repository: options.repository,
      branch,
      commit,
      author,
      signer: signature?.signer ?? null,
      review: typeof review === 'string' ? null : review,
    };
  }

  /** A repository of the same name and another number is not the one the operator meant: renamed away, deleted and made anew, or taken over. */
  private async checkPin({ id }: RuleRepositoryState): Promise<void> {
    const { options, deps } = this;
    const pinnedId = options.id ?? (await this.keptId());
    if (id === null) {
      if (pinnedId === null) return;
      throw new UserError(
        'RULES_PIN',
        `the forge does not show the number of ${options.repository}, which was ${pinnedId}: the bot cannot know whether it is the same repository`,
      );
    }
    if (pinnedId === null) return deps.pin.write({ repository: options.repository, id });
    if (pinnedId === id) return undefined;
    throw new UserError(
      'RULES_TAKEN_OVER',
      `${options.repository} is another repository now (number ${id}, it was ${pinnedId}): if that is meant, write orgs[].rules.repository_id: "${id}"`,
    );
  }

  private async keptId(): Promise<string | null> {
    const pin = await this.deps.pin.read();
    return pin?.repository.toLowerCase() === this.options.repository.toLowerCase() ? pin.id : null;
  }

  private placeOf(state: Pick<RuleRepositoryState, 'commit'>, path: string): string {
    return `${this.options.repository}@${state.commit.slice(0, 12)}:${path}`;
  }

  private textOf(state: Pick<RuleRepositoryState, 'commit'>, path: string, file: RuleRepositoryFile | null): string {
    const place = this.placeOf(state, path);
    if (!file)
      throw new UserError(
        'RULES_FILE_MISSING',
        path === INDEX_PATH
          ? `${place} is not there: it names the rule files`
          : `${place} is named in ${INDEX_PATH} and is not there`,
      );
    if (file.type !== 'file') throw new UserError('RULES_NO_FILE', `${place} is a ${file.type}, not a file`);
    if (file.path !== path) throw new UserError('RULES_NO_FILE', `the forge answered ${file.path} for ${place}`);
    if (file.size > MAX_FILE_BYTES || (file.bytes?.length ?? 0) > MAX_FILE_BYTES)
      throw new UserError(
        'RULE_FILE_TOO_LARGE',
        `${place} has ${Math.max(file.size, file.bytes?.length ?? 0)} bytes; ${MAX_FILE_BYTES} is the limit`,
      );
    if (!file.bytes) throw new UserError('RULES_NO_FILE', `the forge gives no content of ${place}`);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
    } catch {
      throw new UserError('RULES_NO_FILE', `${place} is not UTF-8`);
    }
  }
}
