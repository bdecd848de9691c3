import { type ReactNode, useState } from 'react';
import { type Coupon, groupsOf } from './coupon';

interface Props {
  /** Null when they could not be read. */
  coupons: readonly Coupon[] | null | undefined;
  /** Shown in their place then. */
  missing: ReactNode;
}

export function Coupons({ coupons, missing }: Props) {
  const [copied, setCopied] = useState<string>();
  const [text, setText] = useState('');
  const copy = async (code: string) => {
    // Undefined on a page without TLS.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    const isCopied = await Promise.resolve(clipboard?.writeText(code)).then(
      () => clipboard !== undefined,
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
      {!coupons && missing}
      {coupons?.length === 0 && <p className="empty">No coupons yet. Invite a friend to get one.</p>}
      <ul className="coupons">
        {groupsOf(coupons ?? []).map(({ advantage, conditions, codes, count }) => (
          <li key={`${advantage} ${conditions}`}>
            <div className="what">
              <strong dir="auto">
                {advantage}
                {count > 1 && <span className="count"> × {count}</span>}
              </strong>
              {conditions.map((condition) => (
                <small key={condition}>{condition}</small>
              ))}
            </div>
            <div className="codes">
              {codes.map((code) => (
                <button key={code} type="button" className="code" onClick={() => copy(code)}>
                  <code>{code}</code>{' '}
                  <span className={code === copied ? 'good' : ''}>{code === copied ? '✓ Copied' : 'Copy'}</span>
                </button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
