import { decodeCoupons } from './decode/coupon.ts';
import { isJson, type Json } from './decode/members.ts';
import { decodePlayer, decodeUpsert, isAboutPlayer } from './decode/player.ts';
import { decodeReferrals } from './decode/referral.ts';
import * as endpoints from './endpoints.ts';
import { UpstreamError } from './errors.ts';
import type { Health } from './health.ts';
import type { Notice, Observer } from './observe.ts';
import type { CallRecord, Operation } from './operation.ts';
import { reveal, type Secret } from './secret.ts';
import { createTransport, NoReply, type Reply } from './transport.ts';
import type {
  Coupon,
  Player,
  PlayerUpsertRequest,
  PlayerUpsertResponse,
  ReferralPage,
  TrackEventsRequest,
} from './wire.ts';

export interface RestClientOptions {
  /** Where the REST service is, without `/api/v3.0`. */
  baseUrl: string;
  /** The keys at this moment: asked for with every call, so that a file read anew takes effect at once. */
  apiKey: () => Secret;
  secretKey: () => Secret;
  /** The name `serviceId` has on the wire. Default `serviceId`. */
  serviceIdField?: string;
  /** How long one call may take with its retries, in milliseconds. Default 3,000. */
  timeoutMs?: number;
  /** How many connections are opened at most. Default 64. */
  connections?: number;
  /** The largest body accepted, in bytes. Default 8 MB. */
  maxResponseBytes?: number;
  observer?: Observer;
}

/** The REST service, one method per operation. Every failure is an `UpstreamError`, unless `op.spend` threw. */
export interface RestClient {
  /** Null for a player that does not exist. `lang` goes upstream as it is, and not at all when undefined. */
  getPlayer(playerUniqueId: string, lang: string | undefined, op: Operation): Promise<Player | null>;
  listCoupons(playerUniqueId: string, op: Operation): Promise<Coupon[] | null>;
  listReferrals(playerUniqueId: string, page: number, limit: number, op: Operation): Promise<ReferralPage | null>;
  upsertPlayer(body: PlayerUpsertRequest, op: Operation): Promise<PlayerUpsertResponse>;
  /** `unknown` when the player did not exist before this call. */
  deletePlayer(playerUniqueId: string, op: Operation): Promise<'deleted' | 'unknown'>;
  trackEvents(body: TrackEventsRequest, op: Operation): Promise<void>;
  health(): Health;
  /** Cuts every connection; calls under way fail. */
  close(): Promise<void>;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { baseUrl, apiKey, secretKey, serviceIdField = 'serviceId', timeoutMs = 3000, observer = {} } = options;
  const base = new URL(baseUrl);
  const root = `${base.pathname.replace(/\/+$/, '')}/api/v3.0`;
  const notice: Notice = (oddity, member) => observer.oddity?.(oddity, member);
  const transport = createTransport({
    origin: base.origin,
    connections: options.connections ?? 64,
    connectTimeoutMs: timeoutMs,
    maxResponseBytes: options.maxResponseBytes ?? 8 * 1024 * 1024,
  });

  async function call(
    endpoint: endpoints.Endpoint,
    path: string,
    op: Operation,
    { lang, body }: { lang?: string | undefined; body?: unknown } = {},
  ): Promise<Json | null> {
    const started = performance.now();
    op.spend();
    const headers = ['accept', 'application/json', 'accept-encoding', 'identity', 'APIKey', reveal(apiKey())];
    if (endpoint.secret) headers.push('secretKey', reveal(secretKey()));
    if (lang !== undefined) headers.push('Lang', lang);
    if (body !== undefined) headers.push('content-type', 'application/json');
    headers.push('x-request-id', op.requestId);
    if (op.traceparent !== undefined) headers.push('traceparent', op.traceparent);
    const name = `${endpoint.method} ${endpoint.template}`;
    const sending = transport.send({
      method: endpoint.method,
      path: root + path,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const late = new UpstreamError('UPSTREAM_TIMEOUT', `${name}: no answer in time`, { retryable: true });
    const timer = setTimeout(() => sending.abort(late), Math.min(timeoutMs, op.deadline - started));
    const onAbort = () => sending.abort(late);
    op.signal.addEventListener('abort', onAbort, { once: true });
    const record: CallRecord = {
      method: endpoint.method,
      template: endpoint.template,
      ms: 0,
      attempts: 1,
      shared: false,
      cached: false,
      stale: false,
    };
    try {
      const reply = await sending.reply;
      record.status = reply.status;
      return interpret(reply, name);
    } catch (error) {
      const known =
        error instanceof UpstreamError
          ? error
          : new UpstreamError(
              error instanceof NoReply && error.reason === 'too-large'
                ? 'UPSTREAM_INVALID_RESPONSE'
                : 'UPSTREAM_UNAVAILABLE',
              `${name}: no reply`,
              { retryable: true, cause: error },
            );
      record.error = known.code;
      throw known;
    } finally {
      clearTimeout(timer);
      op.signal.removeEventListener('abort', onAbort);
      record.ms = performance.now() - started;
      observer.call?.(record);
      op.onCall?.(record);
    }
  }

  return {
    async getPlayer(id, lang, op) {
      const body = await call(endpoints.getPlayer, pathTo(endpoints.getPlayer, id), op, { lang });
      if (body === null) return null;
      if (!isAboutPlayer(body, id)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'another player answered');
      return decodePlayer(body, id, notice);
    },
    async listCoupons(id, op) {
      const body = await call(endpoints.listCoupons, pathTo(endpoints.listCoupons, id), op);
      return body && decodeCoupons(body, notice);
    },
    async listReferrals(id, page, limit, op) {
      const path = `${pathTo(endpoints.listReferrals, id)}?page=${page}&limit=${limit}`;
      const body = await call(endpoints.listReferrals, path, op);
      return body && decodeReferrals(body, notice);
    },
    async upsertPlayer(body, op) {
      const sent = {
        ...withoutNulls(body),
        playerAttributes: body.playerAttributes && withoutNulls(body.playerAttributes),
      };
      const answer = await call(endpoints.upsertPlayer, endpoints.upsertPlayer.template, op, { body: sent });
      return decodeUpsert(answer ?? {}, body.playerUniqueId, serviceIdField, notice);
    },
    async deletePlayer(id, op) {
      const answer = await call(endpoints.deletePlayer, pathTo(endpoints.deletePlayer, id), op);
      return answer === null ? 'unknown' : 'deleted';
    },
    async trackEvents(body, op) {
      await call(endpoints.trackEvents, endpoints.trackEvents.template, op, { body });
    },
    health: () => ({ breaker: 'closed', active: 0, queued: 0, pausedMs: 0 }),
    close: () => transport.close(),
  };
}

function pathTo({ before, after }: endpoints.Endpoint, id: string): string {
  return before + endpoints.pathSegment(id) + after;
}

function withoutNulls(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

/** The body of a success; null for an unknown player. */
function interpret({ status, headers, body }: Reply, name: string): Json | null {
  const fail = (code: UpstreamError['code'], retryable = false) =>
    new UpstreamError(code, `${name} answered ${status}`, { status, retryable, excerpt: body.slice(0, 500) });
  if (status === 404) return null;
  if (status === 401 || status === 403) throw fail('UPSTREAM_MISCONFIGURED');
  if (status >= 500 || status === 429) throw fail('UPSTREAM_UNAVAILABLE', true);
  const json = parse(body);
  if (isJson(json) && json['code'] === 101) return null;
  if (status >= 400) throw fail('UPSTREAM_REJECTED');
  if (status >= 300) throw fail('UPSTREAM_INVALID_RESPONSE');
  if (body.trim() === '') return {};
  if (!isJson(json) || !String(headers['content-type']).includes('json')) throw fail('UPSTREAM_INVALID_RESPONSE');
  return json;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
