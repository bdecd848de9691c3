import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import { type ClientError, requestError } from '../errors.ts';
import type { GraphQLRequest } from '../graphql/request.ts';
import { isJson } from '../rest/decode/members.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { PersistedQueryStore } from './automatic.ts';
import { MAX_ID_LENGTH, withoutPrefix } from './formats.ts';
import { type Manifest, type ManifestCheck, readManifest } from './manifest.ts';

/** The operation that a request contains or refers to. */
export interface ResolvedOperation {
  /** The text of the operation; undefined when it is unknown. Apollo Server then returns the error. */
  text: string | undefined;
  /** Whether the manifest lists it. */
  trusted: boolean;
  /** The text that Apollo Server gets in place of an id. */
  textOfId: string | undefined;
}

const SHA256 = /^[0-9a-f]{64}$/;

const UNKNOWN_ID =
  'No operation with this id is listed. Send its text as "query", or list it in the files of PERSISTED_OPERATIONS_FILE.';

/** The empty manifest, without `PERSISTED_OPERATIONS_FILE`. */
const NOTHING_LISTED: Manifest = { byId: new Map(), texts: new Set(), names: new Set() };

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Finds the operation of a request, before anything is parsed. The request has a text, the id of a listed operation, or the
 * hash of a registered one. With `enforce`, a text that is not exactly a listed one is refused with OPERATION_NOT_ALLOWED,
 * except the health check, the only operation of a caller without a token. All other checks also apply to listed operations.
 * Throws a ConfigError for a manifest that cannot be used.
 */
export function createAdmission(
  { mode, files, exemptScope, production }: Config['persistedOperations'] & Pick<Config, 'production'>,
  check: ManifestCheck,
  registered: PersistedQueryStore,
  log: FastifyBaseLogger,
  metrics: Pick<Metrics, 'list' | 'persistedQuery'>,
) {
  const { byId, texts, names } = files.length === 0 ? NOTHING_LISTED : readManifest(files, check);
  metrics.list(names);

  function refuseUnlisted(caller: Caller, text: string | undefined, id: string | undefined): void {
    if (mode === 'off' || (exemptScope && caller.scopes.has(exemptScope))) return;
    if (mode === 'enforce') {
      const found = production ? '' : ` ${nameOf(text, id)} is not in it.`;
      throw requestError(
        'OPERATION_NOT_ALLOWED',
        400,
        `This gateway runs the operations of its manifest only.${found}`,
      );
    }
    // The text can contain personal data, so the log has only its hash.
    const operation = text === undefined ? { id } : { sha256: sha256(text) };
    const message = 'PERSISTED_OPERATIONS=enforce would refuse this operation';
    log.warn({ caller: caller.name, ...operation }, message);
  }

  return {
    /** The texts of all listed operations. */
    listed: (): Iterable<string> => texts,

    async resolve(request: GraphQLRequest, caller: Caller): Promise<ResolvedOperation> {
      const { query: text, extensions } = request;
      const id = readId(request, byId);
      const ofId = id === undefined ? undefined : byId.get(id)?.text;
      if (text !== undefined && id !== undefined && ofId !== text && sha256(text) !== id) {
        throw badRequest('The query does not match its hash or id.');
      }
      const listed = text === undefined ? ofId : texts.has(text) ? text : undefined;
      if (listed !== undefined) {
        if (id !== undefined) metrics.persistedQuery('listed');
        return { text: listed, trusted: true, textOfId: id === undefined ? undefined : listed };
      }
      refuseUnlisted(caller, text, id);
      const unlisted = { text, trusted: false, textOfId: undefined };
      if (id === undefined) return unlisted;
      // Only in Apollo's form, clients also register queries.
      if (extensions?.['persistedQuery'] == null) {
        if (text === undefined) throw badRequest(UNKNOWN_ID);
        return unlisted;
      }
      if (!SHA256.test(id)) {
        throw badRequest('sha256Hash must be the SHA-256 of the query: 64 digits in lower-case hexadecimal.');
      }
      const known = text ?? (await registered.get(`apq:${id}`));
      metrics.persistedQuery(text !== undefined ? 'sent' : known === undefined ? 'unknown' : 'registered');
      return { ...unlisted, text: known };
    },
  };
}

/** The operation for developers, with the id that a manifest of Apollo would give it. */
function nameOf(text: string | undefined, id: string | undefined): string {
  if (text === undefined) return id === undefined ? 'An operation without text and id' : `The id "${id}"`;
  const [, name] = /\b(?:query|mutation)\s+(\w{1,100})/.exec(text.slice(0, 10_000)) ?? [];
  return `${name ?? 'An operation without a name'}, SHA-256 ${sha256(text)},`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Reads the id from `extensions.persistedQuery` (Apollo's form, `version` 1 and `sha256Hash`), `documentId` (the persisted
 * documents appendix to GraphQL over HTTP), `id` or `doc_id`, without the prefix `sha256:`. If the request also has a text,
 * an `id` or `doc_id` that is not listed is ignored: other programs use these names for other values. Throws BAD_REQUEST for
 * an id of another form, and for two different ids.
 */
function readId({ query, documentIds, extensions }: GraphQLRequest, byId: Manifest['byId']): string | undefined {
  const persistedQuery = extensions?.['persistedQuery'];
  // The usual case: the request has a text alone.
  if (documentIds.length === 0 && persistedQuery == null) return undefined;
  const ids = new Set<string>();
  for (const [member, value] of documentIds) {
    const id = isId(value) ? withoutPrefix(value) : undefined;
    const mayIgnore = query !== undefined && member !== 'documentId';
    if (mayIgnore && (id === undefined || !byId.has(id))) continue;
    if (id === undefined) throw badRequest(`${member} must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
    ids.add(id);
  }
  const apolloId = readPersistedQuery(persistedQuery);
  if (apolloId !== undefined) ids.add(apolloId);
  if (ids.size > 1) throw badRequest('The request names two operations by different ids; send one id.');
  return [...ids][0];
}

function readPersistedQuery(given: unknown): string | undefined {
  if (given == null) return undefined;
  if (!isJson(given) || given['version'] !== 1 || !isId(given['sha256Hash'])) {
    throw badRequest(
      'extensions.persistedQuery must be {"version": 1, "sha256Hash": …}, the SHA-256 of the query in lower-case hexadecimal.',
    );
  }
  return withoutPrefix(given['sha256Hash']);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}

function badRequest(message: string): ClientError {
  return requestError('BAD_REQUEST', 400, message);
}
