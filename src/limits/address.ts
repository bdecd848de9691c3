import { isIPv6 } from 'node:net';

/** Longer than any valid address, in characters. */
const MAX_LENGTH = 64;

/**
 * The part of an address that identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6 address, because
 * an IPv6 customer has a /64. Invalid addresses (a proxy may send anything) are used as they are, shortened.
 */
export function clientAddress(address: string): string {
  if (!address.includes(':')) return address.length > MAX_LENGTH ? address.slice(0, MAX_LENGTH) : address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address.slice(0, MAX_LENGTH);
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
