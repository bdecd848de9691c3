/*
 * Events with an idempotency key are sent at most once in 24 hours, however often the operation is repeated: the key is claimed
 * before anything is sent. A claim without an outcome when its operation's deadline is over counts as UNKNOWN.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../access/caller.ts';
import { ClientError } from '../errors.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { CallContext } from '../rest/call-context.ts';
import type { Found, KeyStore } from './idempotency-store.ts';
import { InputError, outcomeOf } from './loaders/writes.ts';

/** Events with a key, and the operation that sends them. */
interface KeyedEvents {
  caller: Caller;
  playerUniqueId: string;
  idempotencyKey: string;
  events: readonly { name: string; metadata?: object | null | undefined }[];
  call: Pick<CallContext, 'deadline'>;
}

/** How long a claim lasts after the deadline of its operation, in milliseconds: time to store the outcome. */
const STORE_WITHIN_MS = 100;
/** The longest time that a client is told to wait, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

export class Idempotency {
  readonly #store: KeyStore;
  readonly #limits: Pick<RateLimits, 'consume' | 'giveBack'>;

  constructor(store: KeyStore, limits: Pick<RateLimits, 'consume' | 'giveBack'>) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Sends events unless they were sent under this key before. Resolves when they are done, by this operation or an earlier
   * one: with the same input both have the same response, so no response is kept.
   *
   * Throws what `send` throws; and, each without sending anything: `InputError` for a key that had another input,
   * UPSTREAM_TIMEOUT with outcome UNKNOWN while the earlier operation is under way (retryable) or when its outcome is unknown,
   * RATE_LIMITED for a caller with too many new keys, OVERLOADED when the store does not answer.
   */
  async once(keyed: KeyedEvents, send: () => Promise<void>): Promise<void> {
    const { caller, playerUniqueId, idempotencyKey, call } = keyed;
    // Names of callers and players can be personal data, so the store gets hashes.
    const key = hashOf([caller.key, playerUniqueId, idempotencyKey]);
    const input = inputOf(keyed);
    const lastsMs = Math.ceil(Math.max(0, call.deadline - performance.now())) + STORE_WITHIN_MS;
    const claim = `${input} ${lastsMs} ${randomUUID()}`;
    const found = await this.#claim(key, claim);
    if (found) return checkFound(found, input);
    try {
      await this.#limits.consume('idempotencyKeys', caller);
    } catch (error) {
      await this.#delete(key);
      throw error;
    }
    try {
      await send();
      await this.#keep(key, `${input} DONE`);
    } catch (error) {
      if (outcomeOf(error) === 'NOT_DONE') {
        await Promise.all([this.#delete(key), this.#limits.giveBack('idempotencyKeys', caller)]);
      } else await this.#keep(key, `${input} UNKNOWN`);
      throw error;
    }
  }

  /** A store that does not answer in time may have stored the claim, so the claim is released. */
  async #claim(key: string, claim: string): Promise<Found | undefined> {
    try {
      return await this.#store.claim(key, claim);
    } catch (error) {
      this.#store.release(key, claim).catch(() => undefined);
      throw storeUnavailable(error);
    }
  }

  /** When it fails, the claim stays and repetitions get UNKNOWN, which is safe. */
  #keep = (key: string, record: string) => this.#store.replace(key, record).catch(() => undefined);
  #delete = (key: string) => this.#store.delete(key).catch(() => undefined);
}

/** Returns for events that are done; throws otherwise. A record is `<input> <DONE | UNKNOWN | milliseconds of the claim>`. */
function checkFound({ record, ageMs }: Found, input: string): void {
  const [firstInput, state] = record.split(' ');
  if (firstInput !== input) throw otherInput();
  if (state === 'DONE') return;
  const leftMs = Number(state) - ageMs;
  throw leftMs > 0 ? underWay(leftMs) : unknownOutcome();
}

/** The same for the same input, in whatever order a client writes the properties of metadata. */
function inputOf({ events }: KeyedEvents): string {
  return hashOf(events.map(({ name, metadata }) => [name, Object.entries(metadata ?? {}).sort(byName)]));
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

function otherInput(): InputError {
  const message = 'idempotencyKey was used with other events before; each set of events needs a key of its own.';
  return new InputError({ code: 'INVALID', field: ['input', 'idempotencyKey'], message });
}

function underWay(leftMs: number): ClientError {
  const message =
    'The events sent earlier with this idempotency key are still being sent. Try again with the same key.';
  const retryAfterMs = Math.ceil(Math.min(leftMs, RETRY_AFTER_MS));
  return new ClientError('UPSTREAM_TIMEOUT', message, {
    extensions: { retryable: true, retryAfterMs, outcome: 'UNKNOWN' },
  });
}

function unknownOutcome(): ClientError {
  const message =
    'It is not known whether the events sent earlier with this idempotency key were received. Nothing was sent now.';
  return new ClientError('UPSTREAM_TIMEOUT', message, { extensions: { retryable: false, outcome: 'UNKNOWN' } });
}

function storeUnavailable(cause: unknown): ClientError {
  const message =
    'The gateway cannot check the idempotency key at the moment. Nothing was sent; try again with the same key.';
  return new ClientError('OVERLOADED', message, {
    originalError: cause instanceof Error ? cause : undefined,
    extensions: { retryable: true, retryAfterMs: RETRY_AFTER_MS },
  });
}
