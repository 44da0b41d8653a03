/** What old work leaves behind, so that nothing forgotten comes back as new. */
export abstract class RetentionStore {
  /**
   * Forget under which keys the texts of deliveries count that came before this time: an equal text counts as new from then on.
   * @returns how many keys
   */
  abstract forgetRepeats(before: Date): Promise<number>;
}
