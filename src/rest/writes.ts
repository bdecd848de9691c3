import { assertInTime, SharedCall } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { Json } from './decode/members.ts';
import { decodeUpsert } from './decode/player.ts';
import { checkId, deletePlayer, type Endpoint, trackEvents, upsertPlayer } from './endpoints.ts';
import type { Notice, Observer } from './observe.ts';
import type { Content, RequestMaker } from './request.ts';
import type { ReadAnswer, Resilience } from './resilience.ts';
import type { PlayerUpsertRequest, PlayerUpsertResponse, TrackEventsRequest } from './wire.ts';

export interface WritesOptions {
  request: RequestMaker;
  resilience: Resilience;
  observer: Observer;
  notice: Notice;
  timeoutMs: number;
  serviceIdField: string;
  /** Called when a write about a player is about to be sent, before anything can come of it. */
  sending(playerUniqueId: string): void;
  /** Called when it is over, before its caller learns of it, whatever became of it: it may have been carried out. */
  written(playerUniqueId: string): void;
}

export interface Writes {
  upsertPlayer(body: PlayerUpsertRequest, op: CallContext): Promise<PlayerUpsertResponse>;
  deletePlayer(playerUniqueId: string, op: CallContext): Promise<'deleted' | 'unknown'>;
  trackEvents(body: TrackEventsRequest, op: CallContext): Promise<void>;
}

/** The three calls that change something. Each is one call for one operation, never shared. */
export function createWrites(options: WritesOptions): Writes {
  const { request, resilience, observer, notice, timeoutMs, serviceIdField, sending, written } = options;

  async function write<Result>(
    endpoint: Endpoint,
    playerUniqueId: string,
    content: Content,
    op: CallContext,
    read: ReadAnswer<Result, SharedCall<Result>>,
  ): Promise<Result> {
    const call = new SharedCall<Result>(endpoint, request(endpoint, content, op), checkId(playerUniqueId));
    assertInTime(op, endpoint);
    sending(playerUniqueId);
    const answer = call.join(op, { timeoutMs, observer });
    void carryOut(call, read);
    return await answer;
  }

  /** Never rejects: the operation that waits is told. */
  async function carryOut<Result>(
    call: SharedCall<Result>,
    read: ReadAnswer<Result, SharedCall<Result>>,
  ): Promise<void> {
    const { playerUniqueId } = call;
    try {
      const result = await resilience.send(call, read);
      written(playerUniqueId);
      call.answer(result);
    } catch (error) {
      written(playerUniqueId);
      call.fail(error);
    }
  }

  return {
    upsertPlayer: (body, op) =>
      write(upsertPlayer, body.playerUniqueId, { body: upsertBody(body) }, op, (answer) =>
        decodeUpsert(answer ?? {}, body.playerUniqueId, serviceIdField, notice),
      ),
    deletePlayer: (playerUniqueId, op) =>
      write(deletePlayer, playerUniqueId, { playerUniqueId }, op, (answer, call) =>
        answer === null && !call.maybeDone ? 'unknown' : 'deleted',
      ),
    trackEvents: (body, op) => write(trackEvents, body.playerUniqueId, { body }, op, () => undefined),
  };
}

/** What is null or undefined is not sent: it stays as it is. */
function upsertBody({ playerAttributes, ...rest }: PlayerUpsertRequest): Json {
  const body = known(rest);
  return playerAttributes ? { ...body, playerAttributes: known(playerAttributes) } : body;
}

function known(members: object): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
