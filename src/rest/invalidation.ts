/**
 * Sends writes to the other processes of this gateway, so that they remove changed results from their read caches. It never
 * throws, and a write never waits for it.
 */
export interface Invalidation {
  /** Called after a write about a player. */
  publish(playerUniqueId: string): void;
  /** Called once. */
  subscribe(listener: InvalidationListener): void;
  close(): Promise<void>;
}

export interface InvalidationListener {
  /** Another process wrote something about a player. */
  written(playerUniqueId: string): void;
  /**
   * Whether writes of other processes are received from now on; false before the first call. While it is false, nothing may
   * be cached, and earlier entries must be removed.
   */
  connected(isConnected: boolean): void;
}
