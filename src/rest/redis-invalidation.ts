import { reveal, type Secret } from '../config/secret.ts';
import type { Invalidation } from './invalidation.ts';

export interface RedisInvalidationOptions {
  /** `redis://…`, `rediss://…` or the path of a socket; it can hold a password. */
  url: () => Secret;
  /** Gateways with the same channel share their writes. Default `referral-gateway:written`. */
  channel?: string;
  /** Told when Redis cannot be reached; it is tried again without end. */
  onError?: (error: Error) => void;
}

/** The longest wait before Redis is tried again, in milliseconds. */
const LONGEST_WAIT_MS = 2_000;

/** How long a connection may take to end, in milliseconds; ioredis waits so even for one that never was. */
const CUT_AFTER_MS = 100;

/** Invalidation through Redis publish/subscribe. ioredis is loaded here and now, so a gateway without Redis does without. */
export async function createRedisInvalidation(options: RedisInvalidationOptions): Promise<Invalidation> {
  const { url, channel = 'referral-gateway:written', onError } = options;
  const { Redis } = await import('ioredis');
  let closed = false;

  const connect = () => {
    const redis = new Redis(reveal(url()), {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      disconnectTimeout: CUT_AFTER_MS,
      retryStrategy: (attempt) => (closed ? null : Math.min(100 * attempt, LONGEST_WAIT_MS)),
    });
    redis.on('error', (error) => onError?.(error));
    return redis;
  };
  const publisher = connect();
  const subscriber = connect();
  const ignore = () => {};

  return {
    publish(playerUniqueId) {
      publisher.publish(channel, playerUniqueId).catch(ignore);
    },
    subscribe(listener) {
      const begin = () => subscriber.subscribe(channel).then(() => listener.connected(true), ignore);
      subscriber.on('message', (_channel: string, playerUniqueId: string) => listener.written(playerUniqueId));
      subscriber.on('close', () => listener.connected(false));
      subscriber.on('ready', begin);
      if (subscriber.status === 'ready') void begin();
    },
    async close() {
      closed = true;
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
