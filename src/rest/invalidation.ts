/**
 * Tells the other processes of this gateway about writes, so that they remove what changed from their read caches. It never
 * throws, and a write never waits for it.
 */
export interface Invalidation {
  /** Something was written about a player. */
  publish(playerUniqueId: string): void;
  /** Called once. */
  subscribe(listener: InvalidationListener): void;
  close(): Promise<void>;
}

export interface InvalidationListener {
  /** Another process wrote something about a player. */
  written(playerUniqueId: string): void;
  /**
   * Whether writes of other processes are heard from now on. Before the first call they are not. While they are not,
   * nothing may be cached, and what was cached before must be removed.
   */
  connected(isConnected: boolean): void;
}
