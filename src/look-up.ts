import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks a name up as Node does. When the name server fails (EAI_AGAIN), it asks again for IPv4 addresses alone: some name servers
 * fail for IPv6 addresses, and glibc then fails for both.
 */
export const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, options, (error, found: string | LookupAddress[], family?: number) => {
    if (error?.code !== 'EAI_AGAIN' || options.family) callback(error, found, family);
    else lookup(hostname, { ...options, family: 4 }, callback);
  });
