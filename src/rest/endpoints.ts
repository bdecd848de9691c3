import type { Method } from './operation.ts';

/** One of the service's six operations as it stands in the interface document. */
export interface Endpoint {
  method: Method;
  /** The path below `/api/v3.0`, with the parameter's name in place of the id. */
  template: string;
  /** What stands before and after the id in the path. */
  before: string;
  after: string;
  /** Whether the secret key goes along. */
  secret: boolean;
}

const ID = '{playerUniqueId}';

function endpoint(method: Method, template: string, { secret = false } = {}): Endpoint {
  const [before = '', after = ''] = template.split(ID);
  return { method, template, before, after, secret };
}

export const getPlayer = endpoint('GET', `/integrations/player/${ID}`);
export const listCoupons = endpoint('GET', `/integrations/transactions/${ID}/coupon`, { secret: true });
export const listReferrals = endpoint('GET', `/integrations/players/${ID}/referrals`);
export const upsertPlayer = endpoint('POST', '/integrations/player');
export const deletePlayer = endpoint('DELETE', `/integrations/player/${ID}`, { secret: true });
export const trackEvents = endpoint('POST', '/integrations/event');

const MAX_ID_LENGTH = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * The id as one segment of a path. Refuses what could become another path (`.` and `..` survive encoding), what the
 * service refuses anyway (empty, over 256 characters, control characters), and what is no text (lone surrogates).
 */
export function pathSegment(playerUniqueId: string): string {
  if (
    playerUniqueId === '' ||
    playerUniqueId === '.' ||
    playerUniqueId === '..' ||
    playerUniqueId.length > MAX_ID_LENGTH ||
    CONTROL.test(playerUniqueId) ||
    !playerUniqueId.isWellFormed()
  ) {
    throw new RangeError(
      `A playerUniqueId has 1 to ${MAX_ID_LENGTH} characters, none of them a control character, and is neither "." nor "..".`,
    );
  }
  return encodeURIComponent(playerUniqueId);
}
