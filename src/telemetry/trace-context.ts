import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The trace of a request. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** What the REST calls send: `traceparent` and perhaps `tracestate`, names and values in turn. */
  readonly headers: readonly string[];
  /** With a collector: ends the span of the request. */
  end?(operation: { name?: string | undefined; type?: string | undefined; codes: readonly string[] }): void;
}

/** Version, trace id, parent id, flags; a later version than 00 may add more (W3C Trace Context, section 4.3). */
const PARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16}-[\da-f]{2})(-.*)?$/;

/** A `tracestate` that is passed on (section 3.3.1.5: at least 512 characters). */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Without a collector: passes on the client's trace to the REST service, or a new one that is not sampled. */
export function passTraceOn({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const [, version, traceId, parent, more] = PARENT.exec(String(traceparent)) ?? [];
  if (!traceId || (version === '00' && more)) {
    // A UUID has random digits where its version is not; Node gets the random bytes for many of them at once.
    const [id, span] = [randomUUID(), randomUUID()].map((uuid) => uuid.replaceAll('-', ''));
    return { traceId: `${id}`, headers: ['traceparent', `00-${id}-${span?.slice(16)}-00`] };
  }
  const state = typeof tracestate === 'string' && STATE.test(tracestate) ? ['tracestate', tracestate] : [];
  return { traceId, headers: ['traceparent', `00-${traceId}-${parent}`, ...state] };
}
