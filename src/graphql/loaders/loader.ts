import DataLoader, { type BatchLoadFn, type Options } from 'dataloader';
import { ClientError } from '../../errors.ts';
import type { RateLimits } from '../../limits/rate-limits.ts';
import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';
import type { OperationRecord, ReportError } from '../../telemetry/observe.ts';

export interface LoaderDependencies {
  rest: RestClient;
  callContext: CallContext;
  record: OperationRecord;
  budget: ReturnType<typeof createBudget>;
  rates: Pick<RateLimits, 'consume'>;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
  report: ReportError;
}

export function createBudget(max: number) {
  let consumed = 0;
  return {
    consumed: () => consumed,
    /** Consumes calls before the first is sent; throws OPERATION_TOO_COMPLEX when fewer are left. */
    consume(calls: number): void {
      if (consumed + calls > max) {
        const message = `The operation needs more than ${max} calls to the referral and rewards service. Ask for fewer players at once.`;
        throw new ClientError('OPERATION_TOO_COMPLEX', message, { extensions: { limit: 'upstreamCalls', max } });
      }
      consumed += calls;
    },
  };
}

/**
 * A loader for a service without a batch endpoint: it collects the keys of a tick, and reads each once per operation. Each key
 * resolves when its own read does. `begin` begins the reads. If it rejects, each key gets the error, and the batch does not
 * reject: DataLoader would forget its keys, and the resolver would read and consume once more after the lookahead.
 */
export function createLoader<Key, Value, CacheKey = Key>(
  begin: (keys: readonly Key[]) => Promise<Promise<Value>[]>,
  options?: Options<Key, Value, CacheKey>,
): DataLoader<Key, Value, CacheKey> {
  const all = (keys: readonly Key[]) => begin(keys).catch((error: Error) => keys.map(() => error));
  // DataLoader resolves a key with what is in its place. If that is a promise, the key settles with it. Its types do not say so.
  return new DataLoader(all as unknown as BatchLoadFn<Key, Value>, options);
}
