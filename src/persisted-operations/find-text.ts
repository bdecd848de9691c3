import { hash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import { badRequest, requestError } from '../errors.ts';
import { isJson, type Json } from '../json.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { PersistedQueryStore } from './automatic.ts';
import { MAX_ID_LENGTH, type ManifestCheck, readManifest, withoutPrefix } from './manifest.ts';

/** Where the id of a persisted operation is: `documentId` by the specification, `id` or `doc_id` in Relay's own examples. */
const IDS = ['documentId', 'id', 'doc_id'] as const;

/** The first id of a request that is a text, whether it may be used or not. Apollo's clients send theirs in the extensions. */
export function idIn({ extensions, ...body }: Json): string | undefined {
  const apollo = isJson(extensions) ? extensions['persistedQuery'] : undefined;
  const ids = [...IDS.map((name) => body[name]), isJson(apollo) ? apollo['sha256Hash'] : undefined];
  return ids.find((id) => typeof id === 'string');
}

export type PersistedOperations = ReturnType<typeof createPersistedOperations>;

/**
 * Finds the operation of a request, before anything is parsed. The request has a text, the id of a listed operation, or the
 * hash of a registered one. With `enforce`, a text that is not exactly a listed one is refused with OPERATION_NOT_ALLOWED.
 * All other checks also apply to listed operations. Throws a ConfigError for a manifest that cannot be used.
 */
export function createPersistedOperations(
  config: Config,
  check: ManifestCheck,
  registered: PersistedQueryStore,
  log: FastifyBaseLogger,
  metrics: Pick<Metrics, 'list' | 'persistedQuery'>,
) {
  const { production, PERSISTED_OPERATIONS: mode, PERSISTED_OPERATIONS_EXEMPT_SCOPE: exemptScope } = config;
  const { byId, names, fileOf } = readManifest(config.PERSISTED_OPERATIONS_FILE, check);
  metrics.list(names, fileOf.values());

  function refuseUnlisted(caller: Caller, text: string | undefined, id: string | undefined): void {
    if (mode === 'off' || (exemptScope && caller.scopes.has(exemptScope))) return;
    if (mode === 'enforce') {
      const hint = production ? '' : ` ${nameOf(text, id)} is not in it.`;
      throw requestError('OPERATION_NOT_ALLOWED', 400, `This gateway runs the operations of its manifest only.${hint}`);
    }
    // A text can contain personal data, and an id be any text, so the log has only their hashes.
    const isHash = id !== undefined && SHA256.test(id);
    const operation = text === undefined && isHash ? { id } : { sha256: hash('sha256', text ?? id ?? '') };
    log.warn({ caller: caller.name, ...operation }, 'PERSISTED_OPERATIONS=enforce would refuse this operation');
  }

  return {
    /** How many operations the manifest lists. */
    count: fileOf.size,
    /** The name of the manifest file that lists a text; undefined for a text that none lists. */
    manifestOf: (text: string) => fileOf.get(text),
    /**
     * `text` is the operation; undefined without one, and for a hash that nobody has registered: Apollo Server returns its error.
     * `isListed`: the manifest has it. `hasId`: the request has its id, which the text replaces.
     */
    async findText(query: string | undefined, body: Json, caller: Caller) {
      const apollo = isJson(body['extensions']) ? (body['extensions']['persistedQuery'] ?? undefined) : undefined;
      const id = readId(query, body, apollo, byId);
      const text = query ?? byId.get(id ?? '');
      if (query !== undefined && id !== undefined && byId.get(id) !== query && hash('sha256', query) !== id) {
        throw badRequest('The query does not match its hash or id.');
      }
      if (text !== undefined && fileOf.has(text)) {
        if (id !== undefined) metrics.persistedQuery('listed');
        return { text, isListed: true, hasId: id !== undefined };
      }
      // Without an operation, the caller of this function says so.
      if (text !== undefined || id !== undefined) refuseUnlisted(caller, text, id);
      if (id === undefined) return { text, isListed: false };
      if (apollo !== undefined && !SHA256.test(id)) throw badRequest(APOLLO_FORM);
      // Only in Apollo's form, clients also register queries; Apollo Server does it under this key.
      const found = text ?? (apollo && (await registered.get(`apq:${id}`)));
      metrics.persistedQuery(text !== undefined ? 'sent' : found === undefined ? 'unknown' : 'registered');
      if (found === undefined && apollo === undefined) throw badRequest(UNKNOWN_ID);
      return { text: found, isListed: false };
    },
  };
}

const SHA256 = /^[0-9a-f]{64}$/;
const APOLLO_FORM =
  'extensions.persistedQuery must be {"version": 1, "sha256Hash": …}: the SHA-256 of the query in lower-case hexadecimal.';
const UNKNOWN_ID =
  'No operation with this id is listed. Send its text as "query", or list it in the files of PERSISTED_OPERATIONS_FILE.';

/** The name of the first operation in a text that may be no GraphQL. */
export function nameIn(text: string): string | undefined {
  return /\b(?:query|mutation)\s+(\w{1,100})/.exec(text.slice(0, 10_000))?.[1];
}

/** The operation for developers, with the id that a manifest of Apollo would give it. */
function nameOf(text: string | undefined, id = ''): string {
  if (text === undefined) return `The id "${id}"`;
  return `${nameIn(text) ?? 'An operation without a name'}, SHA-256 ${hash('sha256', text)},`;
}

/**
 * The id without the prefix `sha256:`. Beside a text, an `id` or `doc_id` that is not listed is ignored: other programs use
 * these names for other values. Throws BAD_REQUEST for an id of another form, and for ids of two operations.
 */
function readId(query: string | undefined, body: Json, apollo: unknown, byId: ReadonlyMap<string, string>) {
  if (apollo !== undefined && !(isJson(apollo) && apollo['version'] === 1)) throw badRequest(APOLLO_FORM);
  const isOurs = (name: string, id: unknown) =>
    query === undefined || name === 'documentId' || (typeof id === 'string' && byId.has(withoutPrefix(id)));
  const named = IDS.map((name) => [name, body[name] ?? undefined] as const).filter(
    ([name, id]) => id !== undefined && isOurs(name, id),
  );
  const all = apollo ? [...named, ['sha256Hash', apollo['sha256Hash']] as const] : named;
  const ids = all.map(([name, id]) => {
    if (typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH) return withoutPrefix(id);
    throw badRequest(`${name} must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
  });
  const texts = new Set(ids.map((id) => byId.get(id) ?? id));
  if (texts.size > 1) throw badRequest('The request names two operations by different ids; send one id.');
  return ids[0];
}
