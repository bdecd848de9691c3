import type { Method } from './call-context.ts';

/** One of the service's six operations as it stands in the interface document. */
export interface Endpoint {
  method: Method;
  /** The path below `/api/v3.0`, with the parameter's name in place of the id. */
  template: string;
  /** Method and template: how messages, metrics and logs name the endpoint. */
  name: string;
  /** What stands before and after the id in the path. */
  before: string;
  after: string;
  /** Whether the path names a player, which can turn out to be unknown. */
  ofPlayer: boolean;
  /** Whether the secret key goes along. */
  secret: boolean;
  /**
   * When a failed call may be sent again: `always`; `unsent`, when not a byte of it had been written, since a late retry
   * of an upsert could overwrite a newer write; `never`, since an event counted twice cannot be taken back.
   */
  retry: 'always' | 'unsent' | 'never';
}

const ID = '{playerUniqueId}';

function endpoint(method: Method, template: string, retry: Endpoint['retry'], { secret = false } = {}): Endpoint {
  const [before = '', after] = template.split(ID);
  const name = `${method} ${template}`;
  return { method, template, name, before, after: after ?? '', ofPlayer: after !== undefined, secret, retry };
}

export const getPlayer = endpoint('GET', `/integrations/player/${ID}`, 'always');
export const listCoupons = endpoint('GET', `/integrations/transactions/${ID}/coupon`, 'always', { secret: true });
export const listReferrals = endpoint('GET', `/integrations/players/${ID}/referrals`, 'always');
export const upsertPlayer = endpoint('POST', '/integrations/player', 'unsent');
export const deletePlayer = endpoint('DELETE', `/integrations/player/${ID}`, 'always', { secret: true });
export const trackEvents = endpoint('POST', '/integrations/event', 'never');

const MAX_ID_LENGTH = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** The path of an endpoint for one player, encoded. Throws a `RangeError` for an id that no path can carry safely. */
export function pathTo({ before, after }: Endpoint, playerUniqueId: string): string {
  return before + encodeURIComponent(checkId(playerUniqueId)) + after;
}

/**
 * Refuses an id that could become another path (`.` and `..` survive encoding), that the service refuses anyway (empty,
 * over 256 characters, control characters), or that is no text (lone surrogates).
 */
export function checkId(playerUniqueId: string): string {
  if (
    playerUniqueId === '' ||
    playerUniqueId === '.' ||
    playerUniqueId === '..' ||
    playerUniqueId.length > MAX_ID_LENGTH ||
    CONTROL.test(playerUniqueId) ||
    !playerUniqueId.isWellFormed()
  ) {
    throw new RangeError(
      `A playerUniqueId has 1 to ${MAX_ID_LENGTH} characters, all of them text and none a control character, and is neither "." nor "..".`,
    );
  }
  return playerUniqueId;
}
