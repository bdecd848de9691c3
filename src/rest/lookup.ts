import { randomInt } from 'node:crypto';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { lookUp } from '../egress-proxy.ts';

/** How long the addresses of a name are used for new connections, in milliseconds. */
const ADDRESSES_MS = 2_000;
/** After which time of a look-up the addresses of the last one are used, as when it fails, in milliseconds. */
const LOOK_UP_MS = 500;
/** The age up to which these are used, in milliseconds. */
const LAST_ADDRESSES_MS = 600_000;

type Found = Promise<LookupAddress[]>;

/**
 * One look-up for all connections that are opened together, and for those of the next two seconds. The platform does each in
 * one of four threads: with a slow name server, those for 64 connections to each endpoint would take minutes. A name server
 * that fails for some minutes stops no connection: then the last addresses are used. Connections begin with different addresses of
 * the family that the platform prefers, so that each server of a name gets its share of them.
 */
export function createLookup(avoided: { has(address: string): boolean }): LookupFunction {
  const recent = new Map<string, Found>();
  const last = new LRUCache<string, LookupAddress[]>({ max: 10, ttl: LAST_ADDRESSES_MS });

  function find(hostname: string, options: LookupOptions): Found {
    const key = `${options.family} ${hostname}`;
    const lastAddresses = last.get(key);
    const found =
      recent.get(key) ??
      new Promise((resolve, reject) => {
        if (lastAddresses) setTimeout(resolve, LOOK_UP_MS, lastAddresses).unref();
        lookUp(hostname, { ...options, all: true }, (error, all) => {
          const addresses = Array.isArray(all) ? all : [];
          setTimeout(() => recent.delete(key), error ? 0 : ADDRESSES_MS).unref();
          if (!error) {
            last.set(key, addresses);
            recent.set(key, Promise.resolve(addresses));
            resolve(addresses);
          } else if (lastAddresses) resolve(lastAddresses);
          else reject(error);
        });
      });
    recent.set(key, found);
    return found;
  }

  return (hostname, options, callback) => {
    find(hostname, options).then(
      (found) => {
        const rank = ({ address, family }: LookupAddress) =>
          2 * Number(avoided.has(address)) + Number(family !== found[0]?.family);
        const at = randomInt(Math.max(1, found.length));
        const addresses = [...found.slice(at), ...found.slice(0, at)].toSorted((a, b) => rank(a) - rank(b));
        const [{ address, family } = { address: '', family: 4 }] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, address, family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
