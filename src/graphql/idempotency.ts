/*
 * Events with an idempotency key are sent at most once in 24 hours, however often the operation is repeated.
 *
 * An operation claims the key before it sends anything, and records the outcome afterwards. An operation that finds the key
 * claimed waits. The lease of a claim ends a little after its operation's deadline; a claim without a record then counts as
 * UNKNOWN, unless its owner records the outcome late. So whatever fails, nothing is sent twice.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../access/caller.ts';
import type { CallContext } from '../rest/call-context.ts';
import type { WriteOutcome } from '../rest/errors.ts';
import { ClientError } from './errors.ts';
import type { Claim, ClaimRequest, KeyStore } from './idempotency-store.ts';
import { InputError } from './input/problems.ts';
import { outcomeOf } from './loaders/writes.ts';

/** Events with a key, and the operation that sends them. */
interface KeyedEvents {
  caller: Caller;
  playerUniqueId: string;
  idempotencyKey: string;
  events: readonly { name: string; metadata?: object | null | undefined }[];
  call: Pick<CallContext, 'deadline' | 'signal'>;
}

/** How long a lease goes on after the deadline of its operation, in milliseconds: time to record the outcome. */
const RECORD_WITHIN_MS = 100;
/**
 * The wait before a repetition checks the key again, in milliseconds: the first wait, and the longest; doubled each time.
 */
const FIRST_WAIT_MS = 20;
const MAX_WAIT_MS = 500;
/** What a client is told to wait when the store does not answer, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

export class Idempotency {
  readonly #store: KeyStore | undefined;

  /** @param store Where keys are kept; undefined where the gateway has no place that all of its processes share. */
  constructor(store: KeyStore | undefined) {
    this.#store = store;
  }

  /**
   * Sends events unless they were sent under this key before. Resolves when they are done, by this operation or an earlier
   * one: with the same input both have the same response, so no response is kept.
   *
   * Throws what `send` throws; `InputError` for a key that had another input; and, each without sending anything,
   * UPSTREAM_TIMEOUT with outcome UNKNOWN when the outcome of the earlier operation is unknown, OVERLOADED when the store
   * does not answer, OPERATION_NOT_ALLOWED when there is no store. Without the store, events could be sent twice, so they
   * are refused.
   */
  async once(events: KeyedEvents, send: () => Promise<void>): Promise<void> {
    const store = this.#store;
    if (!store) throw notKept();
    const request = { key: keyOf(events), input: inputOf(events), claim: randomUUID() };
    const claim = await claimInTime(store, request, events.call);
    switch (claim) {
      case 'CLAIMED':
        return await sendAndRecord(store, request, send);
      case 'DONE':
        return;
      case 'UNKNOWN':
        throw unknownOutcome();
      case 'OTHER_INPUT':
        throw otherInput();
    }
  }
}

/** Claims the key; while another operation has it, waits within this one's deadline. */
async function claimInTime(
  store: KeyStore,
  request: Omit<ClaimRequest, 'leaseMs'>,
  { deadline, signal }: KeyedEvents['call'],
): Promise<Exclude<Claim, 'UNDER_WAY'>> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const leftMs = Math.max(0, deadline - performance.now());
    const claim = await claimOnce(store, { ...request, leaseMs: Math.ceil(leftMs) + RECORD_WITHIN_MS });
    if (claim !== 'UNDER_WAY') return claim;
    if (leftMs === 0 || signal.aborted) return 'UNKNOWN';
    await sleep(Math.min(waitMs, leftMs));
  }
}

/** A store that does not answer in time may have stored the claim, so the claim is released. */
async function claimOnce(store: KeyStore, request: ClaimRequest): Promise<Claim> {
  try {
    return await store.claim(request);
  } catch (error) {
    await store.record(request, 'NOT_DONE');
    throw storeUnavailable(error);
  }
}

async function sendAndRecord(store: KeyStore, claimed: Omit<ClaimRequest, 'leaseMs'>, send: () => Promise<void>) {
  let outcome: WriteOutcome = 'DONE';
  try {
    await send();
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    await store.record(claimed, outcome);
  }
}

/** Keys belong to a caller and a player. The store gets a hash: names of callers and players can be personal data. */
function keyOf({ caller, playerUniqueId, idempotencyKey }: KeyedEvents): string {
  return hashOf([caller.key, playerUniqueId, idempotencyKey]);
}

/** The same for the same input, in whatever order a client writes the members of metadata. */
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
  return new InputError({
    code: 'INVALID',
    field: ['input', 'idempotencyKey'],
    message: 'idempotencyKey was used with other events before; each set of events needs a key of its own.',
  });
}

function unknownOutcome(): ClientError {
  return new ClientError(
    'UPSTREAM_TIMEOUT',
    'It is not known whether the events sent earlier with this idempotency key were received. Nothing was sent now.',
    { extensions: { retryable: false, outcome: 'UNKNOWN' } },
  );
}

function storeUnavailable(cause: unknown): ClientError {
  return new ClientError(
    'OVERLOADED',
    'The gateway cannot check the idempotency key at the moment. Nothing was sent; try again with the same key.',
    {
      originalError: cause instanceof Error ? cause : undefined,
      extensions: { retryable: true, retryAfterMs: RETRY_AFTER_MS },
    },
  );
}

function notKept(): ClientError {
  return new ClientError(
    'OPERATION_NOT_ALLOWED',
    'This gateway cannot keep idempotency keys: it has several processes and no REDIS_URL. Nothing was sent.',
  );
}
