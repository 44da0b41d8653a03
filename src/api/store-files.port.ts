/** A copy of an embedded store's files, on the machine of the bot. */
export interface StoreFiles {
  readonly dir: string;
  readonly bytes: number;
  /** How long the store waited. */
  readonly pauseMs: number;
}

/** Copies the files of an embedded store while it works. */
export abstract class StoreCopier {
  /** @throws UserError on a server, whose backup reads the tables themselves */
  abstract copyFiles(): Promise<StoreFiles>;
}
