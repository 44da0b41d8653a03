import { Inject, Injectable } from '@nestjs/common';
import { BotError } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { RuleHistory } from '../sources/rule-history.port.js';
import { refusalOf, statusOf } from '../sources/rule-verdicts.js';
import { type ProposedRules, RevisionKeeper } from './revision-keeper.js';

/** What would become of the rules that a pull request proposes. */
export interface JudgedProposal {
  /** False = nobody tried whether they would be taken. */
  readonly isTried: boolean;
  /** Why they would not be taken, or were not tried; empty = they would. */
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
@Injectable()
export class Proposals {
  constructor(
    @Inject(RevisionKeeper) private readonly keeper: Pick<RevisionKeeper, 'comesFrom' | 'proposed'>,
    private readonly history: RuleHistory,
  ) {}

  /** The commit whose rules are to be checked after this event; null = there is none, or the rules come from elsewhere. */
  async commitOf(event: ForgeEvent): Promise<string | null> {
    const commit = proposedBy(event);
    if (commit === null || !event.repo) return null;
    return (await this.keeper.comesFrom(event.org, event.repo.id)) ? commit : null;
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
    const isOutside = !repo || isOfFork(data['pull_request'] ?? null, repo.id);
    const trial = repo && (await this.problemsOf(org, repo.id, commit, isOutside));
    if (!trial) return null;
    const { files, problems, isTried } = trial;
    const isTaken = problems.length === 0;
    // What happened is told to nobody outside.
    const history = isTaken && !isOutside ? await this.history.onHistory(org, files).catch(() => null) : null;
    const parts = isTaken
      ? ['These rules would be taken', history]
      : refusalOf(isTried ? 'Would not be taken' : 'Not checked', problems);
    return { isTried, problems, history, status: statusOf(isTaken, parts) };
  }

  private async problemsOf(
    org: string,
    repositoryId: string,
    commit: string,
    isOutside: boolean,
  ): Promise<ProposedRules | null> {
    try {
      return await this.keeper.proposed(org, repositoryId, commit, isOutside);
    } catch (error) {
      if (!(error instanceof BotError) || error.retry !== 'permanent') throw error;
      return { files: [], isTried: true, problems: [error.message] };
    }
  }
}

/** Also where the delivery does not say so. */
function isOfFork(pull: Json, repositoryId: string): boolean {
  const head = isJsonObject(pull) ? (pull['head'] ?? null) : null;
  const from = isJsonObject(head) ? (head['repo'] ?? null) : null;
  return !isJsonObject(from) || from['id'] !== repositoryId;
}
