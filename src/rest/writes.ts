import { SubscribedCall } from './call.ts';
import { assertActive, type CallContext } from './call-context.ts';
import type { Warn } from './decode/members.ts';
import { decodeUpsert } from './decode/player.ts';
import { deletePlayer, type Endpoint, trackEvents, upsertPlayer } from './endpoints.ts';
import type { Observer } from './observer.ts';
import { type CreateRequest, checkId, type RequestContent } from './request.ts';
import type { Decode, Resilience } from './resilience.ts';
import type { PlayerUpsertRequest, PlayerUpsertResponse, TrackEventsRequest } from './wire.ts';

interface WritesOptions {
  createRequest: CreateRequest;
  resilience: Resilience;
  observer: Observer;
  warn: Warn;
  timeoutMs: number;
  serviceIdField: string;
  /** Called when a write about a player is about to be sent. */
  onSend(playerUniqueId: string): void;
  /** Called when the write has ended, before its caller gets the result. A write that failed may have been done. */
  onWritten(playerUniqueId: string): void;
}

/** The writes. Their errors have the `outcome` of the write. */
export interface Writes {
  upsertPlayer(body: PlayerUpsertRequest, context: CallContext): Promise<PlayerUpsertResponse>;
  deletePlayer(playerUniqueId: string, context: CallContext): Promise<'deleted' | 'unknown'>;
  trackEvents(body: TrackEventsRequest, context: CallContext): Promise<void>;
}

/** Each write is one call of one operation, never shared. */
export function createWrites(options: WritesOptions): Writes {
  const { createRequest, resilience, observer, warn, timeoutMs, serviceIdField, onSend, onWritten } = options;

  async function write<Result>(
    endpoint: Endpoint,
    playerUniqueId: string,
    content: RequestContent,
    context: CallContext,
    decode: Decode<Result, SubscribedCall<Result>>,
  ): Promise<Result> {
    const ofCall = context.beginCall ? { ...context, ...context.beginCall() } : context;
    const request = createRequest(endpoint, content, ofCall);
    const { callerKey } = context;
    const call = new SubscribedCall<Result>(endpoint, request, checkId(playerUniqueId), { timeoutMs, callerKey });
    assertActive(context, endpoint);
    onSend(playerUniqueId);
    const result = call.subscribe(ofCall, observer);
    void send(call, decode);
    return await result;
  }

  /** Never rejects: errors go to the subscriber. */
  async function send<Result>(
    call: SubscribedCall<Result>,
    decode: Decode<Result, SubscribedCall<Result>>,
  ): Promise<void> {
    try {
      const result = await resilience.send(call, decode);
      onWritten(call.playerUniqueId);
      call.succeed(result);
    } catch (error) {
      onWritten(call.playerUniqueId);
      call.fail(error);
    }
  }

  return {
    upsertPlayer: (body, context) =>
      write(upsertPlayer, body.playerUniqueId, { body }, context, (response) =>
        decodeUpsert(response ?? {}, body.playerUniqueId, serviceIdField, warn),
      ),
    // After an attempt that may have been done, "unknown player" means that this attempt deleted the player.
    deletePlayer: (playerUniqueId, context) =>
      write(deletePlayer, playerUniqueId, { playerUniqueId }, context, (response, call) =>
        response === null && !call.maybeDone ? 'unknown' : 'deleted',
      ),
    trackEvents: (body, context) => write(trackEvents, body.playerUniqueId, { body }, context, () => undefined),
  };
}
