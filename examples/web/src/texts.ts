import { gatewayErrors } from '@referral-gateway/client';

const TEXTS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'You have been signed out.',
  NO_TOKEN: 'You could not be signed in.',
  TOKEN_UNAVAILABLE: 'No connection.',
  NO_RESPONSE: 'No connection.',
  RATE_LIMITED: 'That was a little too fast. Wait a moment, then try again.',
  OVERLOADED: 'Many people are here just now. Wait a moment, then try again.',
};

/** The sentence for a user when nothing can be shown, or when what they did failed: for the error of any library. */
export function messageOf(error: unknown, otherwise = 'Your rewards cannot be loaded now.'): string {
  const [first] = gatewayErrors(error);
  if (first?.outcome === 'UNKNOWN' && !first.retryable) return 'We do not know whether this worked.';
  return TEXTS[first?.code ?? ''] ?? otherwise;
}
