import type { CallContext } from './call-context.ts';
import { UpstreamError } from './errors.ts';

/** How long a language is known not to exist, in milliseconds, and how many such languages are remembered. */
const REMEMBER_MS = 3_600_000;
const MAX_REMEMBERED = 1_000;

/**
 * Reads in the best language that the account has: the one asked for, then its primary language (`en` of `en-US`), then the
 * default. Which languages are configured is known to the service alone, which refuses the others with 400.
 *
 * A 400 can have another cause. So a language is remembered as missing only when the same read succeeds without it.
 */
export class Languages {
  /** Until when each tag is known to be missing, on the clock of `performance.now()`; oldest first. */
  readonly #missing = new Map<string, number>();

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
        if (candidate === undefined || !isRefusal(error)) throw error;
        refused.push(candidate);
      }
    }
    return null;
  }

  /** What to try in turn, without the languages that are known to be missing. Undefined is the default language. */
  #candidates(lang: string): (string | undefined)[] {
    const [primary] = normalise(lang).split('-', 1);
    const tags = primary === undefined || primary === normalise(lang) ? [lang] : [lang, primary];
    return [...tags.filter((tag) => !this.#isMissing(tag)), undefined];
  }

  #isMissing(tag: string): boolean {
    const until = this.#missing.get(normalise(tag));
    return until !== undefined && performance.now() < until;
  }

  #remember(tag: string): void {
    const key = normalise(tag);
    this.#missing.delete(key);
    this.#missing.set(key, performance.now() + REMEMBER_MS);
    if (this.#missing.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#missing.keys()) {
      this.#missing.delete(oldest);
      return;
    }
  }
}

function normalise(tag: string): string {
  return tag.toLowerCase().replaceAll('_', '-');
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'UPSTREAM_REJECTED' && error.status === 400;
}
