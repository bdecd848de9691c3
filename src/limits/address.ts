import { isIPv6 } from 'node:net';

/** Longer than any valid address, in characters. */
const MAX_LENGTH = 64;

/**
 * The part of an address that identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6 address, because
 * an IPv6 customer has a /64. Invalid addresses (a proxy may send anything) are used as they are, shortened.
 */
export function clientAddress(address: string): string {
  if (!isIPv6(address)) return address.slice(0, MAX_LENGTH);
  // The parser of URLs writes every spelling the same way: short, in lower case, an IPv4 part in hexadecimal.
  const [plain = ''] = address.split('%');
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = [...before, ...zeros, ...after];
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMapped ? groups.slice(6).flatMap(bytesOf).join('.') : groups.slice(0, 4).join(':');
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}

/** How many addresses are told apart in one window. */
const MAX_ADDRESSES = 50_000;

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
