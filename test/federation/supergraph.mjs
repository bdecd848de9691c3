/*
 * A federation gateway in front of two subgraphs: this product, at SUBGRAPH_URL, and a small one about orders, in this
 * process. It composes them when it starts, and forwards the authorization header of each request. It reports its URL, or
 * why it did not start, to its parent process.
 */
import { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

const { SUBGRAPH_URL = '', COMPOSITION_TOKEN = '' } = process.env;

const ORDERS = [
  { number: 1, player: 'p1' },
  { number: 2, player: 'p2' },
  { number: 3, player: 'p1' },
  { number: 4, player: 'nobody' },
];

const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type Query { latestOrders: OrderPage! }
  type OrderPage { orders: [Order!]! pageInfo: PageInfo! }
  type Order { number: Int! player: Player }
  type Player @key(fields: "id") { id: ID! orders: [Order!]! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`);

const resolvers = {
  Query: {
    latestOrders: () => ({ orders: ORDERS, pageInfo: { hasNextPage: false, hasPreviousPage: false } }),
  },
  Order: { player: ({ player }) => ({ __typename: 'Player', id: player }) },
  Player: {
    __resolveReference: ({ id }) => ({ id }),
    orders: ({ id }) => ORDERS.filter(({ player }) => player === id),
  },
};

/** Sends the caller's token, or the one for composition before there is a caller. */
class Forwarding extends RemoteGraphQLDataSource {
  willSendRequest({ request, context }) {
    request.http.headers.set('authorization', context.authorization ?? COMPOSITION_TOKEN);
  }
}

async function listen(server, context) {
  const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 }, context });
  return url;
}

try {
  const orders = new ApolloServer({ schema: buildSubgraphSchema({ typeDefs, resolvers }) });
  const gateway = new ApolloGateway({
    supergraphSdl: new IntrospectAndCompose({
      subgraphs: [
        { name: 'referral', url: `${SUBGRAPH_URL}/graphql` },
        { name: 'orders', url: await listen(orders, async () => ({})) },
      ],
      introspectionHeaders: { authorization: COMPOSITION_TOKEN },
    }),
    buildService: ({ url }) => new Forwarding({ url }),
  });
  const context = async ({ req }) => ({ authorization: req.headers.authorization });
  process.send?.({ url: await listen(new ApolloServer({ gateway }), context) });
} catch (error) {
  process.send?.({ error: String(error) });
}
process.once('disconnect', () => process.exit());
