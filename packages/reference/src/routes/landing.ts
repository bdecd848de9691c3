import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { readContact } from '../programme/contacts.ts';
import { textsFor } from '../programme/landing.ts';
import { leaveContact } from '../programme/referral.ts';
import { findPlayerId } from '../store/players.ts';
import { textProblem } from '../wire/text.ts';
import { type LandingContent, landingPage } from './landing-page.ts';
import type { Service } from './service.ts';

/** The largest form, in bytes. One contact is far smaller. */
const FORM_LIMIT = 4 * 1024;

/** A link is for many visitors: it takes this many times the forms of one address. */
const ADDRESSES_PER_LINK = 6;

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
export async function landingRoutes(app: FastifyInstance, service: Service, perMinute: number): Promise<void> {
  const { store, programme } = service;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  const limits = await limitsOf(app, perMinute);
  const form = { kind: 'form', contact: programme.contact, value: '', isInvalid: false } as const;
  const isKnown = async (code: string | undefined) =>
    code !== undefined && (await store.read((queries) => findPlayerId(queries, { referral_code: code }))) !== undefined;

  const show = (request: FastifyRequest, reply: FastifyReply, content: LandingContent) => {
    const isInvalid = content.kind === 'form' && content.isInvalid;
    const status = { form: isInvalid ? 400 : 200, thanks: 200, notFound: 404, tooMany: 429 }[content.kind];
    const [language, texts] = textsFor(request.headers['accept-language'], programme.landing);
    reply.code(status).headers({ ...HEADERS, 'content-language': language });
    return reply.send(landingPage(content, language, texts));
  };

  app.get('/r/:code', async (request, reply) =>
    show(request, reply, (await isKnown(codeOf(request))) ? form : { kind: 'notFound' }),
  );

  app.post('/r/:code', async (request, reply) => {
    const limit = limits && (await retryAfter(limits.ofAddress, request));
    if (limit !== undefined) return show(request, reply.header('retry-after', limit), { kind: 'tooMany' });
    const code = codeOf(request);
    if (code === undefined || !(await isKnown(code))) return show(request, reply, { kind: 'notFound' });
    const typed = (request.body instanceof URLSearchParams && request.body.get('contact')) || '';
    const contact = textProblem(typed) ? undefined : readContact(programme.contact, typed, programme.country);
    if (!contact) return show(request, reply, { ...form, value: typed, isInvalid: true });
    // Only what could be stored counts for the link: nobody closes it to others with forms that are invalid.
    const seconds = limits && (await retryAfter(limits.ofLink, request));
    if (seconds !== undefined) return show(request, reply.header('retry-after', seconds), { kind: 'tooMany' });
    const isStored = await store.write((queries) => leaveContact(queries, service, code, contact));
    return show(
      request,
      reply,
      isStored ? { kind: 'thanks', shopLink: shopLink(service, code) } : { kind: 'notFound' },
    );
  });
}

/** The limits of forms; undefined if there is none. Each remembers 5,000 keys; the least recently used are evicted. */
async function limitsOf(app: FastifyInstance, perMinute: number) {
  if (perMinute === 0) return undefined;
  await app.register(rateLimit, { global: false });
  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string) =>
    app.createRateLimit({ max, timeWindow: 60_000, keyGenerator });
  return {
    // An IPv6 user has a whole /64 network.
    ofAddress: limit(perMinute, ({ ip }) => `address ${rateLimit.normalizeIP(ip, 64)}`),
    ofLink: limit(perMinute * ADDRESSES_PER_LINK, (request) => `link ${codeOf(request)}`),
  };
}

type Limit = NonNullable<Awaited<ReturnType<typeof limitsOf>>>['ofLink'];

/** Counts a form; if it is over the limit, returns the seconds until the next is accepted. */
async function retryAfter(limit: Limit, request: FastifyRequest): Promise<number | undefined> {
  const result = await limit(request);
  return !result.isAllowed && result.isExceeded ? result.ttlInSeconds : undefined;
}

/** The referral code of the path; undefined if no link can have it. */
function codeOf(request: FastifyRequest): string | undefined {
  const { code } = z.object({ code: z.string() }).parse(request.params);
  return textProblem(code) ? undefined : code;
}

/** The shop learns from the link's query which referral brought the visitor. */
function shopLink({ programme }: Service, code: string): string | undefined {
  if (programme.shopUrl === undefined) return undefined;
  const link = new URL(programme.shopUrl);
  link.searchParams.set('referralCode', code);
  return link.href;
}
