import { timingSafeEqual } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { z } from 'zod';
import { type Caller, SCOPES } from './caller.ts';

/** Clients that are no players: their names, the SHA-256 of their tokens, and what they may do. */
export interface ClientTokens {
  /** The client a token's SHA-256 belongs to, unless it has expired. Takes the same time wherever it stands in the file. */
  find(digest: Buffer): Caller | undefined;
}

interface Entry {
  digest: Buffer;
  caller: Caller;
  expiresAt: number;
}

const LOOK_EVERY_MS = 1_000;

const FILE = z.array(
  z.strictObject({
    name: z.string().min(1).max(100),
    sha256: z.string().regex(/^[0-9a-f]{64}$/i, 'must be a SHA-256 in hexadecimal: 64 digits'),
    scopes: z.array(z.enum(SCOPES)),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
  }),
);

/**
 * Reads `CLIENT_TOKENS_FILE` and reads it again when it changes. Throws when it cannot be used now; when it cannot be
 * used later, what was read last stays in force and `warn` says so.
 */
export function readClientTokens(path: string, warn: (message: string) => void): ClientTokens {
  let entries = readEntries(path);
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, () => {
    try {
      entries = readEntries(path);
    } catch (error) {
      warn(`the earlier client tokens stay in force: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  return {
    find(digest) {
      let found: Entry | undefined;
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
      return found && found.expiresAt > Date.now() ? found.caller : undefined;
    },
  };
}

function readEntries(path: string): Entry[] {
  const parsed = FILE.safeParse(readJson(path));
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path: at, message }) => `  ${at.join('.') || 'the file'}: ${message}`);
    throw new Error([`CLIENT_TOKENS_FILE: ${path} cannot be used:`, ...issues].join('\n'));
  }
  return parsed.data.map(({ name, sha256, scopes, expiresAt }) => ({
    digest: Buffer.from(sha256, 'hex'),
    caller: { name, scopes: new Set(scopes) },
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  }));
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(
      `CLIENT_TOKENS_FILE: ${path} cannot be read as JSON (${error instanceof Error ? error.message : error})`,
    );
  }
}
