/*
 * The floor: Node's own HTTP server making the round trip's REST calls and putting the bodies together as they come. No
 * GraphQL, no JSON read or written but the request's.
 */
import { createServer } from 'node:http';
import { roundTrip } from '../rest-paths.mjs';
import { getText } from './get.mjs';
import { port } from './schema.mjs';

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method !== 'POST') return response.end();
  const { variables } = JSON.parse(Buffer.concat(chunks));
  const bodies = await Promise.all(roundTrip(variables.id).map(getText));
  const body = `{"data":[${bodies.join(',')}]}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(port, '127.0.0.1');
