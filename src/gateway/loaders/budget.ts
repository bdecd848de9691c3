import { ClientError } from '../errors.ts';

/** How many calls to the REST service one operation has left. */
export interface CallBudget {
  /** Takes `calls` from the budget before the first of them is sent; throws OPERATION_TOO_COMPLEX when it holds fewer. */
  take(calls: number): void;
}

export function createCallBudget(max: number): CallBudget {
  let left = max;
  return {
    take(calls) {
      if (calls > left) {
        throw new ClientError(
          'OPERATION_TOO_COMPLEX',
          `The operation needs more than ${max} calls to the referral and rewards service. Ask for fewer players at once.`,
          { extensions: { limit: 'upstreamCalls', max } },
        );
      }
      left -= calls;
    },
  };
}
