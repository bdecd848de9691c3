import type { components } from '../generated/rest.ts';

export type PlayerUpsertRequest = components['schemas']['PlayerUpsertRequest'];
export type TrackEventsRequest = components['schemas']['TrackEventsRequest'];

export type Method = 'GET' | 'POST' | 'DELETE';

/**
 * When a failed call may be sent again. `always`; `unsent`: only if no byte of it was written, because a late retry of an
 * upsert could overwrite a newer write; `never`: an event that counts twice cannot be undone.
 */
type Retry = 'always' | 'unsent' | 'never';

/** One of the service's six endpoints, as the interface document describes it. */
export type Endpoint = ReturnType<typeof endpoint>;

/** Stands for the id of the player in a template: the path after `/api/v3.0`. */
export const ID_PLACEHOLDER = '{playerUniqueId}';

/**
 * @param operationId Its `operationId` in schema/rest-service.openapi.yaml.
 * @param template Its path, with a placeholder for the id.
 */
function endpoint(
  operationId: string,
  method: Method,
  template: string,
  retry: Retry,
  { secret = false, acknowledges = false } = {},
) {
  return {
    operationId,
    method,
    template,
    retry,
    name: `${method} ${template}`,
    /** Whether the path names a player, which may be unknown. */
    ofPlayer: template.includes(ID_PLACEHOLDER),
    secret,
    /** Whether a body such as `OK` is a success: the interface document shows no response body for this endpoint. */
    acknowledges,
  };
}

export const getPlayer = endpoint('getPlayer', 'GET', '/integrations/player/{playerUniqueId}', 'always');
const COUPONS = '/integrations/transactions/{playerUniqueId}/coupon';
export const listCoupons = endpoint('listPlayerCoupons', 'GET', COUPONS, 'always', { secret: true });
const REFERRALS = '/integrations/players/{playerUniqueId}/referrals';
export const listReferrals = endpoint('listPlayerReferrals', 'GET', REFERRALS, 'always');
export const upsertPlayer = endpoint('createOrUpdatePlayer', 'POST', '/integrations/player', 'unsent');
export const deletePlayer = endpoint('deletePlayer', 'DELETE', '/integrations/player/{playerUniqueId}', 'always', {
  secret: true,
  acknowledges: true,
});
export const trackEvents = endpoint('trackEvents', 'POST', '/integrations/event', 'never', { acknowledges: true });

export const ENDPOINTS = [getPlayer, listCoupons, listReferrals, upsertPlayer, deletePlayer, trackEvents];
