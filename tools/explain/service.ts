/* Stands for the REST service while operations are counted: every player exists, and all lists are empty or full. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as z from 'zod';

/** Friends of each player in the full state: more than any page holds. */
const MANY = 100_000;

const WRITTEN = z.object({ playerUniqueId: z.string().optional() });

export interface CountingService {
  url: string;
  /** Empties the counters. From now on, lists are empty or full. */
  begin(lists: 'empty' | 'full'): void;
  /** The requests since then, by method and path without ids: `GET /integrations/player/…`. */
  counts(): Record<string, number>;
  close(): void;
}

export async function startCountingService(): Promise<CountingService> {
  let full = false;
  let counts: Record<string, number> = {};
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.replace('/api/v3.0', '');
    const id = /^\/integrations\/(?:player|players|transactions)\/([^/]+)/.exec(path)?.[1];
    const name = `${request.method} ${id === undefined ? path : path.replace(`/${id}`, '/…')}`;
    counts[name] = (counts[name] ?? 0) + 1;
    const written = WRITTEN.parse(request.method === 'POST' ? await json(request) : {});
    const playerUniqueId = written.playerUniqueId ?? decodeURIComponent(id ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(bodyOf(path, playerUniqueId, searchParams, full)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    begin(lists) {
      full = lists === 'full';
      counts = {};
    },
    counts: () => counts,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function bodyOf(path: string, playerUniqueId: string, query: URLSearchParams, full: boolean): object {
  if (path.endsWith('/coupon')) return { coupons: full ? [{ code: `${playerUniqueId}-1` }] : [] };
  if (path.endsWith('/referrals')) return page(Number(query.get('page')), Number(query.get('limit')), full ? MANY : 0);
  return { playerUniqueId, playerAttributes: {}, referralLink: 'https://refer.example/r', serviceId: 'service' };
}

function page(number: number, limit: number, total: number): object {
  const from = (number - 1) * limit;
  const count = Math.max(0, Math.min(limit, total - from));
  const friend = (_: unknown, index: number) => ({ playerUniqueId: `friend-${from + index}`, status: 'active' });
  return { referredFriends: Array.from({ length: count }, friend), count, total, totalPending: 0, totalActive: total };
}
