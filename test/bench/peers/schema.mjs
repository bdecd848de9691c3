/* What the peers serve: the part of the schema that the workloads use, and how they read the REST service. */
import DataLoader from 'dataloader';
import { Pool } from 'undici';
import { paths } from '../rest-data.mjs';

export const typeDefs = `
  type Query { player(playerUniqueId: ID!): Player }
  type Player {
    playerUniqueId: ID! referralLink: String attributes: PlayerAttributes coupons: [Coupon!]
    referredFriends(page: Int! = 1, limit: Int! = 50): ReferredFriendPage
  }
  type PlayerAttributes { displayName: String firstName: String lastName: String email: String mobile: String city: String }
  type Coupon {
    code: String isUsed: Boolean value: Float currency: String couponType: String startAt: String endAt: String
    isExpired: Boolean group: CouponGroup options: CouponOptions
  }
  type CouponGroup { handle: String title: String }
  type CouponOptions { minOrderValue: Float capping: Float }
  type ReferredFriendPage { nodes: [ReferredFriend!]! count: Int total: Int totalPending: Int totalActive: Int }
  type ReferredFriend {
    playerUniqueId: ID displayName: String email: String mobileNumber: String joinDate: String status: String player: Player
  }
`;
export const renamed = {
  Player: { attributes: (player) => player.playerAttributes },
  ReferredFriendPage: { nodes: (page) => page.referredFriends },
  CouponOptions: { minOrderValue: (options) => options.MinOrderValue, capping: (options) => options.Capping },
};
export const port = Number(process.env.PORT);
export const keys = { apikey: 'bench-api-key', secretkey: 'bench-secret-key' };

const pool = new Pool(process.env.REST_BASE_URL, { connections: 32 });
export async function getText(path) {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: keys });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`The REST service answered ${statusCode}`);
  return text;
}

/** @param read Reads a path for a loader: `player`, `coupons` or `referrals`. */
export function createLoadersOf(read) {
  const load = (name, pathOf) =>
    new DataLoader((ids) => Promise.all(ids.map((id) => read(name, pathOf(id)).catch((error) => error))));
  return {
    players: load('player', paths.player),
    coupons: load('coupons', paths.coupons),
    referrals: load('referrals', (path) => path),
  };
}
export const createLoaders = () => createLoadersOf((_name, path) => getText(path).then(JSON.parse));

/** With a DataLoader for each noun in the context. */
export const resolvers = {
  ...renamed,
  Query: { player: (_, { playerUniqueId }, { loaders }) => loaders.players.load(playerUniqueId) },
  Player: {
    ...renamed.Player,
    coupons: async ({ playerUniqueId }, _, { loaders }) => (await loaders.coupons.load(playerUniqueId)).coupons,
    referredFriends: ({ playerUniqueId }, { page, limit }, { loaders }) =>
      loaders.referrals.load(paths.referrals(playerUniqueId, page, limit)),
  },
  ReferredFriend: { player: ({ playerUniqueId }, _, { loaders }) => loaders.players.load(playerUniqueId) },
};
