/* Content codings of bodies (RFC 9110, 8.4.1): those of clients, and those of a REST service that was asked for none. */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const inflateRaw: Decode = promisify(zlib.inflateRaw);
/** The header of zlib says method 8 (RFC 1950). Some send `deflate` without it. */
const isZlib = (body: Buffer) => ((body[0] ?? 0) & 0x0f) === 8;

/** For servers that leave out the checksum, which browsers and curl do not miss. Raw deflate, after the header, says where it ends. */
const withoutChecksum =
  (decode: Decode, headerBytes: number): Decode =>
  (body, options) =>
    decode(body, options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'Z_BUF_ERROR') throw error;
      return inflateRaw(body.subarray(headerBytes), options);
    });
// With the usual header of gzip (RFC 1952), and that of zlib.
const [gunzip, inflate] = [withoutChecksum(promisify(zlib.gunzip), 10), withoutChecksum(promisify(zlib.inflate), 2)];

const DECODERS: Partial<Record<string, Decode>> = {
  identity: async (body) => body,
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: (body, options) => (isZlib(body) ? inflate : inflateRaw)(body, options),
  br: promisify(zlib.brotliDecompress),
};
const MAX_CODINGS = 2;

const codingsOf = (encoding: string): string[] => encoding.toLowerCase().match(/[^\s,](?:[^,]*[^\s,])?/g) ?? [];

/** Whether `decodeContent` can decode it: at most two of gzip, x-gzip, deflate, br and identity. */
export function isSupported(encoding: string): boolean {
  const codings = codingsOf(encoding);
  return codings.length <= MAX_CODINGS && codings.every((name) => Object.hasOwn(DECODERS, name));
}

/**
 * The body without its codings, or why there is none. An empty body has no codings.
 * @param encoding The value of `content-encoding`.
 * @param maxBytes The longest result, also between two codings.
 */
export async function decodeContent(body: Buffer, encoding: string, maxBytes: number) {
  if (!isSupported(encoding)) return 'unsupported';
  if (body.length === 0) return body;
  try {
    let decoded = body;
    // The last coding was applied last.
    for (const name of codingsOf(encoding).reverse()) {
      decoded = (await DECODERS[name]?.(decoded, { maxOutputLength: maxBytes })) ?? decoded;
    }
    return decoded;
  } catch (error) {
    return Object(error).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'corrupt';
  }
}
