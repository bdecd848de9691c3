/*
 * A federation gateway in front of two subgraphs: this product, at SUBGRAPH_URL, and a small one about orders, in this
 * process. It forwards the authorization header of each request, and reports its URL, or why it did not start, to its parent.
 * For each type definitions that its parent sends, it says with which errors they compose as a third subgraph.
 */
import { composeServices } from '@apollo/composition';
import { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

const { SUBGRAPH_URL, COMPOSITION_TOKEN } = process.env;
const PLAYERS = ['p1', 'p2', 'p1', 'nobody'];
const orders = PLAYERS.map((player, index) => ({ number: index + 1, player: { __typename: 'Player', id: player } }));

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

const typeDefs = parse(`
  ${LINK}
  type Query { latestOrders: OrderPage! }
  type OrderPage { orders: [Order!]! pageInfo: PageInfo! }
  type Order { number: Int! player: Player }
  type Player @key(fields: "id") { id: ID! orders: [Order!]! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`);
const resolvers = {
  Query: { latestOrders: () => ({ orders, pageInfo: { hasNextPage: false, hasPreviousPage: false } }) },
  Player: { orders: ({ id }) => orders.filter(({ player }) => player.id === id) },
};

/** The codes of the errors with which this product and one more subgraph compose. */
async function compose(more) {
  const headers = { 'content-type': 'application/json', authorization: COMPOSITION_TOKEN };
  const request = { method: 'POST', headers, body: JSON.stringify({ query: '{ _service { sdl } }' }) };
  const { data } = await (await fetch(`${SUBGRAPH_URL}/graphql`, request)).json();
  const { errors = [] } = composeServices([
    { name: 'referral', url: `${SUBGRAPH_URL}/graphql`, typeDefs: parse(data._service.sdl) },
    { name: 'more', url: 'http://more.example', typeDefs: parse(`${LINK} ${more}`) },
  ]);
  return [...new Set(errors.map(({ extensions }) => extensions.code))];
}

/** Sends the caller's token, or the one for composition before there is a caller. */
function willSendRequest({ request, context }) {
  request.http.headers.set('authorization', context.authorization ?? COMPOSITION_TOKEN);
}

async function listen(options, context) {
  const server = new ApolloServer(options);
  return (await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 }, context })).url;
}

try {
  const ordersUrl = await listen({ schema: buildSubgraphSchema({ typeDefs, resolvers }) });
  const gateway = new ApolloGateway({
    supergraphSdl: new IntrospectAndCompose({
      subgraphs: [
        { name: 'referral', url: `${SUBGRAPH_URL}/graphql` },
        { name: 'orders', url: ordersUrl },
      ],
      introspectionHeaders: { authorization: COMPOSITION_TOKEN },
    }),
    buildService: ({ url }) => new RemoteGraphQLDataSource({ url, willSendRequest }),
  });
  process.send?.({ url: await listen({ gateway }, async ({ req }) => ({ authorization: req.headers.authorization })) });
} catch (error) {
  process.send?.({ error: String(error) });
}
process.on('message', async (more) => process.send?.({ codes: await compose(more) }));
process.once('disconnect', () => process.exit());
