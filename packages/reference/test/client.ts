import type { components } from '../src/generated/rest.ts';

type Wire = components['schemas'];

/** The members of all answers in one: each test knows which of them its answer must have. */
type Members = Required<Wire['Player'] & Wire['PlayerUpsertResponse'] & Wire['CouponList'] & Wire['ReferralPage']> & {
  /** Of an error, or of a coupon that was given. */
  code: number | string;
  message: string;
};

/** An answer of the service. */
export interface Reply {
  status: number;
  headers: Headers;
  /** What was sent, to the letter. */
  text: string;
  /** The JSON that was sent; undefined when it was none. */
  body: Members;
}

/** What a client needs to know about the service. */
export interface Account {
  url: string;
  apiKey: string;
  secretKey: string;
}

export type Client = ReturnType<typeof clientOf>;

/** Calls a service as its clients do, over HTTP and with both keys. */
export function clientOf({ url, apiKey, secretKey }: Account) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        APIKey: apiKey,
        secretKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
      }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  const rest = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(method, `/api/v3.0/integrations${path}`, body, headers);
  const id = encodeURIComponent;
  return {
    call,
    rest,
    upsert: (playerUniqueId: unknown, playerAttributes?: unknown, more: object = {}) =>
      rest('POST', '/player', { playerUniqueId, playerAttributes, ...more }),
    player: (playerUniqueId: string, headers?: Record<string, string>) =>
      rest('GET', `/player/${id(playerUniqueId)}`, undefined, headers),
    remove: (playerUniqueId: string) => rest('DELETE', `/player/${id(playerUniqueId)}`),
    coupons: (playerUniqueId: string) => rest('GET', `/transactions/${id(playerUniqueId)}/coupon`),
    referrals: (playerUniqueId: string, query = '') => rest('GET', `/players/${id(playerUniqueId)}/referrals${query}`),
    track: (playerUniqueId: unknown, events: unknown) => rest('POST', '/event', { playerUniqueId, events }),
    give: (playerUniqueId: string, group: string) => call('POST', '/coupons', { playerUniqueId, group }),
    use: (code: string) => call('POST', '/coupons/use', { code }),
    backup: () => call('POST', '/backup', {}),
    /** Leaves a contact on the landing page of a player's link. */
    leave: async (playerUniqueId: string, contact: string, headers: Record<string, string> = {}) => {
      const { referralLink } = (await rest('GET', `/player/${id(playerUniqueId)}`)).body;
      return call('POST', new URL(referralLink).pathname, new URLSearchParams({ contact }).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      });
    },
  };
}
