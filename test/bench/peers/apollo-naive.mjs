/* Apollo Server and RESTDataSource the way their documentation shows it. Every request is served. */
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { PREFIX } from '../rest-data.mjs';
import { keys, port, renamed, typeDefs } from './schema.mjs';

class RewardsAPI extends RESTDataSource {
  baseURL = `${process.env.REST_BASE_URL}${PREFIX}/`;
  willSendRequest(_path, request) {
    Object.assign(request.headers, keys);
  }
  player(id) {
    return this.get(`player/${encodeURIComponent(id)}`);
  }
  coupons(id) {
    return this.get(`transactions/${encodeURIComponent(id)}/coupon`);
  }
  referrals(id, { page, limit }) {
    return this.get(`players/${encodeURIComponent(id)}/referrals`, { params: { page: `${page}`, limit: `${limit}` } });
  }
}

const resolvers = {
  Query: { player: (_, { playerUniqueId }, { api }) => api.player(playerUniqueId) },
  Player: {
    ...renamed.Player,
    coupons: async ({ playerUniqueId }, _, { api }) => (await api.coupons(playerUniqueId)).coupons,
    referredFriends: ({ playerUniqueId }, args, { api }) => api.referrals(playerUniqueId, args),
  },
  ReferredFriendPage: renamed.ReferredFriendPage,
  ReferredFriend: { player: ({ playerUniqueId }, _, { api }) => api.player(playerUniqueId) },
  CouponOptions: renamed.CouponOptions,
};

const server = new ApolloServer({ typeDefs, resolvers });
const context = async () => ({ api: new RewardsAPI({ cache: server.cache }) });
await startStandaloneServer(server, { listen: { port, host: '127.0.0.1' }, context });
