import { type GatewayResponse, isObject } from './errors.ts';
import { isWorthless, REPEATED_WITHIN_MS } from './retry.ts';

/**
 * A key for `trackEvents`: a random UUID. Make one when the user acts and keep it until there is a response, so that a
 * second attempt counts nothing twice. Works where `crypto.randomUUID` is missing, as on `http://192.168.…`; where there is
 * no `crypto` at all, `Math.random` is enough: a key is no secret and belongs to one player.
 */
export function createIdempotencyKey(): string {
  // Its type says that it is there. React Native has none.
  const source: Partial<Pick<Crypto, 'getRandomValues'>> | undefined = globalThis.crypto;
  const random = () => source?.getRandomValues?.(new Uint8Array(1))[0] ?? Math.random() * 256;
  const digit = (letter: string) => (letter === 'x' ? random() & 15 : (random() & 3) | 8).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, digit);
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

/**
 * The variables, with keys, of events that failed, by what was to be sent. Who sends the same soon after repeats it, be it Apollo's
 * `RetryLink` or a second press: it is the same event.
 */
export class LostEvents {
  private readonly known: Map<string, { readonly at: number; readonly variables: Variables }> = new Map();

  take(text: string): Variables | undefined {
    for (const [name, { at }] of this.known) if (Date.now() - at > REPEATED_WITHIN_MS) this.known.delete(name);
    const { variables } = this.known.get(text) ?? {};
    this.known.delete(text);
    return variables;
  }

  keepIfLost(text: string, variables: Variables, sent: Promise<{ readonly response: GatewayResponse }>): void {
    const keep = () => this.known.set(text, { at: Date.now(), variables });
    sent.then(({ response }) => isWorthless(response) && keep(), keep);
  }
}

/** What is sent: without a response, a query and events with a key may be sent again. Nobody knows what became of a write. */
export type Kind = 'query' | 'keyed' | 'write';

/**
 * Whether each input of a mutation reports events, with a key. An upsert or a deletion is left to the application, which knows
 * what else writes the player.
 */
export function isKeyed(variables: Variables, text = ''): boolean {
  const inputs = Object.values(variables).filter(isObject);
  const haveKeys = inputs.length > 0 && inputs.every((value) => isEventsInput(value) && value.idempotencyKey != null);
  // An input that is written into the document, also as the default of a variable, can have no key of ours.
  return haveKeys && !/(\binput\s*:|=)\s*\{/.test(text);
}

/** A `TrackEventsInput`: no other input of the schema has `events`. `EventMetadata` can have a list of texts of this name. */
function isEventsInput(value: unknown): value is { events: unknown[]; idempotencyKey?: unknown } {
  if (!isObject(value) || !('events' in value)) return false;
  return Array.isArray(value.events) && value.events.every((event) => typeof event === 'object');
}
