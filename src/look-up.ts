import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks a name up as Node does, and for IPv4 alone where that fails for a while: some name servers fail for IPv6 addresses, and
 * then glibc fails for both.
 */
export const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, options, (error, found: string | LookupAddress[], family?: number) => {
    if (error?.code !== 'EAI_AGAIN' || options.family) callback(error, found, family);
    else lookup(hostname, { ...options, family: 4 }, callback);
  });
