/** By way of the store, one process of the bot tells the others that the config files say something else. */
export abstract class ReloadSignal {
  /** @returns when it was given, by the clock of the store */
  abstract give(): Promise<Date>;
  /** When it was given last; null = never. */
  abstract last(): Promise<Date | null>;
}
