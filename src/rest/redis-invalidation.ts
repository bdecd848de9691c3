import type { Redis } from 'ioredis';
import type { Invalidation } from './invalidation.ts';

export interface RedisInvalidationOptions {
  /** `redis://…` or `rediss://…`. */
  url: string;
  /** Gateways with the same channel share their writes. Default `referral-gateway:written`. */
  channel?: string;
  /** Told when Redis cannot be reached; it is tried again without end. */
  onError?: (error: Error) => void;
}

/** Invalidation through Redis publish/subscribe. ioredis is loaded here and now, so a gateway without Redis does without. */
export async function createRedisInvalidation(options: RedisInvalidationOptions): Promise<Invalidation> {
  const { url, channel = 'referral-gateway:written', onError } = options;
  const { Redis } = await import('ioredis');
  const connect = () => {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      lazyConnect: true,
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
      subscriber.on('message', (_channel: string, playerUniqueId: string) => listener.written(playerUniqueId));
      subscriber.on('ready', () => {
        subscriber.subscribe(channel).then(() => listener.connected(true), ignore);
      });
      subscriber.on('close', () => listener.connected(false));
      start(subscriber);
      start(publisher);
    },
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };

  function start(redis: Redis): void {
    redis.connect().catch(ignore);
  }
}
