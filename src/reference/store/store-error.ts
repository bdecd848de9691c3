/** The store cannot be opened. The message says why and what can be done, for a person at a terminal. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
