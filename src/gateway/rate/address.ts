import { isIPv6 } from 'node:net';

/**
 * The part of a client's address that is one client's: all of an IPv4 address, the first 64 bits of an IPv6 address, since
 * whoever has one of the rest has them all. What is no address (a proxy may send anything) stands for itself, shortened.
 */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address.slice(0, 64);
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
