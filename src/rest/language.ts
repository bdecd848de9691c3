import { LRUCache } from 'lru-cache';
import type { CallContext } from './call-context.ts';
import { UpstreamError } from './errors.ts';

/** How long a missing language is remembered, in milliseconds, and how many of them. */
const REMEMBER_MS = 3_600_000;
const MAX_REMEMBERED = 1_000;

/**
 * Reads in the best language that the account has: the requested language, then its primary language (`en` of `en-US`), then
 * the default. Only the service knows which languages are configured. It refuses others with 400.
 *
 * A 400 can have another cause. So a language is remembered as missing only when the same read succeeds without it.
 */
export class Languages {
  /** Missing languages and until when they are remembered, on the clock of `performance.now()`. */
  readonly #missing = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  async read<Result>(
    lang: string,
    context: CallContext,
    read: (lang: string | undefined) => Promise<Result | null>,
  ): Promise<Result | null> {
    const refused: string[] = [];
    for (const candidate of this.#candidates(lang)) {
      if (refused.length > 0) context.takeCall?.();
      try {
        const result = await read(candidate);
        if (result !== null) for (const tag of refused) this.#remember(tag);
        return result;
      } catch (error) {
        if (candidate === undefined || !isRefused(error)) throw error;
        refused.push(candidate);
      }
    }
    return null;
  }

  /** The languages to try in order, without those remembered as missing. Undefined is the default language. */
  #candidates(lang: string): (string | undefined)[] {
    const [primary] = normalise(lang).split('-', 1);
    const tags = primary === undefined || primary === normalise(lang) ? [lang] : [lang, primary];
    return [...tags.filter((tag) => !this.#isMissing(tag)), undefined];
  }

  #isMissing(tag: string): boolean {
    const until = this.#missing.peek(normalise(tag));
    return until !== undefined && performance.now() < until;
  }

  #remember(tag: string): void {
    this.#missing.set(normalise(tag), performance.now() + REMEMBER_MS);
  }
}

function normalise(tag: string): string {
  return tag.toLowerCase().replaceAll('_', '-');
}

function isRefused(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'UPSTREAM_REJECTED' && error.status === 400;
}
