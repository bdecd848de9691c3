import { useState } from 'react';
import type { ScreenQuery } from './generated/graphql';

type Coupon = NonNullable<NonNullable<NonNullable<ScreenQuery['me']>['coupons']>[number]>;

interface Props {
  /** Null when they could not be read. */
  coupons: readonly Coupon[] | null | undefined;
  isLoading: boolean;
  retry: () => void;
}

export function Coupons({ coupons, isLoading, retry }: Props) {
  const [copied, setCopied] = useState<string>();
  const [text, setText] = useState('');
  const copy = async (code: string) => {
    const isCopied = await navigator.clipboard.writeText(code).then(
      () => true,
      () => false,
    );
    setCopied(isCopied ? code : undefined);
    setText(isCopied ? `Copied ${code}` : `Copying is not allowed here. Select the code ${code}.`);
  };
  return (
    <section aria-labelledby="coupons">
      <h2 id="coupons">Coupons</h2>
      <p role="status" className={copied ? 'hidden' : ''}>
        {text}
      </p>
      {!coupons && (
        <div role="alert" className="failure">
          <p>Your coupons cannot be loaded now.</p>
          <button type="button" disabled={isLoading} onClick={() => retry()}>
            {isLoading ? 'Loading…' : 'Try again'}
          </button>
        </div>
      )}
      {coupons?.length === 0 && <p className="empty">No coupons yet. Invite a friend to get one.</p>}
      <ul className="coupons">
        {coupons?.map((coupon, index) => (
          <li key={coupon.id ?? index}>
            <div>
              <strong>{advantageOf(coupon)}</strong>
              {coupon.code && coupon.code === copied ? (
                <small className="good">Code copied</small>
              ) : (
                <small>{coupon.endAt ? `Until ${day(coupon.endAt)}` : 'Does not expire'}</small>
              )}
            </div>
            {coupon.code && (
              <button type="button" className="code" onClick={() => copy(coupon.code ?? '')}>
                <span className="hidden">Copy the code </span>
                <code>{coupon.code}</code>
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function advantageOf({ couponType, value, currency, product }: Coupon): string {
  switch (couponType) {
    case 'PERCENTAGE_DISCOUNT':
      return `${value ?? ''} % off`;
    case 'FREE_SHIPPING':
      return 'Free shipping';
    case 'FREE_PRODUCT':
      return `Free: ${product?.productDisplayName?.[0] ?? 'a product'}`;
    case 'FIXED_DISCOUNT':
    case 'FIXED_RATE_DISCOUNT':
      return `${money(value ?? 0, currency)} off`;
    default:
      return 'A special offer';
  }
}

/** A currency that the browser does not know is shown as it is. */
function money(value: number, currency: string | null | undefined): string {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency: currency ?? '' }).format(value);
  } catch {
    return `${value} ${currency ?? ''}`.trim();
  }
}

const day = (moment: string) =>
  new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(moment));
