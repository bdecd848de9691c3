import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.ts';
import { isJson } from '../../rest/decode/members.ts';
import type { Caller } from '../access/caller.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';
import type { GraphQLRequest } from '../graphql/request.ts';
import type { Metrics } from '../observe/metrics.ts';
import { pseudonym } from '../observe/observe.ts';
import type { PersistedQueryStore } from './automatic.ts';
import { MAX_ID_LENGTH, withoutPrefix } from './formats.ts';
import { type Manifest, type ManifestCheck, watchManifest } from './manifest.ts';

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

/**
 * Finds the operation of a request, before anything is parsed. The request has a text, the id of a listed operation, or the
 * hash of a registered one. With `enforce`, a text that is not exactly a listed one is refused with OPERATION_NOT_ALLOWED,
 * except the health check, the only operation of a caller without a token. All other checks also apply to listed operations.
 */
export class Admission {
  readonly #config: Config['persistedOperations'];
  readonly #manifest: (() => Manifest) | undefined;
  readonly #registered: PersistedQueryStore;
  readonly #log: FastifyBaseLogger;
  readonly #metrics: Pick<Metrics, 'list' | 'persistedQuery'>;

  /** Throws a ConfigError for a manifest that cannot be used. */
  constructor(
    config: Config['persistedOperations'],
    check: ManifestCheck,
    registered: PersistedQueryStore,
    log: FastifyBaseLogger,
    metrics: Pick<Metrics, 'list' | 'persistedQuery'>,
  ) {
    this.#config = config;
    this.#registered = registered;
    this.#log = log;
    this.#metrics = metrics;
    const changed = ({ names }: Manifest) => metrics.list(names);
    const { mode, files } = config;
    const warn = (message: string) => log.warn({ files }, message);
    this.#manifest = mode === 'off' ? undefined : watchManifest(files, check, { warn, changed });
  }

  /** The texts of all listed operations. */
  get listed(): Iterable<string> {
    return this.#manifest?.().texts ?? [];
  }

  async resolve(request: GraphQLRequest, caller: Caller): Promise<ResolvedOperation> {
    const { query: text } = request;
    const manifest = this.#manifest?.();
    const { id, isApolloForm } = readId(request, (id) => manifest?.textOf(id) !== undefined);
    const byId = id === undefined ? undefined : manifest?.textOf(id);
    if (text !== undefined && id !== undefined && byId !== text && sha256(text) !== id) {
      throw badRequest('The query does not match its hash or id.');
    }
    const listed = text === undefined ? byId : manifest?.lists(text) ? text : undefined;
    if (listed !== undefined) {
      if (id !== undefined) this.#metrics.persistedQuery('listed');
      return { text: listed, trusted: true, textOfId: id === undefined ? undefined : listed };
    }
    this.#refuseUnlisted(caller, text, id);
    if (id === undefined) return { text, trusted: false, textOfId: undefined };
    if (!isApolloForm) {
      if (text === undefined) throw badRequest(UNKNOWN_ID);
      return { text, trusted: false, textOfId: undefined };
    }
    if (!SHA256.test(id)) {
      throw badRequest('sha256Hash must be the SHA-256 of the query: 64 digits in lower-case hexadecimal.');
    }
    const known = text ?? (await this.#registered.get(`apq:${id}`));
    this.#metrics.persistedQuery(text !== undefined ? 'sent' : known === undefined ? 'unknown' : 'registered');
    return { text: known, trusted: false, textOfId: undefined };
  }

  #refuseUnlisted(caller: Caller, text: string | undefined, id: string | undefined): void {
    const { mode, exemptScope } = this.#config;
    if (mode === 'off' || caller.isAnonymous || (exemptScope && caller.scopes.has(exemptScope))) return;
    if (mode === 'enforce') {
      throw requestError('OPERATION_NOT_ALLOWED', 400, 'This gateway runs the operations of its manifest only.');
    }
    // The text can contain personal data, so the log has only its hash.
    const operation = text === undefined ? { id } : { sha256: sha256(text) };
    this.#log.warn(
      { caller: pseudonym(caller.name), ...operation },
      'PERSISTED_OPERATIONS=enforce would refuse this operation',
    );
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The id that a request names its operation by. */
interface RequestId {
  /** Without the prefix `sha256:`; undefined for a request with only a text. */
  id: string | undefined;
  /** Whether it is in `extensions.persistedQuery`, where clients also register queries. */
  isApolloForm: boolean;
}

const NO_ID: RequestId = { id: undefined, isApolloForm: false };

/**
 * Reads the id from `extensions.persistedQuery` (Apollo's form, `version` 1 and `sha256Hash`), `documentId` (the persisted
 * documents appendix to GraphQL over HTTP), `id` or `doc_id`. If the request also has a text, an `id` or `doc_id` that is
 * not listed is ignored: other programs use these names for other values. Throws BAD_REQUEST for an id of another form, and
 * for two different ids.
 */
function readId(request: GraphQLRequest, isListed: (id: string) => boolean): RequestId {
  if (request.documentIds === undefined && request.extensions === undefined) return NO_ID;
  const ids = new Set<string>();
  for (const [member, value] of Object.entries(request.documentIds ?? {})) {
    const id = isId(value) ? withoutPrefix(value) : undefined;
    const mayIgnore = request.query !== undefined && member !== 'documentId';
    if (mayIgnore && (id === undefined || !isListed(id))) continue;
    if (id === undefined) throw badRequest(`${member} must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
    ids.add(id);
  }
  const apolloId = readPersistedQuery(request.extensions?.['persistedQuery']);
  if (apolloId !== undefined) ids.add(apolloId);
  if (ids.size > 1) throw badRequest('The request names two operations by different ids; send one id.');
  const [id] = ids;
  return { id, isApolloForm: apolloId !== undefined };
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
