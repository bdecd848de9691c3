/**
 * A key for `trackEvents`: a random UUID. Make one when the user acts and keep it until there is a response, so that a
 * second attempt counts nothing twice. Works where `crypto.randomUUID` is missing, as on `http://192.168.…`; where there is
 * no `crypto` at all, `Math.random` is enough: a key is no secret and belongs to one player.
 */
export function createIdempotencyKey(): string {
  const bytes = new Uint8Array(16);
  // Its type says that it is there. React Native has none.
  const source: Partial<Pick<Crypto, 'getRandomValues'>> | undefined = globalThis.crypto;
  if (source?.getRandomValues) source.getRandomValues(bytes);
  else for (const index of bytes.keys()) bytes[index] = Math.random() * 256;
  const [version = 0, variant = 0] = [bytes[6], bytes[8]];
  bytes[6] = (version & 0x0f) | 0x40;
  bytes[8] = (variant & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export type Variables = Readonly<Record<string, unknown>>;

/** The variables of an operation, with a key for each input of `trackEvents` that has none. The argument is not changed. */
export function withKeys<V extends object>(variables: V): V {
  let keyed = variables;
  for (const [name, value] of Object.entries(variables)) {
    if (!isEventsInput(value) || value.idempotencyKey != null) continue;
    keyed = { ...keyed, [name]: { ...value, idempotencyKey: createIdempotencyKey() } };
  }
  return keyed;
}

/** What is sent: without a response, a query and events with a key may be sent again. Nobody knows what became of a write. */
export type Kind = 'query' | 'keyed' | 'write';

/**
 * The kind of an operation. Each input of a `keyed` mutation reports events, with a key. An upsert or a deletion is left to the
 * application, which knows what else writes the player.
 */
export function kindOf(isQuery: boolean, variables: object, text = ''): Kind {
  if (isQuery) return 'query';
  const inputs = Object.values(variables).filter((value) => typeof value === 'object' && value !== null);
  const isKeyed = inputs.length > 0 && inputs.every((value) => isEventsInput(value) && value.idempotencyKey != null);
  // An input that is written into the document, also as the default of a variable, can have no key of ours.
  return isKeyed && !/(\binput\s*:|=)\s*\{/.test(text) ? 'keyed' : 'write';
}

/** A `TrackEventsInput`: no other input of the schema has `events`. `EventMetadata` can have a list of texts of this name. */
function isEventsInput(value: unknown): value is { events: unknown[]; idempotencyKey?: unknown } {
  if (typeof value !== 'object' || value === null || !('events' in value)) return false;
  return Array.isArray(value.events) && value.events.every((event) => typeof event === 'object');
}
