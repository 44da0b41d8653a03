/** A connection that hears what processes tell each other. */
export interface NotificationListener {
  /** Rejects when the connection ends, with the reason. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

/**
 * Short texts from process to process, by way of the store. Nothing is kept: who does not listen at the moment hears nothing. Everybody who may log in
 * at the store may send anything. The provider is null where the store belongs to one process.
 */
export abstract class Notifications {
  /**
   * @param texts 7,500 bytes each at most
   * @throws StoreUnavailable
   */
  abstract send(texts: readonly string[]): Promise<void>;
  /**
   * Opens a connection of its own. That this succeeds does not mean that texts come through: poolers may drop them.
   * @throws StoreUnavailable
   */
  abstract listen(listener: (text: string) => void): Promise<NotificationListener>;
}
