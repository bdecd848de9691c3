/*
 * The REST service of the benchmarks: nginx, which answers from its memory. So it costs next to nothing, and what is measured
 * is the gateway. A page of 20 friends names other friends for each player.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersAt, freePort, placed, stopped } from './processes.mjs';
import { attributes, coupons, PREFIX, referrals, tags, wideCoupon } from './rest-data.mjs';

const page = (limit) => JSON.stringify(referrals(limit, 240));
const PAGES = [5, 10, 50, 200];
/** How many coupons `many-N` has, or collections and platforms the coupon of `wide-N`, or tags `tags-N`. */
export const LENGTHS = [10, 100, 300, 1_000];

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
    location ~ ^${PREFIX}/player/tags-(?<count>\\d+)$ { rewrite ^ /tags-$count.json break; }
    location ~ ^${PREFIX}/player/([^/]+)$ {
      return 200 '{"playerUniqueId":"$1","playerAttributes":${JSON.stringify(attributes)},"referralLink":"https://refer.example/r/$1"}';
    }
    location ~ ^${PREFIX}/transactions/(?<kind>many|wide)-(?<count>\\d+)/coupon$ { rewrite ^ /$kind-$count.json break; }
    location ~ ^${PREFIX}/transactions/[^/]+/coupon$ { rewrite ^ /coupons.json break; }
    location ~ ^${PREFIX}/players/(?<who>[^/]+)/referrals$ {
      if ($arg_limit = 20) { return 200 '${page(20).replaceAll('OWNER', `\${who}`)}'; }
      rewrite ^ /page-$page.json break;
    }
  }
}
`;

/** Starts it; its files are in `folder`, which goes with it. */
export async function startUpstream() {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  // A worker of nginx is another user when it is started as root.
  await chmod(folder, 0o755);
  const port = await freePort();
  const files = {
    'nginx.conf': configuration(folder, port),
    'coupons.json': JSON.stringify({ coupons: coupons(10) }),
  };
  for (const length of LENGTHS) {
    files[`many-${length}.json`] = JSON.stringify({ coupons: coupons(length) });
    files[`wide-${length}.json`] = JSON.stringify({ coupons: [wideCoupon(length)] });
    files[`tags-${length}.json`] = JSON.stringify({ playerAttributes: { ...attributes, tags: tags(length) } });
  }
  for (const limit of PAGES) files[`page-${limit}.json`] = page(limit);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const [command, ...args] = placed('others', 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf'));
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  await answersAt(`${url}/ready`, child);
  return {
    url,
    folder,
    async stop() {
      await stopped(child, 'SIGTERM');
      await rm(folder, { recursive: true });
    },
  };
}
