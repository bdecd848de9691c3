/*
 * The REST service of the benchmarks: nginx, which answers from its memory. So it costs next to nothing, and what is measured
 * is the gateway. A page of 20 friends names other friends for each player.
 */
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answersAt, freePort, placed, stopped } from './processes.mjs';
import { PREFIX } from './rest-paths.mjs';

const day = (n) => new Date(Date.UTC(2025, 0, 1) + n * 86_400_000).toISOString();
const attributes = {
  ...{ displayName: 'Grace Hopper', firstName: 'Grace', lastName: 'Hopper', gender: 'F', email: 'grace@shop.example' },
  ...{ mobile: '+15550100', dateOfBirth: '1986-12-09T00:00:00.000Z', joinDate: '2024-05-01T10:00:00.000Z' },
  ...{ tags: 'vip,newsletter', country: 'US', city: 'New York', zip: '10001', totalSpent: 1520.5, totalOrders: 12 },
  ...{ lastOrderDate: '2025-05-01', avgOrderAmount: 126.7, custom: { tier: 'gold', score: 7 } },
};
const group = {
  ...{ handle: 'welcome', title: 'Welcome', url: 'https://shop.example/groups', iconPath: '/icons/group.png' },
  ...{ description: 'A group of coupons', maxPerPlayer: 3, startDate: day(0), expiryDate: day(400) },
  ...{ isAvailable: true, isValid: true, isActive: true },
};
const options = {
  ...{ ExpiryAfter: 90, UsageLimit: 1, Capping: 50.5, MinOrderValue: 20, HasCollections: true, Platforms: ['web'] },
  ...{ CombinesWith: { ShippingDiscounts: true, ProductDiscounts: false, OrderDiscounts: false } },
  ...{ ProductId: null, ProductName: null, VariantId: null, VariantName: null, ProductDisplayName: null },
};
const types = ['free_shipping', 'percentage_discount', 'fixed_discount', 'free_product'];
const coupon = (_, n) => ({
  ...{ code: `SAVE-${1000 + n}`, isUsed: n % 3 === 0, value: 10 + n * 2.5, currency: 'USD', creationDate: day(n) },
  couponType: types[n % types.length],
  product: n % 4 === 3 ? { productId: 7_000_000_000_000 + n, productName: 'Mug', productDisplayName: ['Mug'] } : null,
  ...{ startAt: day(n), endAt: day(n + 90), isExpired: false, group, options },
  collections: [{ collectionId: 412_345_678_901, collectionName: 'Summer' }],
});
const friend = (_, n) => ({
  ...{ playerUniqueId: `OWNER-f${n}`, displayName: `Friend Number ${n}`, email: `friend${n}@shop.example` },
  ...{ mobileNumber: `+1555${1000 + n}`, joinDate: day(n), status: n % 4 ? 'active' : 'pending' },
});
const page = (limit) =>
  JSON.stringify({
    referredFriends: Array.from({ length: limit }, friend),
    ...{ count: limit, total: 240, totalPending: 60, totalActive: 180 },
  });
const PAGES = [5, 10, 50, 200];

const configuration = (folder, port) => `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; default_type application/json;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  open_file_cache max=100 inactive=600s; open_file_cache_valid 600s; sendfile on; tcp_nodelay on;
  map $arg_limit $page { default 50; ${PAGES.map((limit) => `${limit} ${limit};`).join(' ')} }
  server {
    listen 127.0.0.1:${port}; root ${folder};
    location = /ready { return 200; }
    location ~ ^${PREFIX}/(player|event)$ { return 200 '{}'; }
    location ~ ^${PREFIX}/player/([^/]+)$ {
      return 200 '{"playerUniqueId":"$1","playerAttributes":${JSON.stringify(attributes)},"referralLink":"https://refer.example/r/$1"}';
    }
    location ~ ^${PREFIX}/transactions/[^/]+/coupon$ { rewrite ^ /coupons.json break; }
    location ~ ^${PREFIX}/players/(?<who>[^/]+)/referrals$ {
      if ($arg_limit = 20) { return 200 '${page(20).replaceAll('OWNER', `\${who}`)}'; }
      rewrite ^ /page-$page.json break;
    }
  }
}
`;

/** Starts it; its files are in `folder`. */
export async function startUpstream(folder) {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const files = {
    'nginx.conf': configuration(folder, port),
    'coupons.json': JSON.stringify({ coupons: Array.from({ length: 10 }, coupon) }),
  };
  for (const limit of PAGES) files[`page-${limit}.json`] = page(limit);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const [command, ...args] = placed('others', 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf'));
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  await answersAt(`${url}/ready`, child);
  return { url, stop: () => stopped(child, 'SIGTERM') };
}
