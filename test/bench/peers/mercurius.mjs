/* Fastify and mercurius, which compiles operations, with a DataLoader for each noun. Whoever asks is let in. */
import DataLoader from 'dataloader';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { paths } from '../rest-paths.mjs';
import { getJson } from './get.mjs';
import { port, renamed, typeDefs } from './schema.mjs';

const orError = (error) => error;
const createLoaders = () => ({
  players: new DataLoader((ids) => Promise.all(ids.map((id) => getJson(paths.player(id)).catch(orError)))),
  coupons: new DataLoader((ids) => Promise.all(ids.map((id) => getJson(paths.coupons(id)).catch(orError)))),
  referrals: new DataLoader((urls) => Promise.all(urls.map((url) => getJson(url).catch(orError)))),
});

const resolvers = {
  Query: { player: (_, { playerUniqueId }, { loaders }) => loaders.players.load(playerUniqueId) },
  Player: {
    ...renamed.Player,
    coupons: async ({ playerUniqueId }, _, { loaders }) => (await loaders.coupons.load(playerUniqueId)).coupons,
    referredFriends: ({ playerUniqueId }, { page, limit }, { loaders }) =>
      loaders.referrals.load(paths.referrals(playerUniqueId, page, limit)),
  },
  ReferredFriendPage: renamed.ReferredFriendPage,
  ReferredFriend: { player: ({ playerUniqueId }, _, { loaders }) => loaders.players.load(playerUniqueId) },
  CouponOptions: renamed.CouponOptions,
};

const app = Fastify();
app.register(mercurius, { schema: typeDefs, resolvers, jit: 1, context: () => ({ loaders: createLoaders() }) });
await app.listen({ port, host: '127.0.0.1' });
