import type { CallContext } from '../../../rest/call-context.ts';
import type { RestClient } from '../../../rest/client.ts';
import { ClientError } from '../errors.ts';

/** What a loader works with: the REST client, the operation it reads for and that operation's budget of calls. */
export interface Reading {
  rest: RestClient;
  call: CallContext;
  budget: CallBudget;
  /** Told how many keys a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** How many calls to the REST service one operation has left. */
export class CallBudget {
  readonly #max: number;
  #left: number;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
  }

  /** Takes `calls` from the budget before the first of them is sent; throws OPERATION_TOO_COMPLEX when it holds fewer. */
  take(calls: number): void {
    if (calls > this.#left) {
      throw new ClientError(
        'OPERATION_TOO_COMPLEX',
        `The operation needs more than ${this.#max} calls to the referral and rewards service. Ask for fewer players at once.`,
        { extensions: { limit: 'upstreamCalls', max: this.#max } },
      );
    }
    this.#left -= calls;
  }
}
