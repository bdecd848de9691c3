import { isIPv6 } from 'node:net';

/** Longer than any valid address, in characters: a proxy may send anything. */
const MAX_LENGTH = 64;
/** How many addresses are told apart in one window. */
const MAX_ADDRESSES = 50_000;

/** What identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6 address: a customer has a /64. */
export function clientAddress(address: string): string {
  if (!isIPv6(address)) return address.slice(0, MAX_LENGTH);
  // The parser of URLs writes every spelling the same way: short, in lower case, an IPv4 part in hexadecimal.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`);
  const [before = [], after = []] = hostname
    .slice(1, -1)
    .split('::', 2)
    .map((part) => part.split(':').filter(Boolean));
  const [prefix, ...mapped] = after;
  if (before.length === 0 && prefix === 'ffff' && mapped.length === 2) {
    return mapped
      .map((group) => Number.parseInt(group, 16))
      .flatMap((value) => [value >> 8, value & 255])
      .join('.');
  }
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

/** Keys for addresses. When one window sees more than 50,000 addresses, the others share one key. */
export class AddressKeys {
  readonly #seen = new Set<string>();
  readonly #windowMs: number;
  #windowEnds = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  keyOf(address: string): string {
    const client = clientAddress(address);
    const now = performance.now();
    if (now >= this.#windowEnds) {
      this.#seen.clear();
      this.#windowEnds = now + this.#windowMs;
    }
    if (this.#seen.size >= MAX_ADDRESSES && !this.#seen.has(client)) return 'others';
    this.#seen.add(client);
    return client;
  }
}
