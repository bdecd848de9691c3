import type { GatewayError } from '@referral-gateway/client';

interface Props {
  what: 'coupons' | 'friends';
  /** Why the part is null, if it is known. */
  error: GatewayError | undefined;
  isLoading: boolean;
  retry: () => void;
}

/** In the place of a part that could not be read. A part that the client asks for again appears by itself. */
export function Missing({ what, error, isLoading, retry }: Props) {
  if (error && !error.retryable) return <p role="alert">Your {what} cannot be shown.</p>;
  return (
    <div role="alert" className="failure">
      <p>Your {what} cannot be loaded now. They appear here as soon as they can.</p>
      <button type="button" aria-disabled={isLoading} onClick={() => isLoading || retry()}>
        {isLoading ? 'Loading…' : 'Try again'}
      </button>
    </div>
  );
}
