/*
 * The floor: Node's own HTTP server making the same REST calls and putting the bodies together as they come. No GraphQL,
 * no JSON read or written but the request's.
 */
import { createServer } from 'node:http';
import { getText, paths } from './get.mjs';
import { keys, port } from './schema.mjs';

const plans = {
  Profile: (id) => [paths.player(id)],
  RoundTrip: (id) => [paths.player(id), paths.coupons(id), paths.referrals(id, 1, 50)],
  Friends: (id) => [paths.player(id), paths.referrals(id, 1, 200)],
};

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method !== 'POST') return response.end();
  const { query, variables } = JSON.parse(Buffer.concat(chunks));
  const [, name] = /^query (\w+)/.exec(query);
  const id = request.headers['x-request-id'];
  const headers = id === undefined ? keys : { ...keys, 'x-request-id': id };
  const bodies = await Promise.all(plans[name](variables.id).map((path) => getText(path, headers)));
  const body = `{"data":[${bodies.join(',')}]}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(port, '127.0.0.1');
