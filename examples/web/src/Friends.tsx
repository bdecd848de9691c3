import { useQuery } from '@apollo/client/react';
import { useEffect, useRef } from 'react';
import { FriendsQuery } from './operations';

const STATUS = { ACTIVE: 'Active', PENDING: 'Pending', UNKNOWN: '' };

/** The friends. The next page is read when the end of the list comes into view, or when the button is pressed. */
export function Friends() {
  const { data, error, loading, fetchMore, refetch } = useQuery(FriendsQuery, { notifyOnNetworkStatusChange: true });
  const connection = data?.me?.referredFriendsConnection;
  const { hasNextPage = false, endCursor } = connection?.pageInfo ?? {};
  const next = () => void fetchMore({ variables: { after: endCursor } }).catch(() => undefined);
  const end = useEndInView(hasNextPage && !loading && !error, next);
  return (
    <section aria-labelledby="friends" aria-busy={loading}>
      <h2 id="friends">
        Friends {connection?.totalCount != null && <span className="count">{connection.totalCount}</span>}
      </h2>
      {connection?.edges.length === 0 && <p className="empty">No friends yet. Share your link above.</p>}
      <ol className="friends">
        {connection?.edges.map(({ node }, index) => (
          <li key={node.id ?? index}>
            <span>{node.displayName ?? 'A friend'}</span>
            <small className={node.status === 'ACTIVE' ? 'good' : ''}>{STATUS[node.status]}</small>
          </li>
        ))}
      </ol>
      {error && (
        <div role="alert" className="failure">
          <p>{connection ? 'More friends cannot be loaded now.' : 'Your friends cannot be loaded now.'}</p>
          <button type="button" disabled={loading} onClick={() => void (connection ? next() : refetch())}>
            Try again
          </button>
        </div>
      )}
      <div ref={end}>
        {loading && <p role="status">Loading friends…</p>}
        {hasNextPage && !loading && !error && (
          <button type="button" onClick={next}>
            More friends
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
