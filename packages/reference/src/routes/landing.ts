import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { answerError } from '../errors.ts';
import { readContact } from '../programme/contacts.ts';
import { textsFor } from '../programme/landing.ts';
import { leaveContact } from '../programme/referral.ts';
import { countForm } from '../store/form-counts.ts';
import { findPlayerId } from '../store/players.ts';
import type { Queries } from '../store/store.ts';
import { textProblem } from '../wire/text.ts';
import { type LandingContent, landingPage } from './landing-page.ts';
import type { Service } from './service.ts';

/** The largest form, in bytes. One contact is far smaller. */
const FORM_LIMIT = 4 * 1024;

const ONE_ADDRESS = 'visitors behind a proxy count as one address: set REFERENCE_TRUST_PROXY';

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];

/**
 * By the forms that one address may send in a minute. Those of an address count whatever is in them, and first; for a
 * link only contacts that are stored count. To close a link to others for a day takes ten addresses.
 */
const limitsOf = (perMinute: number) => ({
  address: { max: perMinute, periodMs: MINUTE_MS },
  addressOfDay: { max: 10 * perMinute, periodMs: DAY_MS },
  linkOfDay: { max: 100 * perMinute, periodMs: DAY_MS },
});

/** The page loads nothing, runs no script, sends no referrer, and is not cached. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept-language',
};

/**
 * The page behind a referral link. It shows everybody the same: neither the owner of the link nor whether a contact is
 * known can be learned from it.
 */
export function landingRoutes(app: FastifyInstance, service: Service, perMinute: number): void {
  const { store, programme } = service;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  const limits = limitsOf(perMinute);
  const count = (queries: Queries, kind: keyof typeof limits, value: string) =>
    perMinute === 0 ? undefined : countForm(queries, store.hashOf({ kind, value }), limits[kind], service.now());
  const form = { kind: 'form', contact: programme.contact, value: '', isInvalid: false } as const;
  const isKnown = async (code: string) =>
    (await store.read((queries) => findPlayerId(queries, { referral_code: code }))) !== undefined;

  const show = (
    { headers }: FastifyRequest,
    reply: FastifyReply,
    content: LandingContent,
    status = statusOf(content),
  ) => {
    const [language, texts] = textsFor(headers['accept-language'], programme.landing);
    reply.code(status).headers({ ...HEADERS, 'content-language': language });
    if (content.kind === 'later' && content.seconds !== undefined) reply.header('retry-after', content.seconds);
    return reply.send(landingPage(content, language, texts));
  };

  app.setErrorHandler((thrown, request, reply) =>
    answerError(thrown, request, reply, ({ status, ...body }) =>
      status < 500 ? reply.code(status).send(body) : show(request, reply, { kind: 'later' }, status),
    ),
  );

  const get: RouteHandlerMethod = async (request, reply) =>
    show(request, reply, (await isKnown(codeOf(request))) ? form : { kind: 'notFound' });

  const post: RouteHandlerMethod = async (request, reply) => {
    const network = networkOf(request.ip);
    const seconds = await store.write(
      async (queries) => (await count(queries, 'address', network)) ?? (await count(queries, 'addressOfDay', network)),
    );
    if (seconds !== undefined) {
      if (request.ips === undefined && 'x-forwarded-for' in request.headers) request.log.warn(ONE_ADDRESS);
      return show(request, reply, { kind: 'later', seconds });
    }
    const code = codeOf(request);
    if (!(await isKnown(code))) return show(request, reply, { kind: 'notFound' });
    const typed = (request.body instanceof URLSearchParams && request.body.get('contact')) || '';
    // What was no UTF-8 is no contact of anybody.
    const isText = !textProblem(typed) && !typed.includes('\ufffd');
    const contact = isText ? readContact(programme.contact, typed, programme.country) : undefined;
    if (!contact) return show(request, reply, { ...form, value: typed, isInvalid: true });
    const content = await store.write(async (queries): Promise<LandingContent> => {
      const seconds = await count(queries, 'linkOfDay', code);
      if (seconds !== undefined) return { kind: 'later', seconds };
      const isStored = await leaveContact(queries, service, code, contact);
      return isStored ? { kind: 'thanks', shopLink: shopLink(service, code) } : { kind: 'notFound' };
    });
    return show(request, reply, content);
  };

  // Programs that send links on can add a slash.
  for (const path of ['/r/:code', '/r/:code/']) app.get(path, get).post(path, post);
}

function statusOf(content: LandingContent): number {
  if (content.kind === 'form') return content.isInvalid ? 400 : 200;
  return { thanks: 200, notFound: 404, later: 429 }[content.kind];
}

/** An IPv6 user has a whole /64 network. An IPv4 address can be in an IPv6 one. Each has one notation here. */
function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  // In lower case, without zeros in front, and with hexadecimal groups alone; a zone (%eth0) is of this machine.
  const { hostname } = new URL(`http://[${ip.replace(/%.*/, '')}]`);
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups.slice(0, 4).join(':');
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/** The referral code of the path, without the punctuation of a sentence that the link ended; may be empty. */
function codeOf({ params }: FastifyRequest): string {
  const { code = '' }: { code?: string } = Object(params);
  return /^[\w-]*/.exec(code)?.[0] ?? '';
}

/** The shop learns from the link's query which referral brought the visitor. */
function shopLink({ programme }: Service, code: string): string | undefined {
  if (programme.shopUrl === undefined) return undefined;
  const link = new URL(programme.shopUrl);
  link.searchParams.set('referralCode', code);
  return link.href;
}
