import { BotError } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json } from '../../core/json.js';
import type { RuleFile } from '../language/revision.js';
import type { RuleHistory } from '../sources/rule-history.port.js';
import { refusalOf, statusOf } from '../sources/rule-verdicts.js';
import type { RevisionKeeper } from './revision-keeper.js';

interface ProposalsDeps {
  readonly keeper: Pick<RevisionKeeper, 'comesFrom' | 'proposed'>;
  readonly history: RuleHistory;
}

/** What would become of the rules that a pull request proposes. */
export interface JudgedProposal {
  /** Why they would not be taken; empty = they would. */
  readonly problems: readonly string[];
  /** One sentence on stored history; null = nothing was compared. */
  readonly history: string | null;
  /** The commit status that says it. */
  readonly status: ReturnType<typeof statusOf>;
}

const KINDS: ReadonlySet<string> = new Set([
  'pull_request.opened',
  'pull_request.reopened',
  'pull_request.synchronized',
] satisfies Array<ForgeEvent['kind']>);

function proposedBy({ kind, data }: ForgeEvent): string | null {
  const commit = data['sha'];
  return KINDS.has(kind) && typeof commit === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit) ? commit : null;
}

/** Pull requests in the repository of the rules: whether the bot would take what they propose. */
export class Proposals {
  constructor(private readonly deps: ProposalsDeps) {}

  /** The commit whose rules are to be checked after this event; null = there is none, or the rules come from elsewhere. */
  async commitOf(event: ForgeEvent): Promise<string | null> {
    const commit = proposedBy(event);
    if (commit === null || !event.repo) return null;
    return (await this.deps.keeper.comesFrom(event.org, event.repo.id)) ? commit : null;
  }

  /** Whether `commitOf` may name a commit: told without asking where the rules come from. */
  mayPropose(event: ForgeEvent): boolean {
    return proposedBy(event) !== null;
  }

  /**
   * Reads the files of the commit, checks them and, where the branch is one of the repository itself, holds them against stored history.
   * @returns null where the rules come from elsewhere
   * @throws BotError `transient` while the files cannot be read
   */
  async judge({ org, repo, data }: ForgeEvent, commit: string): Promise<JudgedProposal | null> {
    const found = repo && (await this.problemsOf(org, repo.id, commit));
    if (!found) return null;
    const { files, problems } = found;
    const isTaken = problems.length === 0;
    // What happened is told to nobody outside.
    const isCompared = isTaken && !isOfFork(data['pull_request'] ?? null, repo.id);
    const history = isCompared ? await this.deps.history.onHistory(org, files).catch(() => null) : null;
    const said = isTaken ? ['These rules would be taken', history] : refusalOf('Would not be taken', problems);
    return { problems, history, status: statusOf(isTaken, said) };
  }

  private async problemsOf(
    org: string,
    repositoryId: string,
    commit: string,
  ): Promise<{ files: readonly RuleFile[]; problems: readonly string[] } | null> {
    try {
      return await this.deps.keeper.proposed(org, repositoryId, commit);
    } catch (error) {
      if (!(error instanceof BotError) || error.retry !== 'permanent') throw error;
      return { files: [], problems: [error.message] };
    }
  }
}

/** Also where the delivery does not say so. */
function isOfFork(pull: Json, repositoryId: string): boolean {
  const head = isJsonObject(pull) ? (pull['head'] ?? null) : null;
  const from = isJsonObject(head) ? (head['repo'] ?? null) : null;
  return !isJsonObject(from) || from['id'] !== repositoryId;
}
