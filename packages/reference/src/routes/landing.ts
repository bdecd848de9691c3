import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { type LandingContent, landingPage } from '../landing/page.ts';
import { chooseLanguage, textsIn } from '../landing/texts.ts';
import { readContact } from '../programme/contacts.ts';
import { leaveContact } from '../programme/referral.ts';
import { findPlayerByCode } from '../store/players.ts';
import { textProblem } from '../wire/text.ts';
import type { Service } from './request.ts';

/** The largest form, in bytes. One contact is far smaller. */
const FORM_LIMIT = 4 * 1024;

const WINDOW_MS = 60_000;
/** An IPv6 user has a whole network of this prefix length. */
const IPV6_PREFIX = 64;

/** How many forms may be sent in a minute. 0: no limit. */
export interface LandingLimits {
  perAddress: number;
  perLink: number;
}

/** The page loads nothing, runs no script, sends no referrer, and is not cached. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'Accept-Language',
};

const PATH = z.object({ code: z.string() });
const QUERY = z.object({ lang: z.string().optional().catch(undefined) });

/**
 * The page behind a referral link. It shows everybody the same: neither the owner of the link nor whether a contact is
 * known can be learned from it.
 */
export async function landingRoutes(app: FastifyInstance, service: Service, limits: LandingLimits): Promise<void> {
  const { store, programme, metrics, now } = service;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  const retryAfter = await limitForms(app, limits);

  app.get('/r/:code', async (request, reply) => {
    const code = codeOf(request);
    const isKnown = code !== undefined && (await store.read((queries) => findPlayerByCode(queries, code)));
    return show(service, request, reply, isKnown ? form(service) : { kind: 'notFound' });
  });

  app.post('/r/:code', async (request, reply) => {
    const seconds = await retryAfter(request);
    if (seconds !== undefined) {
      metrics.landingRefused();
      return show(service, request, reply.header('retry-after', seconds), { kind: 'tooMany' });
    }
    const code = codeOf(request);
    const isKnown = code !== undefined && (await store.read((queries) => findPlayerByCode(queries, code)));
    if (!isKnown) return show(service, request, reply, { kind: 'notFound' });
    const typed = (request.body instanceof URLSearchParams && request.body.get('contact')) || '';
    const contact = textProblem(typed) ? undefined : readContact(programme.contact, typed, programme.country);
    if (!contact) return show(service, request, reply, { ...form(service), value: typed, isInvalid: true });
    const isStored = await store.write((queries) => leaveContact(queries, programme, code, contact, now()));
    return show(service, request, reply, isStored ? thanks(service, code) : { kind: 'notFound' });
  });
}

/** Returns a function that counts a form and, if it is over a limit, gives the seconds until the next is accepted. */
async function limitForms(
  app: FastifyInstance,
  { perAddress, perLink }: LandingLimits,
): Promise<(request: FastifyRequest) => Promise<number | undefined>> {
  // Each limit remembers 5,000 keys; the least recently used are evicted.
  await app.register(rateLimit, { global: false });
  const limit = (max: number, keyOf: (request: FastifyRequest) => string) =>
    app.createRateLimit({
      max: max === 0 ? Number.MAX_SAFE_INTEGER : max,
      timeWindow: WINDOW_MS,
      keyGenerator: keyOf,
    });
  const limitsInOrder = [
    limit(perAddress, ({ ip }) => `address ${rateLimit.normalizeIP(ip, IPV6_PREFIX)}`),
    limit(perLink, (request) => `link ${codeOf(request)}`),
  ];
  return async (request) => {
    for (const check of limitsInOrder) {
      const result = await check(request);
      if (!result.isAllowed && result.isExceeded) return result.ttlInSeconds;
    }
    return undefined;
  };
}

/** The referral code of the path; undefined if no link can have it. */
function codeOf(request: FastifyRequest): string | undefined {
  const { code } = PATH.parse(request.params);
  return textProblem(code) ? undefined : code;
}

function form({ programme }: Service): LandingContent & { kind: 'form' } {
  return { kind: 'form', contact: programme.contact, value: '', isInvalid: false };
}

/** The shop learns from the link's query which referral brought the visitor. */
function thanks({ programme }: Service, code: string): LandingContent {
  if (programme.shopUrl === undefined) return { kind: 'thanks', shopLink: undefined };
  const link = new URL(programme.shopUrl);
  link.searchParams.set('referralCode', code);
  return { kind: 'thanks', shopLink: link.href };
}

function show({ programme }: Service, request: FastifyRequest, reply: FastifyReply, content: LandingContent) {
  const { lang } = QUERY.parse(request.query);
  const language = chooseLanguage(programme.languages, lang, request.headers['accept-language']);
  const page = landingPage(language, textsIn(language, programme.texts), content);
  return reply
    .code(statusOf(content))
    .headers({ ...HEADERS, 'content-language': language })
    .send(page);
}

function statusOf(content: LandingContent): number {
  if (content.kind === 'notFound') return 404;
  if (content.kind === 'tooMany') return 429;
  return content.kind === 'form' && content.isInvalid ? 400 : 200;
}
