import type { components } from '../src/generated/rest.ts';

type Wire = components['schemas'];

/** The members of all responses in one: each test knows which of them its response must have. */
type Members = Required<Wire['Player'] & Wire['PlayerUpsertResponse'] & Wire['CouponList'] & Wire['ReferralPage']> & {
  /** Of a coupon that was given; a number in an error. */
  code: string;
  message: string;
};

export type Client = ReturnType<typeof clientOf>;
export type Reply = Awaited<ReturnType<Client['call']>>;

export const KEYS = { APIKey: 'an-api-key', secretKey: 'a-secret-key' };

/** Calls a service over HTTP, with both keys. A body that is neither text nor bytes is sent as JSON. */
export function clientOf(url: () => string, operatorUrl = url) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    base = url,
  ) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);
    const response = await fetch(new URL(path, base()), {
      method,
      headers: { ...KEYS, ...type, ...headers },
      body: sent ?? null,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const json: Members = isJson ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, body: json };
  };
  const rest = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(method, `/api/v3.0/integrations${path}`, body, headers);
  const id = encodeURIComponent;
  const player = (playerUniqueId: string, headers?: Record<string, string>) =>
    rest('GET', `/player/${id(playerUniqueId)}`, undefined, headers);
  /** The path of a player's landing page. */
  const linkOf = async (playerUniqueId: string) => new URL((await player(playerUniqueId)).body.referralLink).pathname;
  const operate = (path: string, body: object) => call('POST', path, body, {}, operatorUrl);
  const post = (path: string, form: string, headers: Record<string, string> = {}) =>
    call('POST', path, form, { 'content-type': 'application/x-www-form-urlencoded', ...headers });
  return {
    ...{ call, rest, player, linkOf, post, operate },
    upsert: (playerUniqueId: unknown, playerAttributes?: unknown, more: object = {}) =>
      rest('POST', '/player', { playerUniqueId, playerAttributes, ...more }),
    attributes: async (playerUniqueId: string) => (await player(playerUniqueId)).body.playerAttributes,
    remove: (playerUniqueId: string) => rest('DELETE', `/player/${id(playerUniqueId)}`),
    coupons: (playerUniqueId: string) => rest('GET', `/transactions/${id(playerUniqueId)}/coupon`),
    referrals: (playerUniqueId: string, query = '') => rest('GET', `/players/${id(playerUniqueId)}/referrals${query}`),
    track: (playerUniqueId: unknown, events: unknown) => rest('POST', '/event', { playerUniqueId, events }),
    give: (playerUniqueId: string, group: string) => operate('/coupons', { playerUniqueId, group }),
    use: (code: string) => operate('/coupons/use', { code }),
    backup: () => operate('/backup', {}),
    leave: async (playerUniqueId: string, contact: string) =>
      post(await linkOf(playerUniqueId), String(new URLSearchParams({ contact }))),
  };
}
