/** Taken before the store is opened. The embedded store belongs to one process; a server needs no lock, but a bot's control socket all the same. */
export class StoreLock {
  constructor(readonly is: 'held' | 'not needed') {}
}

/** The open store, as those see it who ask how the bot is. */
export abstract class StoreHealth {
  /** Whether it answers. */
  abstract ping(): Promise<boolean>;
  /** False = its disk is full: nothing can be acknowledged. True where that cannot be told. */
  abstract hasRoom(): Promise<boolean>;
}
