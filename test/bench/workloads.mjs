/* What is asked for. Every operation takes the player as `$id`; `variables` is what it takes besides. */
const profile = 'playerUniqueId referralLink attributes { displayName firstName lastName email }';
const coupon =
  'code isUsed value currency couponType startAt endAt isExpired group { handle title } options { minOrderValue capping }';
const friend = 'playerUniqueId displayName email joinDate status';
const totals = 'total totalPending totalActive';

export const W1 = {
  name: 'W1 profile',
  query: `query Profile($id: ID!) { player(playerUniqueId: $id) { ${profile} } }`,
};
export const W2 = {
  name: 'W2 round trip',
  query: `query RoundTrip($id: ID!) { player(playerUniqueId: $id) {
    ${profile} coupons { ${coupon} } referredFriends(limit: 50) { ${totals} nodes { ${friend} } } } }`,
};
export const W4 = {
  name: 'W4 200 friends',
  query: `query Friends($id: ID!) { player(playerUniqueId: $id) {
    referredFriends(limit: 200) { count ${totals} nodes { ${friend} mobileNumber } } } }`,
};

/**
 * The round trip, written as applications write it; the one with fragments with the `__typename` that clients add. The last
 * takes 42 REST calls, none of which can be shared with another operation: every player has friends of its own.
 */
export const MIXES = [
  {
    name: 'with fragments',
    query: `query Fragments($id: ID!) { player(playerUniqueId: $id) { ...Screen } }
      fragment Screen on Player { ...Profile coupons { ...CouponLine } referredFriends(limit: 50) { ...Friends } }
      fragment Profile on Player { ${profile} __typename }
      fragment CouponLine on Coupon { ${coupon} __typename }
      fragment Friends on ReferredFriendPage { ${totals} nodes { ... on ReferredFriend { ${friend} __typename } } }`,
  },
  {
    name: 'with variables',
    query: `query Variables($id: ID!, $page: Int = 1, $limit: Int!) { player(playerUniqueId: $id) {
      ${profile} coupons { ${coupon} } referredFriends(page: $page, limit: $limit) { ${totals} nodes { ${friend} } } } }`,
    variables: { limit: 50 },
  },
  {
    name: 'with directives',
    query: `query Directives($id: ID!, $coupons: Boolean!, $slim: Boolean!) { player(playerUniqueId: $id) {
      ${profile} coupons @include(if: $coupons) { ${coupon} }
      referredFriends(limit: 50) { ${totals} nodes { ${friend} mobileNumber @skip(if: $slim) } } } }`,
    variables: { coupons: true, slim: true },
  },
  {
    name: "with friends' players",
    query: `query Players($id: ID!) { player(playerUniqueId: $id) {
      ${profile} referredFriends(limit: 20) { ${totals} nodes { ${friend}
        player { ${profile} coupons { ${coupon} } } } } } }`,
  },
];
