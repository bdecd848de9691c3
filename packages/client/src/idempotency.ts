import { isObject } from './errors.ts';

/**
 * A key for `trackEvents`: a random UUID. Make one when the user acts and keep it until there is a response, so that a
 * second attempt counts nothing twice. Works where `crypto.randomUUID` is missing, as on `http://192.168.…`; where there is
 * no `crypto` at all, `Math.random` is enough: a key is no secret and belongs to one player.
 */
export function createIdempotencyKey(): string {
  // Its type says that it is there. React Native has none.
  const source: Partial<Pick<Crypto, 'getRandomValues'>> | undefined = globalThis.crypto;
  const digit = () => ((source?.getRandomValues?.(new Uint8Array(1))[0] ?? Math.random() * 16) & 15).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, digit);
}

export type Variables = Readonly<Record<string, unknown>>;

/** The variables of an operation, with a key for each input of `trackEvents` that has none. The argument is not changed. */
export function withKeys(variables: Variables): Variables {
  const entries = Object.entries(variables).map(([name, value]) => [
    name,
    isEventsInput(value) && value.idempotencyKey == null ? { ...value, idempotencyKey: createIdempotencyKey() } : value,
  ]);
  return Object.fromEntries(entries);
}

/** Whether an input reports events; `withKeys` gave it a key. */
export const hasKey = (variables: Variables): boolean => Object.values(variables).some(isEventsInput);

/** What is sent: without a response, a query and events with a key may be sent again. Nobody knows what became of a write. */
export type Kind = 'query' | 'keyed' | 'write';

/**
 * Whether each input of a mutation reports events, to which `withKeys` gives a key. An upsert or a deletion is left to the
 * application, which knows what else writes the player. Other variables, such as a filter, have no `playerUniqueId`.
 */
export function isKeyed(variables: Variables, text = ''): boolean {
  const inputs = Object.values(variables).filter((value) => 'playerUniqueId' in Object(value));
  // An input that is written into the document, also as the default of a variable, can have no key of ours.
  return inputs.length > 0 && inputs.every(isEventsInput) && !/(\binput\s*:|=)\s*\{/.test(text);
}

/** A `TrackEventsInput`: no other input of the schema has `events`; in a supergraph, one of another service can have them. */
function isEventsInput(value: unknown): value is { events: unknown[]; idempotencyKey?: unknown } {
  const { events, playerUniqueId } = Object(value);
  return playerUniqueId != null && Array.isArray(events) && events.every(isObject);
}
