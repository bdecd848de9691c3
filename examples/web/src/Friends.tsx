import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ScreenQuery } from './generated/graphql';
import { nameOr } from './names';
import { FriendsQuery } from './operations';

const STATUS = { ACTIVE: 'Active', PENDING: 'Pending', UNKNOWN: '' };

interface Props {
  /** Null when they could not be read. */
  connection: NonNullable<ScreenQuery['me']>['referredFriendsConnection'];
  /** Shown in their place then. */
  missing: ReactNode;
  isLoading: boolean;
  fetchMore: (options: { query: typeof FriendsQuery; variables: { after: string | null } }) => Promise<{
    error?: unknown;
  }>;
}

/** The friends. The next page is read when the end of the list comes into view, or when the button is pressed. */
export function Friends({ connection, missing, isLoading, fetchMore }: Props) {
  const [isFailed, setFailed] = useState(false);
  const [pages, setPages] = useState(1);
  const isReading = useRef(false);
  const { hasNextPage = false, endCursor = null } = connection?.pageInfo ?? {};
  const next = async () => {
    if (isReading.current || !hasNextPage) return;
    isReading.current = true;
    const { error } = await fetchMore({ query: FriendsQuery, variables: { after: endCursor } }).catch((reason) => ({
      error: reason,
    }));
    isReading.current = false;
    setFailed(error !== undefined);
    if (error === undefined) setPages((count) => count + 1);
  };
  const end = useEndInView(hasNextPage && !isLoading && !isFailed, next);
  const total = connection?.totalCount;
  return (
    <section aria-labelledby="friends" aria-busy={isLoading}>
      <h2 id="friends">Friends {total != null && <span className="count">{total}</span>}</h2>
      {connection?.edges.length === 0 && <p className="empty">No friends yet. Share your link above.</p>}
      {!connection && missing}
      <ol className="friends">
        {connection?.edges.map(({ node }, index) => (
          <li key={node.id ?? index}>
            <span dir="auto">{nameOr(node.displayName, 'A friend')}</span>
            <small className={node.status === 'ACTIVE' ? 'good' : ''}>{STATUS[node.status]}</small>
          </li>
        ))}
      </ol>
      {isFailed && (
        <p role="alert" className="failed">
          More friends cannot be loaded now.
        </p>
      )}
      <div ref={end}>
        {/* Never taken away: the focus would be lost. */}
        {(hasNextPage || pages > 1) && (
          <button type="button" aria-disabled={!hasNextPage || isLoading} onClick={next}>
            {!hasNextPage ? 'These are all' : isLoading ? 'Loading…' : isFailed ? 'Try again' : 'More friends'}
          </button>
        )}
      </div>
    </section>
  );
}

/** A reference for the element at the end of a list; `reached` is called when it is near the view, while `isOn`. */
function useEndInView(isOn: boolean, reached: () => void) {
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef(reached);
  latest.current = reached;
  useEffect(() => {
    if (!isOn || !element.current) return undefined;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current(), {
      rootMargin: '200px',
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isOn]);
  return element;
}
