/* `--probe`: asks everything that the gateway needs, and writes nothing. Each mistake is one line that says how to mend it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LEEWAY_SECONDS } from '../access/jwt.ts';
import { createKeySet } from '../access/key-set.ts';
import type { Config, EgressProxy } from '../config/config.ts';
import { type Secret, secretOf } from '../config/secret.ts';
import { fetchFor } from '../egress-proxy.ts';
import { type CallContext, Cancellation } from '../rest/call-context.ts';
import { createRestClient, type RestClient } from '../rest/client.ts';
import { UpstreamError } from '../rest/upstream-error.ts';
import { explain, keyRefused, told } from './advice.ts';

/** How long a reply of Redis may take, in milliseconds. */
const REPLY_MS = 1_000;
/** How long a REST call may take where REST_TIMEOUT_MS is longer, and the time of the key server, in milliseconds. */
const MAX_CALL_MS = 5_000;

/** Asks the REST service, the key set and Redis at once. Resolves to the mistakes. @param languages What `lang` clients ask for. */
export async function probe(config: Config, languages: readonly string[]): Promise<string[]> {
  const { REDIS_URL: url } = config;
  const ofRedis = url ? import('./redis.ts').then(({ probeRedis }) => probeRedis(url, config, REPLY_MS)) : [];
  const parts = await Promise.all([probeRest(config, languages), probeKeySet(config), ofRedis]);
  return parts.flat();
}

async function probeKeySet({ auth, rest: { proxy } }: Config): Promise<string[]> {
  const key = auth.kind === 'tokens' ? auth.jwt?.key : undefined;
  if (key?.kind !== 'jwks') return [];
  let problem = '';
  const warn = (message: string) => {
    problem = message;
  };
  const set = createKeySet(key.url, { log: { info: warn, warn }, proxy });
  // A fetch ends by itself. An address that drops packets, and a name server that is silent, take some seconds of it.
  while (set.isFetching()) await delay(50);
  if (set.isReady()) return compareClocks(key.url, proxy);
  return [`JWT_JWKS_URL: ${problem}; it must be a key set that this machine reaches and trusts (NODE_EXTRA_CA_CERTS)`];
}

/** A clock that is wrong makes new tokens expired, or not valid yet. */
async function compareClocks(url: URL, proxy: EgressProxy | undefined): Promise<string[]> {
  const signal = AbortSignal.timeout(MAX_CALL_MS);
  const headers = await fetchFor(url, proxy)(url, { method: 'HEAD', redirect: 'manual', signal }).then(
    (response) => response.headers,
    () => undefined,
  );
  // A cache between says for how long it has had the response.
  const theirs = Date.parse(headers?.get('date') ?? '') + Number(headers?.get('age') ?? 0) * 1_000;
  const seconds = Math.round((Date.now() - theirs) / 1_000);
  if (!(Math.abs(seconds) > LEEWAY_SECONDS)) return [];
  const how = `${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'}`;
  return [`JWT_JWKS_URL: the clock of this machine is ${how} that of ${url.host}; set the one that is wrong`];
}

/** A player is found or not, a 404 has no code of an unknown player, or the call failed. */
type ProbeResult = 'fine' | 'no code' | UpstreamError;

async function probeRest({ rest }: Config, languages: readonly string[]): Promise<string[]> {
  const { baseUrl } = rest;
  if (!baseUrl) return [];
  const timeoutMs = Math.min(rest.timeoutMs, MAX_CALL_MS);
  const cancellation = new Cancellation(performance.now() + 3 * timeoutMs); // No more calls follow each other.
  // Nobody has this id, and a read creates no player.
  const id = `probe-${randomUUID()}`;
  const context: CallContext = { cancellation, requestId: id, caller: { key: id, name: 'probe', isServer: true } };
  async function ask(
    read: (client: RestClient) => Promise<unknown>,
    other: Partial<typeof rest> = {},
  ): Promise<ProbeResult> {
    let answer: ProbeResult = 'fine';
    const notFoundWithoutCode = () => {
      answer = 'no code';
    };
    const options = { ...rest, ...other, timeoutMs, observer: { notFoundWithoutCode } };
    const client = createRestClient({ ...options, baseUrl: (other.baseUrl ?? rest.baseUrl ?? '').toString() });
    await read(client).catch((error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error;
      answer = error.code === 'UPSTREAM_REJECTED' && error.status === 404 ? 'no code' : error;
    });
    await client.close();
    return answer;
  }
  const player = (client: RestClient) => client.getPlayer(id, undefined, context);
  const coupons = (client: RestClient) => client.listCoupons(id, context);
  try {
    const first = await ask(player);
    if (first === 'no code' || (first instanceof Error && first.status === 404))
      return [await explainNoCode(baseUrl, (other) => ask(player, other))];
    const isAll = rest.secretKeyOn === 'all';
    if (isRefused(first)) {
      const other = await ask(player, { secretKeyOn: isAll ? 'sensitive' : 'all' });
      if (isRefused(other)) return [keyRefused('REST_API_KEY', rest.apiKey, other)];
      if (isAll) return [keyRefused('REST_SECRET_KEY', rest.secretKey, first)];
      return ['REST_SECRET_KEY_ON: the account wants both keys with every call; set REST_SECRET_KEY_ON=all'];
    }
    if (first !== 'fine') return [explain(first, rest)];
    const [second, ...others] = await Promise.all([
      ask(coupons),
      ...languages.map((lang) => ask((client) => client.getPlayer(id, lang, context))),
    ]);
    return [
      ...(isRefused(second) ? [keyRefused('REST_SECRET_KEY', rest.secretKey, second)] : []),
      ...(second instanceof Error && !isRefused(second) ? [explain(second, rest)] : []),
      ...others.flatMap((answer, at) =>
        answer instanceof Error
          ? `lang ${languages[at]}: the service refuses it (${told(answer)}); add it to the account, or do not ask for it`
          : [],
      ),
    ];
  } finally {
    cancellation.end();
  }
}

/** Whether a path is wrong, or the service has no code for an unknown player: with a wrong key, it tells the two apart. */
async function explainNoCode(base: URL, ask: (other: { baseUrl?: URL; apiKey?: Secret }) => Promise<ProbeResult>) {
  const isThere = (answer: ProbeResult) => answer === 'fine' || isRefused(answer);
  const parts = base.pathname.split('/').filter(Boolean);
  const shorter = parts.map((_, at) => new URL(`/${parts.slice(0, at).join('/')}`, base));
  const answers = await Promise.all(shorter.map((baseUrl) => ask({ baseUrl })));
  const better = shorter.find((_, at) => isThere(answers[at] ?? 'no code'));
  const path = `${base.pathname.replace(/\/$/, '')}/api/v3.0`;
  if (better) return `REST_BASE_URL: nothing is at ${path}; the service is at ${better.href.replace(/\/$/, '')}`;
  if (isRefused(await ask({ apiKey: secretOf('probe-of-the-gateway') })))
    return `REST_BASE_URL: an unknown player is 404 without code 101, as if the path were wrong; ask its operator for the code`;
  return `REST_BASE_URL: nothing is at ${path}; add the path in front of /api/v3.0 that its operator names, as in ${base.origin}/path`;
}

const isRefused = (answer: ProbeResult | undefined): answer is UpstreamError =>
  answer instanceof Error && answer.code === 'UPSTREAM_MISCONFIGURED' && answer.status !== undefined;
