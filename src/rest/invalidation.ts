/**
 * Tells the other processes of this gateway about writes, so that their read caches drop what changed.
 * Nothing here throws, and nothing waits: a write is not slower for it, and not less done without it.
 */
export interface Invalidation {
  /** Says that something was written about a player. */
  publish(playerUniqueId: string): void;
  /** Tells about the writes of others. Called once. */
  subscribe(listener: InvalidationListener): void;
  close(): Promise<void>;
}

export interface InvalidationListener {
  /** Another process wrote something about a player. */
  written(playerUniqueId: string): void;
  /**
   * Whether writes of others are heard of from now on. While they are not, nothing may be kept, and nothing that was
   * kept before is worth anything afterwards. Before the first call they are not.
   */
  connected(yes: boolean): void;
}
