/**
 * The module of a room whose work goes on by itself. It ends in the two steps in which the framework ends an application: `drain` is called in
 * `onModuleDestroy` and waited for in `beforeApplicationShutdown`, when everything else was told to end as well. So nothing takes the time of another.
 */
export abstract class Draining {
  private drained: Promise<unknown> = Promise.resolve();

  /** Take nothing new, and end what is in hand. */
  protected abstract drain(): Promise<unknown>;

  onModuleDestroy(): void {
    this.drained = this.drain();
    // Reported where it is waited for.
    this.drained.catch(() => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.drained;
  }
}
