import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { chooseLanguage } from '../landing/language.ts';
import { type LandingContent, landingPage } from '../landing/page.ts';
import { textsIn } from '../landing/texts.ts';
import { contactOf, isContact } from '../programme/contacts.ts';
import type { Service } from '../service.ts';
import { findPlayerByCode } from '../store/players.ts';
import { addContact } from '../store/referrals.ts';
import { textProblem } from '../wire/text.ts';

/** A form with one contact in it is far smaller. */
const FORM_LIMIT = 4 * 1024;

/** A page that loads nothing, runs nothing, tells no other site where the visitor came from, and is kept nowhere. */
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
 * The page behind a referral link. It says the same to everybody: neither whose link it is, nor whether a contact is
 * known already, can be learned from it.
 */
export function landingRoutes(app: FastifyInstance, service: Service): void {
  const { store, programme, now } = service;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );

  const codeOf = (request: FastifyRequest) => PATH.parse(request.params).code;
  const referrerOf = (request: FastifyRequest) => {
    const code = codeOf(request);
    return textProblem(code) ? undefined : store.read((queries) => findPlayerByCode(queries, code));
  };
  const show = (request: FastifyRequest, reply: FastifyReply, status: number, content: LandingContent) => {
    const { lang } = QUERY.parse(request.query);
    const language = chooseLanguage(programme.languages, lang, request.headers['accept-language']);
    const page = landingPage(language, textsIn(language, programme.texts), content);
    return reply
      .code(status)
      .headers({ ...HEADERS, 'content-language': language })
      .send(page);
  };
  const form = (value: string, isInvalid: boolean): LandingContent => ({
    kind: 'form',
    contact: programme.contact,
    value,
    isInvalid,
  });

  app.get('/r/:code', async (request, reply) => {
    if (!(await referrerOf(request))) return show(request, reply, 404, { kind: 'notFound' });
    return show(request, reply, 200, form('', false));
  });

  app.post('/r/:code', async (request, reply) => {
    if (!(await referrerOf(request))) return show(request, reply, 404, { kind: 'notFound' });
    const typed = (request.body instanceof URLSearchParams && request.body.get('contact')) || '';
    const contact = contactOf(programme.contact, typed);
    if (!isContact(contact) || textProblem(typed)) return show(request, reply, 400, form(typed, true));
    const isStored = await store.write(async (queries) => {
      const referrer = await findPlayerByCode(queries, codeOf(request));
      if (referrer) await addContact(queries, referrer.id, contact, now());
      return referrer !== undefined;
    });
    return isStored ? show(request, reply, 200, { kind: 'thanks' }) : show(request, reply, 404, { kind: 'notFound' });
  });
}
