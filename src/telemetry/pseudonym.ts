import { createHmac } from 'node:crypto';
import { reveal, type Secret } from '../config/secret.ts';

/**
 * Names for the log of players and of the callers of JWTs: keyed hashes. Their ids can be e-mail addresses or telephone
 * numbers, which a hash without a key would not hide. The key is derived from a secret of the deployment, so that a player has
 * the same name in all replicas.
 */
export function createPseudonyms(secret: Secret): (id: string) => string {
  const key = createHmac('sha256', reveal(secret)).update('names in the log').digest();
  return (id) => `hmac:${createHmac('sha256', key).update(id).digest('hex').slice(0, 16)}`;
}
