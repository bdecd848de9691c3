/* The forms that the text of a variable can have. The documentation prints their descriptions. */
import { isIP } from 'node:net';
import * as z from 'zod';
import { Secret } from './secret.ts';

/** Any text. */
export const text = z.string().describe('text');

/** A text that is never shown. */
export const secret = z
  .string()
  .transform((given) => new Secret(given))
  .describe('secret');

/** A whole number from `min` to `max`, both included. */
export function whole(min: number, max: number) {
  const message = `must be a whole number between ${min} and ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message)
    .describe(`${min} to ${max}`);
}

export const port = whole(0, 65_535);
export const milliseconds = whole(1, 600_000);
export const rate = whole(1, 1_000_000);

/** One of the given words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const all = words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : words[0];
  return z.enum(words, `must be ${all}`).describe(words.map((word) => `\`${word}\``).join(', '));
}

export const flag = oneOf(['true', 'false'])
  .transform((word) => word === 'true')
  .describe('`true`, `false`');

export const httpUrl = z
  .string()
  .refine(
    (given) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol),
    'must be a URL that begins with http:// or https://',
  )
  .transform((given) => new URL(given))
  .refine((url) => !url.username && !url.password && !url.search && !url.hash, 'must have no user, query or fragment')
  .describe('URL');

/** Names and addresses that reach only this machine. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** The URL of a REST service. */
export const restUrl = httpUrl
  .refine(({ pathname }) => !/\/api\/v3\.0\/*$/.test(pathname), 'must not end with /api/v3.0, which is added to it')
  .describe('URL');

/**
 * Whether ioredis can read the text of `REDIS_URL`, a secret. Another text would end the process later, with the password in
 * the error.
 */
export function isRedisUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return /^rediss?:$/.test(protocol) && hostname !== '';
  } catch {
    return false;
  }
}

export const redisUrl = z
  .string()
  .refine(
    isRedisUrl,
    'must be a URL that begins with redis:// or rediss:// and has a host; write the characters /, # and % of a password as %2F, %23 and %25',
  )
  .transform((given) => new Secret(given))
  .describe('secret');

const list = z.string().transform((given) => given.split(',').flatMap((part) => part.trim() || []));

export const texts = list.describe('texts, separated by commas');
export const paths = list.describe('files and folders, separated by commas');

export const origins = list
  .refine(
    (all) => all.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
    'must be a comma-separated list of origins such as https://app.example.com, without a path',
  )
  .describe('origins, separated by commas');

const CIDR = z.cidrv4().or(z.cidrv6());
/** Names that stand for ranges of private addresses (package proxy-addr, which Fastify uses). */
const ADDRESS_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** The proxies whose `X-Forwarded-For` is trusted, as Fastify's option `trustProxy`. */
export const trustProxy = z
  .string()
  .refine(
    (given) => /^(?:true|false|\d{1,2})$/.test(given) || given.split(',').every((part) => isAddressRange(part.trim())),
    'must be true, false, a number of proxies, or a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal and uniquelocal',
  )
  .transform((given): boolean | string[] | ((address: string, hop: number) => boolean) => {
    if (given === 'true' || given === 'false') return given === 'true';
    if (/^\d{1,2}$/.test(given)) return (_address, hop) => hop < Number(given);
    return given.split(',').map((part) => part.trim());
  })
  .describe('`true`, `false`, a number of proxies, or addresses and CIDR ranges');

function isAddressRange(part: string): boolean {
  return isIP(part) > 0 || CIDR.safeParse(part).success || ADDRESS_RANGES.has(part);
}
