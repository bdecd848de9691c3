/* The forms that the text of a variable can have. The documentation prints their descriptions. */
import { readFileSync } from 'node:fs';
import proxyAddr from '@fastify/proxy-addr';
import * as z from 'zod';
import { reasonOf } from '../errors.ts';
import { reveal, secretOf } from './secret.ts';

export const text = z.string().describe('text');

export const headerSecret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be characters of ASCII without spaces, because it is sent as a header')
  .transform(secretOf)
  .describe('secret');

export const key = z.string().min(16, 'must have at least 16 characters').transform(secretOf).describe('secret');

/** PEM in its lines: platforms store it in one, with `\n` or spaces as breaks, indented, in quotation marks, or in base64. */
export function pemOf(given: string): string {
  const text = given.includes('-----') ? given : Buffer.from(given, 'base64').toString('latin1');
  const blocks = text
    .replace(/\\+[nr]/g, '\n')
    .matchAll(/(-----BEGIN [^-]+-----)((?:(?!-----).)+)(-----END [^-]+-----)/gs);
  return Array.from(blocks, ([, begin, body = '', end]) =>
    [begin, ...(body.replace(/\s/g, '').match(/.{1,64}/g) ?? []), end].join('\n'),
  ).join('\n');
}

/** The bytes of a file, which is read once. The error has no path: some set the secret itself in place of the path. */
export function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(reasonOf(error).split(',')[0]);
  }
}

/** The text of a file in PEM. Without any, as in an empty file, the setting would have no effect. */
function pem(file: string): string {
  const text = pemOf(readFile(file).toString());
  if (text !== '') return text;
  throw new Error('the file has no PEM');
}
export const certificates = readBy(pem, 'path');
export const privateKey = readBy((file) => secretOf(pem(file)), 'path');

/** A proxy for requests that the gateway makes. It can have a user and a password. */
export const proxy = readBy(
  (given) => {
    const url = new URL(/^[\w+.-]+:\/\//.test(given) ? given : `http://${given}`);
    decodeURIComponent(url.username + url.password);
    // A `/` or `\` in a user or password ends the host.
    if (!/^https?:$/.test(url.protocol) || url.pathname !== '/') throw new Error();
    return secretOf(url.href);
  },
  'URL',
  'must be the URL of an HTTP proxy, such as http://proxy.example.com:3128, not of SOCKS; write the characters @, /, \\, # and % of a user or password as %40, %2F, %5C, %23 and %25',
);

/** What `read` makes of the text. What it throws is the problem; `problem`, where its message could show a secret. */
export function readBy<Value>(read: (given: string) => Value, description: string, problem?: string) {
  return z
    .string()
    .transform((given, context) => {
      try {
        return read(given);
      } catch (error) {
        context.addIssue(problem ?? reasonOf(error));
        return z.NEVER;
      }
    })
    .describe(description);
}

/** A whole number from `min` to `max`, both included. */
export function whole(min: number, max: number) {
  const message = `must be a whole number between ${min} and ${max}, in digits alone`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((number) => number >= min && number <= max, message)
    .describe(`${min} to ${max}`);
}

export const port = whole(0, 65_535);
export const milliseconds = whole(1, 600_000);
export const upToAnHour = whole(1, 3_600_000);
export const count = whole(1, 1_000_000);

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `must be one of ${words.join(', ')}`).describe(words.map((word) => `\`${word}\``).join(', '));
}

/** The same, in upper or lower case. Not for what other programs read too, such as NODE_ENV. */
export function wordOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const form = oneOf(words);
  const lower = z.string().toLowerCase();
  return lower.pipe(form).describe(form.description ?? '');
}

export const flag = wordOf(['true', 'false'])
  .transform((word) => word === 'true')
  .describe('`true`, `false`');

const anyUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://', abort: true })
  .refine((given) => !/^\w+:\/\/(?:https?:?\/\/|[^/?#]*,|[^?#]*[\s,;]https?:)/i.test(given), 'must be one URL')
  .transform((given) => new URL(given));

/** Some providers name the application or the policy in the query. */
export const keySetUrl = anyUrl
  .refine(({ username, password, hash }) => !username && !password && !hash, 'must have no user or fragment')
  .describe('URL');

export const httpUrl = anyUrl
  .refine((url) => !url.username && !url.password && !url.search && !url.hash, 'must have no user, query or fragment')
  .describe('URL');

/** A name or an address; one of IPv6 may be in brackets, as in URLs. */
export const host = text.transform((given) => given.replace(/^\[(.+)\]$/, '$1')).describe('text');

/** Names and addresses that reach only this machine. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

const ADDED = /\/api\/v3\.0(?:\/+integrations(?:\/+(?:player|event)(?:\/[^/]*)?)?)?\/*$/i;
export const restUrl = httpUrl
  .refine(({ pathname }) => !ADDED.test(pathname), 'must not end with /api/v3.0, which is added to it')
  // The state that replicas share has its name from this URL: those with and without a slash at its end share it.
  .transform((url) => Object.assign(url, { pathname: url.pathname.replace(/\/+$/, '') }))
  .describe('URL');

const wantsTls = ({ protocol, searchParams }: URL) =>
  protocol === 'redis:' &&
  ['tls', 'ssl'].some((name) => /^(?:true|1|yes|on|required)$/i.test(searchParams.get(name) ?? ''));

/** A URL that ioredis can read. Another one would end the process later, with the password in the error. */
export const redisUrl = readBy(
  (given) => {
    const { protocol, hostname, pathname, username, password, searchParams } = new URL(given);
    decodeURIComponent(username + password);
    const isNumber = /^\/?\d*$/.test(pathname) && searchParams.getAll('db').every((db) => /^\d*$/.test(db));
    if (!/^rediss?:$/.test(protocol) || hostname === '' || !isNumber) throw new Error();
    return secretOf(given);
  },
  'secret',
  'must be a URL that begins with redis:// or rediss:// and has a host, and perhaps the number of a database; write the characters /, # and % of a password as %2F, %23 and %25',
)
  // ioredis would take their names apart into characters, and never connect.
  .refine((url) => !new URL(reveal(url)).searchParams.has('sentinels'), {
    error: 'must not name Sentinels; use the address of the primary, or a name that follows it',
  })
  // These options are not used, and the password would be sent without TLS.
  .refine((url) => !wantsTls(new URL(reveal(url))), { error: 'must begin with rediss:// for TLS' })
  .describe('secret');

/** The parts of a text between commas, without white space around them. Empty parts do not count. */
const list = z
  .string()
  .refine((given) => !/^\[.*\]$/s.test(given), 'must be separated by commas, without brackets and quotation marks')
  .transform((given) => given.split(',').flatMap((part) => part.trim() || []));

export const texts = list.describe('texts, separated by commas');
/** Issuers or audiences, which are often URLs. */
export const urls = list
  .refine((all) => !all.some((one) => /:\/\/.*[\s;|].*:\/\//.test(one)), 'must be separated by commas')
  .describe('texts, separated by commas');

/** Pages in the web view of an application have a scheme of their own, such as capacitor://localhost. */
function isOrigin(origin: string): boolean {
  const { protocol, host } = new URL(URL.canParse(origin) ? origin : 'about:blank');
  return origin === '*' || (/^[^*]+$/.test(host) && `${protocol}//${host}` === origin);
}

export const origins = list
  // As browsers send an origin: in lower case and Punycode, without the usual port and the slash of an address bar.
  .transform((all) =>
    all.map((given) => (URL.canParse(given) ? new URL(given).href : given).replace(/(?<=[^/])\/$/, '')),
  )
  .refine(
    (all) => all.every(isOrigin),
    'must be origins such as https://app.example.com, separated by commas, no paths and no wildcards',
  )
  .describe('origins, separated by commas');

/** An address or a range; the names stand for ranges of private addresses (package proxy-addr). */
const PROXY = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.enum(['loopback', 'linklocal', 'uniquelocal'])])
  .refine((range) => !range.endsWith('/0'));

/** An address of `X-Forwarded-For` without its port. A proxy may send anything; no address is longer than 64 characters. */
export const withoutPort = (address = '') => address.slice(0, 64).replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2');

/** The proxies whose `X-Forwarded-For` is trusted, as Fastify's option `trustProxy`, whose own numbers trust none. */
export const trustProxy = readBy(
  (given): boolean | ((address: string | undefined, hop: number) => boolean) => {
    const text = given.toLowerCase();
    if (text === 'true' || text === 'false') return text === 'true';
    if (/^\d{1,2}$/.test(text)) return (_address, hop) => hop < Number(text);
    const isTrusted = proxyAddr.compile(z.array(PROXY).parse(text.split(',').map((part) => part.trim())));
    return (address, hop) => isTrusted(withoutPort(address), hop);
  },
  '`true` (development only), `false`, a number of proxies, or addresses and CIDR ranges',
  'must be true, false, a number of proxies, or a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal and uniquelocal',
);
