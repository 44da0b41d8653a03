/** What an intent would do, found by doing everything of it but the write. */
export type Rehearsal =
  | { readonly does: 'nothing'; readonly reason: string }
  | { readonly does: 'cannot'; readonly reason: string }
  /**
   * `isReadable`: something was read before, so that it is known what is there. `reads`: calls before the write, one entry each; `isShared`:
   * what one of them told serves all runs for a while.
   */
  | {
      readonly does: 'write';
      readonly operation: string;
      readonly isReadable: boolean;
      readonly reads: ReadonlyArray<{ readonly operation: string; readonly isShared: boolean }>;
    };
