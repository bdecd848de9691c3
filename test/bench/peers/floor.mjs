/* The floor: Node's own HTTP server makes the same REST calls and joins the bodies. No GraphQL, no JSON but the request's. */
import { createServer } from 'node:http';
import { paths } from '../rest-data.mjs';
import { getText, port } from './schema.mjs';

const { player, coupons, referrals } = paths;
/** By the name of the operation, the calls that it needs, in steps. */
const PLANS = {
  Profile: (id) => getAll([player(id)]),
  RoundTrip: (id) => getAll([player(id), coupons(id), referrals(id, 1, 50)]),
  Friends: (id) => getAll([player(id), referrals(id, 1, 200)]),
  async Graph(id) {
    const [own, page] = await getAll([player(id), referrals(id, 1, 20)]);
    const friends = JSON.parse(page).referredFriends.map((friend) => friend.playerUniqueId);
    return [own, page, ...(await getAll(friends.flatMap((friend) => [player(friend), coupons(friend)])))];
  },
};
const getAll = (wanted) => Promise.all(wanted.map(getText));

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method !== 'POST') return response.end();
  const { query, variables } = JSON.parse(Buffer.concat(chunks));
  const bodies = await PLANS[/query (\w+)/.exec(query)[1]](variables.id);
  const body = `{"data":[${bodies.join(',')}]}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(port, '127.0.0.1');
