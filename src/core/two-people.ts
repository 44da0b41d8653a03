import { UserError } from './errors.js';
import { isOperatorName, type ControlCaller, type Operator } from './operators.js';

/** What somebody is about to approve, or had approved. */
export interface TwoPeopleAct {
  /** Who asked for it, as it is recorded: the name of an operator, or of a caller that is none; null = a schedule or an event. */
  readonly requester: string | null;
  /** The forge account whose act caused it; null = none, or not known. */
  readonly actor: string | null;
  /** The rules that want it. */
  readonly revisionId: string;
}

/** `approval: two-people`: who approves has not asked for it and has not written the rule, as far as both can be known. */
export class TwoPeople {
  /**
   * @param operators every one that was ever made
   * @param authors forge accounts of the authors of a revision of the rules; empty where they are not known
   */
  constructor(
    private readonly operators: { list(): Promise<ReadonlyArray<Pick<Operator, 'name' | 'login'>>> },
    private readonly authors: { of(revisionId: string): Promise<readonly string[]> },
  ) {}

  /**
   * @returns the others, as the audit chain keeps them
   * @throws UserError when the approver is no second person, or cannot be told from the first
   */
  async mayApprove(approver: ControlCaller, { requester, actor, revisionId }: TwoPeopleAct): Promise<string> {
    if (approver.kind !== 'operator')
      throw new UserError(
        'APPROVER_NOT_NAMED',
        `${approver.name} is no named operator, and this takes two people: approve it with the token of an operator`,
      );
    await this.apart(approver, requester, 'asked for it');
    if (actor !== null) this.notTheAccount(approver, actor, 'APPROVER_IS_REQUESTER', 'caused it');
    const authors = await this.authors.of(revisionId);
    for (const author of authors)
      this.notTheAccount(approver, author, 'APPROVER_IS_AUTHOR', 'wrote the rules that want it');
    return [
      `requested by ${actor ?? requester ?? 'schedule'}`,
      ...(authors.length > 0 ? [`rules by ${authors.join(', ')}`] : []),
    ].join('; ');
  }

  /**
   * Who applies a plan that took two people is not the one who approved it.
   * @throws UserError
   */
  async mayApply(applier: ControlCaller, approvedBy: string): Promise<void> {
    if (applier.kind !== 'operator')
      throw new UserError(
        'APPLIER_NOT_NAMED',
        `${applier.name} is no named operator, and this takes two people: apply it with the token of an operator`,
      );
    await this.apart(applier, approvedBy, 'approved it');
  }

  private async apart(person: ControlCaller, other: string | null, did: string): Promise<void> {
    if (other === null) return;
    if (!isOperatorName(other))
      throw new UserError(
        'REQUESTER_NOT_NAMED',
        `${other}, which ${did}, is no named operator and could be anybody: deny it, and ask anew with the token of an operator`,
      );
    const accounts = (await this.operators.list())
      // A name that was revoked still tells which forge account it had.
      .filter(({ name, login }) => name === other && login !== null)
      .map(({ login }) => login?.toLowerCase());
    if (person.name === other || (person.login !== null && accounts.includes(person.login.toLowerCase())))
      throw new UserError('APPROVER_IS_REQUESTER', `${person.name} ${did}: somebody else must be the second person`);
  }

  private notTheAccount({ name, login }: ControlCaller, account: string, code: string, did: string): void {
    if (login === null)
      throw new UserError(
        'APPROVER_WITHOUT_LOGIN',
        `the forge account of ${name} is not known, and ${account} ${did}: forgehand operators add ${name} --login ACCOUNT`,
      );
    if ([name, login].some((ownName) => ownName.toLowerCase() === account.toLowerCase()))
      throw new UserError(code, `${account} ${did}: somebody else must approve it`);
  }
}
