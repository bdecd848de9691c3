/* How the faster peers call the REST service: undici, one pool, JSON. */
import { Pool } from 'undici';
import { base, keys } from './schema.mjs';

const { origin, pathname } = new URL(base);
const pool = new Pool(origin, { connections: 64 });

export async function getText(path, headers = keys) {
  const { statusCode, body } = await pool.request({ method: 'GET', path: `${pathname}${path}`, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`The REST service answered ${statusCode}`);
  return text;
}

export const getJson = async (path) => JSON.parse(await getText(path));

export const paths = {
  player: (id) => `/player/${encodeURIComponent(id)}`,
  coupons: (id) => `/transactions/${encodeURIComponent(id)}/coupon`,
  referrals: (id, page, limit) => `/players/${encodeURIComponent(id)}/referrals?page=${page}&limit=${limit}`,
};
