import ipaddr from 'ipaddr.js';
import { withoutPort } from '../config/forms.ts';

/** How many clients have keys of their own in one window, and how many of them in one IPv6 network of 48 bits. */
const MAX_CLIENTS = 50_000;
const MAX_IN_NETWORK = 500;

/**
 * What identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6 address: a customer has a /64. Behind NAT64
 * (RFC 6052, RFC 8215) the last 32 bits are the client's IPv4 address.
 */
export function clientAddress(address?: string): string {
  const text = withoutPort(address);
  const parsed = ipaddr.isValid(text) ? ipaddr.process(text) : text;
  if (!(parsed instanceof ipaddr.IPv6)) return `${parsed}`;
  const isNat64 = parsed.parts[0] === 0x64 && parsed.parts[1] === 0xff9b;
  return isNat64 ? parsed.toByteArray().slice(-4).join('.') : parsed.parts.slice(0, 4).join(':');
}

/**
 * Keys for addresses, and whether others share them. An IPv6 network of 48 bits with 500 clients in one window is one
 * address: who has it can send from 65,536 of them. Of more than 50,000 clients, the others share one key.
 */
export function createAddressKeys(windowMs: number) {
  const clients = new Set<string>();
  const networks = new Map<string, number>();
  let windowEnds = 0;
  return (address: string) => {
    if (performance.now() >= windowEnds) {
      windowEnds = performance.now() + windowMs;
      clients.clear();
      networks.clear();
    }
    const client = clientAddress(address);
    const network = /^(?:\d+:){3}(?=\d+$)/.exec(client)?.[0];
    const inNetwork = (network && networks.get(network)) || 0;
    if (network && inNetwork >= MAX_IN_NETWORK) return { key: network, isShared: true };
    if (!clients.has(client)) {
      if (clients.size >= MAX_CLIENTS) return { key: 'others', isShared: true };
      clients.add(client);
      if (network) networks.set(network, inNetwork + 1);
    }
    return { key: client, isShared: false };
  };
}
