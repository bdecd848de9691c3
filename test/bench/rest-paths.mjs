/* What is asked of the REST service. */
export const PREFIX = '/api/v3.0/integrations';

export const paths = {
  player: (id) => `${PREFIX}/player/${encodeURIComponent(id)}`,
  coupons: (id) => `${PREFIX}/transactions/${encodeURIComponent(id)}/coupon`,
  referrals: (id, page, limit) => `${PREFIX}/players/${encodeURIComponent(id)}/referrals?page=${page}&limit=${limit}`,
};
