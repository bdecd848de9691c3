/*
 * Events with an idempotency key are sent at most once in 24 hours, however often the operation is repeated: the key is claimed
 * before anything is sent. A claim without an outcome when its operation's deadline is over counts as UNKNOWN.
 */
import { hash, randomUUID } from 'node:crypto';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import { ClientError } from '../errors.ts';
import { type CallContext, Cancellation } from '../rest/call-context.ts';
import type { Found, IdempotencyStore } from './idempotency-store.ts';
import { InputRefused, outcomeOf, userErrorAt } from './writes.ts';

/** Events with a key, and the operation that sends them. */
interface KeyedEvents {
  caller: Caller;
  playerUniqueId: string;
  idempotencyKey: string;
  events: readonly { name: string; metadata?: object | null | undefined }[];
  callContext: Pick<CallContext, 'cancellation'>;
}

/** How long a claim lasts after the deadline of its operation, in milliseconds: time to store the outcome. */
const STORE_WITHIN_MS = 250;
/** The longest time that a client is told to wait, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Returns the function that sends events unless they were sent under this key before. It resolves when they are done, by this
 * operation or an earlier one: with the same input both have the same response, so no response is kept. It resolves to whether
 * it was an earlier one. The calls of `send` are cancelled at the deadline alone, not when the client disconnects.
 *
 * Throws what `send` throws. Without sending anything it throws:
 * - InputRefused: the key had other events;
 * - UPSTREAM_TIMEOUT with outcome UNKNOWN: the earlier operation is under way (retryable), or its outcome is unknown;
 * - RATE_LIMITED: the caller has too many new keys;
 * - OVERLOADED: the store does not answer.
 */
export function createIdempotency(store: IdempotencyStore, maxKeys: Config['idempotencyKeys']) {
  return async (keyed: KeyedEvents, send: (cancellation: Cancellation) => Promise<unknown>): Promise<boolean> => {
    const { caller, playerUniqueId, idempotencyKey } = keyed;
    const { deadline } = keyed.callContext.cancellation;
    // Names of callers and players can be personal data, so the store gets hashes.
    const key = {
      key: hashOf([caller.key, playerUniqueId, idempotencyKey]),
      caller: hashOf(caller.key),
      max: caller.isServer ? maxKeys.server : maxKeys.player,
    };
    const input = inputOf(keyed);
    const lastsMs = Math.ceil(Math.max(0, deadline - performance.now())) + STORE_WITHIN_MS;
    const claim = `${input} ${lastsMs} ${randomUUID()}`;
    const found = await store.claim(key, claim).catch(storeUnavailable);
    if (found) return assertDone(found, input);
    // Until the store takes it, the claim stays and repetitions get UNKNOWN, which is safe.
    const keep = (outcome: string) => store.replace(key, `${input} ${outcome}`);
    const cancellation = new Cancellation(deadline);
    try {
      await send(cancellation);
      await keep('DONE');
      return false;
    } catch (error) {
      await (outcomeOf(error) === 'NOT_DONE' ? store.release(key, claim) : keep('UNKNOWN'));
      throw error;
    } finally {
      cancellation.end();
    }
  };
}

/** Throws unless the events are done. An entry is `<input> <DONE | UNKNOWN | how many milliseconds the claim lasts>`. */
function assertDone(found: Found, input: string): true {
  if ('retryAfterMs' in found) {
    const message = 'Too many idempotency keys in 24 hours. Try again later.';
    throw new ClientError('RATE_LIMITED', message, { extensions: { retryable: true, ...found } });
  }
  const { entry, ageMs } = found;
  const [firstInput, state] = entry.split(' ');
  if (firstInput !== input) {
    const message = 'was used with other events before; make a new one';
    throw new InputRefused(userErrorAt(['idempotencyKey'], { code: 'INVALID', message }));
  }
  if (state === 'DONE') return true;
  const leftMs = Number(state) - ageMs;
  if (leftMs > 0) {
    const retryAfterMs = Math.ceil(Math.min(leftMs, RETRY_AFTER_MS));
    throw outcomeUnknown('are still being sent. Try again with the same key.', { retryable: true, retryAfterMs });
  }
  throw outcomeUnknown('may have been received or not. Nothing was sent now.', { retryable: false });
}

function outcomeUnknown(state: string, extensions: Record<string, unknown>): ClientError {
  const message = `The events sent earlier with this idempotency key ${state}`;
  return new ClientError('UPSTREAM_TIMEOUT', message, { extensions: { ...extensions, outcome: 'UNKNOWN' } });
}

/** The same for the same input, in whatever order a client writes the properties of metadata. */
function inputOf({ events }: KeyedEvents): string {
  const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  return hashOf(events.map(({ name, metadata }) => [name, Object.entries(metadata ?? {}).sort(byName)]));
}

function hashOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url');
}

function storeUnavailable(cause: unknown): never {
  const message =
    'The gateway cannot check the idempotency key at the moment. Nothing was sent; try again with the same key.';
  throw new ClientError('OVERLOADED', message, {
    originalError: cause instanceof Error ? cause : undefined,
    extensions: { retryable: true, retryAfterMs: RETRY_AFTER_MS },
  });
}
