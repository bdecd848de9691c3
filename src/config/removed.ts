const AT_THE_EDGE = 'it is fixed now; set such a limit at the ingress (deploy/nginx.conf)';
const BY_COMPLEXITY = 'it is fixed now; MAX_COMPLEXITY and MAX_TOKENS limit an operation';

/** Variables of earlier versions, and what to do instead. One that is set is an error: ignored, it would surprise. */
const REMOVED = new Map([
  ['WORKERS', 'start several replicas instead, as deploy/compose.yaml does'],
  ['READ_CACHE_TTL_MS', 'nothing is cached between operations any more'],
  ['REST_QUEUE_MS', 'OPERATION_TIMEOUT_MS limits the wait for a connection'],
  ['ALLOW_ANONYMOUS_TYPENAME', 'ask /healthz or /readyz on MANAGEMENT_PORT'],
  ['HEADERS_TIMEOUT_MS', AT_THE_EDGE],
  ['REQUEST_TIMEOUT_MS', AT_THE_EDGE],
  ['MAX_CONNECTIONS', AT_THE_EDGE],
  ['MAX_HEAP_PERCENT', 'it is fixed now'],
  ['MAX_EVENT_LOOP_DELAY_MS', 'it is fixed now'],
  ['MAX_ALIASES', BY_COMPLEXITY],
  ['MAX_ALIAS_LENGTH', BY_COMPLEXITY],
  ['MAX_ROOT_FIELDS', BY_COMPLEXITY],
  ['MAX_DIRECTIVES', BY_COMPLEXITY],
]);

/** One line for each removed variable that is set. */
export function removedVariables(given: ReadonlyMap<string, string>): string[] {
  return [...REMOVED].flatMap(([name, instead]) => (given.has(name) ? [`${name}: was removed; ${instead}`] : []));
}
