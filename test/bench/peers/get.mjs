/* How the faster peers call the REST service: undici, one pool, JSON. */
import { Pool } from 'undici';
import { keys } from './schema.mjs';

const pool = new Pool(process.env.REST_BASE_URL, { connections: 64 });

export async function getText(path) {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: keys });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`The REST service answered ${statusCode}`);
  return text;
}

export const getJson = async (path) => JSON.parse(await getText(path));
