import { isIPv6 } from 'node:net';

/** More than any address has, in characters. */
const MAX_LENGTH = 64;

/**
 * The part of a client's address that is one client's: all of an IPv4 address, the first 64 bits of an IPv6 address, since
 * whoever has one of the rest has them all. What is no address (a proxy may send anything) stands for itself, shortened.
 */
export function clientOf(address: string): string {
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
