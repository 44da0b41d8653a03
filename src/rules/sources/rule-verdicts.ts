import { Inject, Injectable } from '@nestjs/common';
import type { RuleVerdict } from './rule-repository.port.js';
import { ForgeError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { ConnectedForges, type ForgeClients } from '../../forge/connected-forges.js';
import { RuleHistory } from './rule-history.port.js';
import { KnownFacts, type KnownFact } from '../../core/known-facts.port.js';

/** What is shown of the newest look at an organization's repository of rules. */
export interface ReportedVerdict extends RuleVerdict {
  /** What a change would have done on stored history; null when nothing was compared. */
  readonly history: string | null;
  /** Why the verdict could not be put on the commit; null when it was, or did not have to be. */
  readonly unposted: string | null;
}

interface LearnedVerdict extends ReportedVerdict {
  readonly learnedAt: Date;
}

/** Of an organization; null = none is known. */
type VerdictOf = (forge: string, org: string) => LearnedVerdict | null;

const KIND = 'rules.verdict';
const CONTEXT = 'forgehand/rules';
const DESCRIPTION_LENGTH = 140;
const PROBLEMS_KEPT = 20;

/** Keeps the verdict about each commit of rules, and puts it on the commit, once for each verdict. */
@Injectable()
export class RuleVerdicts {
  private readonly queues = new Map<string, Promise<void>>();
  private isStopped = false;

  constructor(
    private readonly facts: KnownFacts,
    @Inject(ConnectedForges) private readonly forges: ForgeClients,
    private readonly history: RuleHistory,
    private readonly logger: Logger,
  ) {}

  /** Never throws: a verdict that cannot be told changes nothing about the rules. */
  concluded(forge: string, org: string, verdict: RuleVerdict): Promise<void> {
    const before = this.queues.get(org) ?? Promise.resolve();
    const next = before
      .then(() => (this.isStopped ? undefined : this.tell(forge, org, verdict)))
      .catch((error: unknown) => this.logger.warn({ org, error }, 'verdict.not-reported'));
    this.queues.set(org, next);
    return next;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.queues.values());
  }

  /** The newest ones, also of an earlier process, with one question to the store. @param orgs default: all */
  async among(orgs?: readonly string[]): Promise<VerdictOf> {
    const rows = orgs === undefined ? await this.facts.all(KIND) : await this.facts.of([KIND], orgs);
    const verdicts = new Map(rows.map((row) => [`${row.forge}/${row.subject}`, readVerdict(row)]));
    return (forge, org) => verdicts.get(`${forge}/${org}`) ?? null;
  }

  private async tell(forge: string, org: string, verdict: RuleVerdict): Promise<void> {
    // Nothing was found out about the rules: what was said last stands.
    if (verdict.state === 'unreachable') return;
    const last = await ruleVerdictOf(this.facts, forge, org);
    if (last && sameVerdict(last, verdict)) return;
    const isChange = verdict.state === 'active' && last?.commit !== verdict.commit && last !== null;
    const history = isChange ? await this.history.onHistory(org).catch(() => null) : null;
    const unposted = await this.post(forge, org, verdict, history);
    const reported: ReportedVerdict = {
      ...verdict,
      problems: verdict.problems.slice(0, PROBLEMS_KEPT),
      history,
      unposted,
    };
    await this.facts.write(forge, org, KIND, reported as unknown as JsonObject);
  }

  /** @returns why the status could not be set; null when it was, or there is no commit or no forge to tell */
  private async post(
    forge: string,
    org: string,
    { repository, commit, state, problems, notes }: RuleVerdict,
    history: string | null,
  ): Promise<string | null> {
    const access = this.forges.get(forge, org);
    if (commit === null || !access) return null;
    if (!access.offers('createStatus')) return 'this forge has no commit statuses';
    const [owner = '', repo = ''] = repository.split('/');
    const isActive = state === 'active';
    const parts = isActive ? ['These rules are active', history, ...notes] : refusalOf('Not taken', problems);
    try {
      await access.client.createStatus({ owner, repo, sha: commit, body: statusOf(isActive, parts) });
      return null;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return error.facts.status === 403 ? `the token may not set commit statuses in ${repository}` : error.message;
    }
  }
}

/** The newest verdict on an organization's repository of rules, also of an earlier process. */
export async function ruleVerdictOf(
  facts: Pick<KnownFacts, 'read'>,
  forge: string,
  org: string,
): Promise<LearnedVerdict | null> {
  const row = await facts.read(forge, org, KIND);
  return row && readVerdict(row);
}

/** The commit status of a verdict: one line of what was said. */
export function statusOf(
  isGood: boolean,
  parts: ReadonlyArray<string | null>,
): { readonly context: string; readonly state: 'success' | 'failure'; readonly description: string } {
  const description = parts.filter((part) => part !== null).join('; ');
  return { context: CONTEXT, state: isGood ? 'success' : 'failure', description: shortened(description) };
}

/** Why rules are, or would be, refused: the first problem, and how many more there are. */
export function refusalOf(word: string, problems: readonly string[]): Array<string | null> {
  return [`${word}: ${problems[0] ?? ''}`, problems.length > 1 ? `and ${problems.length - 1} more` : null];
}

function shortened(sentence: string): string {
  const text = sentence.replace(/\s+/g, ' ').trim();
  return text.length <= DESCRIPTION_LENGTH ? text : `${text.slice(0, DESCRIPTION_LENGTH - 1)}…`;
}

function sameVerdict(a: RuleVerdict, b: RuleVerdict): boolean {
  const key = ({ repository, commit, branch, state, problems, notes, code, origin }: RuleVerdict): string =>
    JSON.stringify([
      repository,
      commit,
      branch,
      state,
      problems.slice(0, PROBLEMS_KEPT),
      notes,
      code ?? null,
      origin?.review ?? null,
    ]);
  return key(a) === key(b);
}

function readVerdict({ fact, learnedAt }: KnownFact): LearnedVerdict | null {
  return isJsonObject(fact) && typeof fact['repository'] === 'string' && Array.isArray(fact['problems'])
    ? { ...(fact as unknown as ReportedVerdict), learnedAt }
    : null;
}
