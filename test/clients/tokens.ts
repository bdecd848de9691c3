// #region tokens
/** Keeps the token of the player. `fetchToken` asks your login service for one that is valid for an hour or less. */
export class Tokens {
  #token: Promise<string> | undefined;
  readonly #fetchToken: () => Promise<string>;

  constructor(fetchToken: () => Promise<string>) {
    this.#fetchToken = fetchToken;
  }

  current(): Promise<string> {
    this.#token ??= this.#fetchToken().catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }

  /** Fetches a new token in place of a refused one: once, however many requests were refused. */
  async renew(refused: string): Promise<string> {
    if ((await this.current()) === refused) this.#token = undefined;
    return await this.current();
  }
}
// #endregion tokens
