import { createHash } from 'node:crypto';
import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyBaseLogger } from 'fastify';
import type { Scope } from '../../config/scopes.ts';
import type { Caller } from '../access/caller.ts';
import { ClientError } from '../graphql/errors.ts';
import type { ManifestCheck } from './manifest.ts';
import { watchManifest } from './manifest-file.ts';
import { type Asked, badRequest, readAsked, replaceByText } from './operation-reference.ts';

export interface TrustedConfig {
  /** `off` knows no manifest; `log` runs everything and logs what `enforce` would refuse. */
  mode: 'off' | 'log' | 'enforce';
  /** Path of the manifest; needed unless the mode is `off`. */
  file?: string | undefined;
  /** Callers with this scope may run what is not listed. */
  exemptScope?: Scope | undefined;
}

/**
 * Lets an operation in, before anything is parsed. One that is asked for by a listed id gets its text. In `enforce`, what is
 * neither asked for by a listed id nor to the letter a listed text is refused with OPERATION_NOT_ALLOWED; so nothing can be
 * registered either. To be listed exempts from nothing else: access, limits and rates are the same for all.
 */
export type Admit = (request: HTTPGraphQLRequest, caller: Caller) => void;

const SHA256 = /^[0-9a-f]{64}$/;

/** Builds the admission a configuration asks for. Throws a ConfigError when the manifest cannot be used. */
export function createAdmission(config: TrustedConfig, check: ManifestCheck, log: FastifyBaseLogger): Admit {
  const { mode, file, exemptScope } = config;
  const manifest =
    mode === 'off' || !file ? undefined : watchManifest(file, check, (message) => log.warn({ file }, message));

  return (request, caller) => {
    const asked = readAsked(request);
    const { text, id } = asked;
    const known = manifest?.();
    const byId = id === undefined ? undefined : known?.textOf(id);
    if (text !== undefined && id !== undefined) refuseWrongHash(text, id, byId);
    const listed = text === undefined ? byId : known?.lists(text) ? text : undefined;
    if (listed !== undefined) {
      if (id !== undefined) replaceByText(request, listed);
      return;
    }
    if (mode !== 'off' && !(exemptScope && caller.scopes.has(exemptScope))) {
      if (mode === 'enforce') throw notAllowed();
      log.warn({ caller: caller.name, ...nameOf(asked) }, 'PERSISTED_OPERATIONS=enforce would refuse this operation');
    }
    if (asked.isApollos && id !== undefined && !SHA256.test(id)) {
      throw badRequest('sha256Hash must be the SHA-256 of the query: 64 digits in lower-case hexadecimal.');
    }
  };
}

function refuseWrongHash(text: string, id: string, byId: string | undefined): void {
  if (byId !== text && sha256(text) !== id) throw badRequest('The query is not the one its hash or id stands for.');
}

function notAllowed(): ClientError {
  return new ClientError('OPERATION_NOT_ALLOWED', 'This gateway runs the operations of its manifest only.', {
    extensions: { http: { status: 400, headers: new HeaderMap() } },
  });
}

/** What to look for in a manifest; the text itself may hold what belongs in no log. */
function nameOf({ text, id }: Asked): { sha256?: string; id?: string } {
  if (text !== undefined) return { sha256: sha256(text) };
  return id === undefined ? {} : { id };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
