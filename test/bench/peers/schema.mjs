/* The part of the schema that the workloads use, as the peers serve it, and the resolvers that only rename. */
export const typeDefs = `
  type Query {
    player(playerUniqueId: ID!): Player
  }
  type Player {
    playerUniqueId: ID!
    referralLink: String
    attributes: PlayerAttributes
    coupons: [Coupon!]
    referredFriends(page: Int! = 1, limit: Int! = 50): ReferredFriendPage
  }
  type PlayerAttributes {
    displayName: String
    firstName: String
    lastName: String
    email: String
    mobile: String
    country: String
    city: String
    totalSpent: Float
    totalOrders: Int
  }
  type Coupon {
    code: String
    isUsed: Boolean
    value: Float
    currency: String
    couponType: String
    startAt: String
    endAt: String
    isExpired: Boolean
    group: CouponGroup
    options: CouponOptions
  }
  type CouponGroup {
    handle: String
    title: String
  }
  type CouponOptions {
    minOrderValue: Float
    capping: Float
  }
  type ReferredFriendPage {
    nodes: [ReferredFriend!]!
    count: Int
    total: Int
    totalPending: Int
    totalActive: Int
  }
  type ReferredFriend {
    playerUniqueId: ID
    displayName: String
    email: String
    mobileNumber: String
    joinDate: String
    status: String
    player: Player
  }
`;

export const renamed = {
  Player: { attributes: (player) => player.playerAttributes },
  ReferredFriendPage: { nodes: (page) => page.referredFriends },
  CouponOptions: { minOrderValue: (options) => options.MinOrderValue, capping: (options) => options.Capping },
};

export const port = Number(process.env.PORT);
export const keys = { apikey: 'bench-api-key', secretkey: 'bench-secret-key' };
