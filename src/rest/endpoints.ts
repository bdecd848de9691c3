export type Method = 'GET' | 'POST' | 'DELETE';

/** One of the service's six operations as the interface document describes it. */
export interface Endpoint {
  method: Method;
  /** The path after `/api/v3.0`, with the parameter's name in place of the id. */
  template: string;
  /** Method and template: the endpoint's name in messages, metrics and logs. */
  name: string;
  /** Whether the path names a player, which may be unknown. */
  ofPlayer: boolean;
  /** Whether the secret key is sent. */
  secret: boolean;
  /** Whether a body such as `OK` is a success: the interface document shows no response body for this endpoint. */
  acknowledges: boolean;
  /**
   * When a failed call may be sent again. `always`; `unsent`: only if no byte of it was written, because a late retry of an
   * upsert could overwrite a newer write; `never`: an event that counts twice cannot be undone.
   */
  retry: 'always' | 'unsent' | 'never';
}

/** Stands for the id of the player in a template. */
export const ID_PLACEHOLDER = '{playerUniqueId}';

type Options = Pick<Endpoint, 'retry'> & Partial<Pick<Endpoint, 'secret' | 'acknowledges'>>;

function endpoint(method: Method, template: string, options: Options): Endpoint {
  const ofPlayer = template.includes(ID_PLACEHOLDER);
  return { method, template, name: `${method} ${template}`, ofPlayer, secret: false, acknowledges: false, ...options };
}

export const getPlayer = endpoint('GET', `/integrations/player/${ID_PLACEHOLDER}`, { retry: 'always' });
export const listCoupons = endpoint('GET', `/integrations/transactions/${ID_PLACEHOLDER}/coupon`, {
  retry: 'always',
  secret: true,
});
export const listReferrals = endpoint('GET', `/integrations/players/${ID_PLACEHOLDER}/referrals`, { retry: 'always' });
export const upsertPlayer = endpoint('POST', '/integrations/player', { retry: 'unsent' });
export const deletePlayer = endpoint('DELETE', `/integrations/player/${ID_PLACEHOLDER}`, {
  retry: 'always',
  secret: true,
  acknowledges: true,
});
export const trackEvents = endpoint('POST', '/integrations/event', { retry: 'never', acknowledges: true });
