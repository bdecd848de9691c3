import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import { UpstreamError } from './upstream-error.ts';

export type BreakerState = 'closed' | 'half-open' | 'open';

/** Results are counted for this many milliseconds, then from zero again. */
const WINDOW_MS = 10_000;
/** The breaker opens when this many players had failures, and these are more than the successes in the window. */
const MIN_FAILURES = 10;
/** It also opens when this many players had failures without a success between them, however long it takes. */
const MAX_CONSECUTIVE = 20;
/** How long the breaker is open before a trial, in milliseconds. A longer time would add to each outage at its end. */
const BACK_OFF_MS = 1_000;
/** Without a call for so many milliseconds, an open breaker closes: long after an outage, a trial would reject the calls beside it. */
const FORGET_MS = 60_000;
/** How many players who had a trial are remembered. */
const MAX_TRIED = 1_000;

/** What a request says about the service: `success` is any response but 5xx, `none` is nothing. */
export type BreakerResult = 'success' | 'failure' | 'none';

export interface Permit {
  readonly player: string;
  readonly isTrial: boolean;
  /** How often the breaker had opened when it was given. */
  readonly openings: number;
}

/**
 * Stops requests to a failing service. A failure counts once per player and window, so that one player's failures do not
 * open it. While it is open, one trial is sent after each back-off, until one succeeds.
 */
export class Breaker {
  readonly #now: () => number;
  readonly #onChange: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  /** When the next trial may be sent. */
  #trialAt = 0;
  /** How often it has opened. Results of requests that were permitted before the last time are ignored. */
  #openings = 0;
  #windowEnd = 0;
  #failing = new Set<string>();
  #successes = 0;
  #consecutive = new Set<string>();
  /** Players who had a trial since it opened. They wait twice as long, so that another player gets the next trial if one calls. */
  readonly #tried = new Set<string>();

  /** @param isOpen Whether it begins open: then its first request is the trial after a back-off. */
  constructor(now: () => number, onChange: (state: BreakerState) => void, isOpen = false) {
    this.#now = now;
    this.#onChange = onChange;
    if (!isOpen) return;
    this.#state = 'open';
    this.#trialAt = now() + BACK_OFF_MS;
  }

  /** `half-open` as soon as a trial may be sent, `closed` after a minute without a call. */
  get state(): BreakerState {
    if (this.#isForgotten()) return 'closed';
    return this.#isTrialDue() ? 'half-open' : this.#state;
  }

  #isForgotten(): boolean {
    return this.#state !== 'closed' && this.#now() >= this.#trialAt + FORGET_MS;
  }

  #isTrialDue(player = ''): boolean {
    return this.#state !== 'closed' && this.#now() >= this.#trialAt + (this.#tried.has(player) ? BACK_OFF_MS : 0);
  }

  /** Allows one request about a player. Throws UPSTREAM_UNAVAILABLE while the breaker is open and no trial is due. */
  admit(player: string): Permit {
    if (this.#isForgotten()) this.#become('closed');
    const isTrial = this.#isTrialDue(player);
    if (isTrial) {
      if (this.#tried.size >= MAX_TRIED) this.#tried.clear();
      this.#tried.add(player);
      // The next trial does not wait for the result of this one, which may hang.
      this.#trialAt = this.#now() + BACK_OFF_MS;
      this.#become('half-open');
    }
    const permit = { player, isTrial, openings: this.#openings };
    this.check(permit);
    return permit;
  }

  /** Throws while the breaker is not closed, except for a trial. Called again when the request leaves the queue for connections. */
  check({ isTrial }: Permit): void {
    if (isTrial || this.#state === 'closed') return;
    const options = { retryable: true, retryAfterMs: BACK_OFF_MS, skipped: true };
    throw new UpstreamError('UPSTREAM_UNAVAILABLE', 'Not sent: the breaker is open', options);
  }

  /** Called once for each permit. A trial that says nothing, because its client left, is tried again after the next back-off. */
  end({ player, isTrial, openings }: Permit, result: BreakerResult): void {
    if (!isTrial && openings === this.#openings) this.#count(player, result);
    else if (isTrial && result === 'success') this.#become('closed');
    else if (isTrial && this.#state !== 'closed') this.#become('open');
  }

  #count(player: string, result: BreakerResult): void {
    if (result === 'none') return;
    if (this.#now() >= this.#windowEnd) {
      this.#windowEnd = this.#now() + WINDOW_MS;
      this.#failing.clear();
      this.#successes = 0;
    }
    if (result === 'success') {
      this.#successes += 1;
      // Each `clear` makes a new table.
      if (this.#consecutive.size > 0) this.#consecutive.clear();
    } else {
      this.#failing.add(player);
      this.#consecutive.add(player);
    }
    const isMajority = this.#failing.size >= MIN_FAILURES && this.#failing.size > this.#successes;
    if (isMajority || this.#consecutive.size >= MAX_CONSECUTIVE) this.#open();
  }

  #open(): void {
    this.#trialAt = this.#now() + BACK_OFF_MS;
    this.#openings += 1;
    this.#consecutive.clear();
    this.#windowEnd = 0;
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (state === 'closed') this.#tried.clear();
    this.#state = state;
    this.#onChange(state);
  }
}

/** How many languages, and how many servers, have breakers of their own, and for how many milliseconds after their last call. */
const MAX_LANGUAGES = 20;
const MAX_SERVERS = 100;
const RECENT = { ttl: 60_000, updateAgeOnGet: true, ttlResolution: 1_000 };

/**
 * The breakers and retry budgets of an endpoint: those of all players with tokens of their own, and those of each server, whose job
 * can fail for every player. There is a breaker for each language, because the service can fail in one alone. Clients choose the
 * languages. While a more general breaker is open, a new one is too: a caller with many languages must not pass it.
 */
export function createBreakers(now: () => number, onChange: (state: BreakerState) => void) {
  const createGroup = (isOpen = false) => {
    const ofDefault = new Breaker(now, onChange, isOpen);
    const memoMethod = () => new Breaker(now, onChange, ofDefault.state === 'open');
    const byLanguage = new LRUCache<string, Breaker>({ ...RECENT, max: MAX_LANGUAGES, memoMethod });
    return {
      breakerOf: (language: string | undefined) => (language === undefined ? ofDefault : byLanguage.memo(language)),
      retryBudget: createRetryBudget(now),
      states: () => [ofDefault, ...byLanguage.values()].map(({ state }) => state),
    };
  };
  const ofPlayers = createGroup();
  const ofServers = new LRUCache<string, ReturnType<typeof createGroup>>({
    ...RECENT,
    max: MAX_SERVERS,
    memoMethod: () => createGroup(ofPlayers.breakerOf(undefined).state === 'open'),
  });
  return {
    /** Of a caller: all players share one group, and each server has its own. */
    of: ({ key, isServer }: Pick<Caller, 'key' | 'isServer'>) => (isServer ? ofServers.memo(key) : ofPlayers),
    /** `open` if one is, else `half-open` if one is. */
    state(): BreakerState {
      const states = new Set([ofPlayers, ...ofServers.values()].flatMap((all) => all.states()));
      return (['open', 'half-open'] as const).find((state) => states.has(state)) ?? 'closed';
    },
  };
}

/** The largest and the first number of retries in the budget. */
const MAX_SAVED_RETRIES = 10;
/** How much each call adds: retries are at most this share of recent calls. */
const RETRIES_PER_CALL = 0.2;
/** How many a second are added, so that a quiet gateway retries too. */
const RETRIES_PER_SECOND = 1;

/** Limits retries, so that they do not overload a failing service, and one player whose calls fail does not use up all of them. */
export function createRetryBudget(now: () => number) {
  let left = MAX_SAVED_RETRIES;
  let earnedAt = 0;
  /** How many each player consumed in this window. */
  const consumed = new Map<string, number>();
  let windowEnd = 0;
  return {
    /** Called once for every call. */
    earn(): void {
      left += RETRIES_PER_CALL + ((now() - earnedAt) / 1_000) * RETRIES_PER_SECOND;
      left = Math.min(left, MAX_SAVED_RETRIES);
      earnedAt = now();
    },
    /** Consumes one retry; false when there is none, or the player has consumed more than are left: of ten, one player gets six. */
    consume(player: string): boolean {
      if (now() >= windowEnd) consumed.clear();
      if (consumed.size === 0) windowEnd = now() + WINDOW_MS;
      const own = consumed.get(player) ?? 0;
      if (left < 1 || own > left) return false;
      consumed.set(player, own + 1);
      left -= 1;
      return true;
    },
  };
}
