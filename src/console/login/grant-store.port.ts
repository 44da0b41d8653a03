/** What a person gave the bot at a forge: the tokens, sealed. All sessions of the person share it. */
export interface KeptGrant {
  readonly id: string;
  readonly forge: string;
  /** Number of the account, and its name when it was last heard. */
  readonly userId: string;
  readonly login: string;
  readonly sealed: string;
  readonly accessEndsAt: Date;
  /** When the tokens were given. */
  readonly renewedAt: Date;
}

export abstract class GrantStore {
  /** Tokens of a new login take the place of those that this person had before. @returns the id, which stays the same for a person */
  abstract save(grant: KeptGrant): Promise<string>;
  abstract byId(id: string): Promise<KeptGrant | null>;
  /**
   * New tokens in place of those that were read.
   * @returns false when somebody else has put other ones there since
   */
  abstract renew(
    read: KeptGrant,
    tokens: Pick<KeptGrant, 'login' | 'sealed' | 'accessEndsAt' | 'renewedAt'>,
  ): Promise<boolean>;
  /** @returns what was kept */
  abstract remove(id: string): Promise<KeptGrant | null>;
  /** Forget grants that nobody used since: their sessions are long over. */
  abstract sweep(before: Date): Promise<void>;
}
