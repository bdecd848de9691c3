import type { FieldPolicy, Reference } from '@apollo/client';
import { isLive, setLive } from './apollo-missing.ts';

interface Edge {
  readonly node: Reference | undefined;
  readonly cursor?: string;
}

/** A connection as it arrives, with what the document selects. */
interface Page {
  readonly edges?: readonly Edge[];
  readonly nodes?: readonly Reference[];
  readonly totalCount?: number | null;
  readonly pageInfo?: { readonly hasNextPage?: boolean; readonly endCursor?: string | null };
}

/** In the cache, with how many friends were asked for from the beginning: so many are there, or all. */
interface List extends Page {
  readonly asked?: number;
}

/** How many friends are asked for: 50 is the schema's default. */
const firstOf = (args: Record<string, unknown> | null): number => Number(args?.['first'] ?? 50);

/**
 * One list that grows with each page, selected as `edges` or as `nodes`. Apollo's `relayStylePagination` cuts the list when its
 * first page is read again, replaces `nodes`, answers `first: 50` with the 3 that it has, and makes an empty list of totals.
 */
export const growingList: FieldPolicy<List | null, Page | null> = {
  keyArgs: false,
  read(list, { args, canRead, storage }) {
    if (!list?.edges) return isLive(storage, list) ? list : undefined;
    const { edges: all, pageInfo, asked = 0, ...totals } = list;
    const after = args?.['after'];
    const isWhole = pageInfo?.hasNextPage === false;
    // Counted from the beginning, which a list that was read from a cursor on does not have.
    const there = asked === 0 ? 0 : isWhole ? Number.POSITIVE_INFINITY : Math.max(asked, all.length);
    // A query whose `after` is the last known cursor wants the next page.
    const isEnough = after == null ? firstOf(args) <= there : isWhole || after !== all[all.length - 1]?.cursor;
    if (!isEnough) return totals;
    const edges = all.filter(({ node }) => canRead(node));
    return { ...list, edges, nodes: edges.flatMap(({ node }) => node ?? []) };
  },
  merge(list, incoming, { args, storage }) {
    setLive(storage, incoming);
    if (!incoming) return list ?? null;
    const { nodes, edges, pageInfo, ...more } = incoming;
    const all = edges?.slice() ?? nodes?.map((node): Edge => ({ node }));
    // Totals alone: the list is what it was before.
    if (!all) return { ...list, ...more, ...(!list?.edges && pageInfo && { pageInfo }) };
    const known = list?.edges ?? [];
    // Without `pageInfo`, a page that is not full is the last one.
    const hasMore = pageInfo?.hasNextPage ?? all.length >= firstOf(args);
    const last = all.pop();
    if (last) all.push(pageInfo?.endCursor ? { ...last, cursor: pageInfo.endCursor } : last);
    const after = args?.['after'];
    const found = known.findIndex(({ cursor }) => cursor === after);
    const start = after == null ? 0 : found < 0 ? known.length : found + 1;
    // When the friend of the cursor is gone, the gateway begins the list again. Two friends without an id can be equal.
    const before = new Set(known.slice(0, start).map(nameOf));
    const page = all.filter((edge) => !edge.node?.__ref || !before.has(nameOf(edge)));
    const end = start + page.length;
    // What follows a page stays when the page was known already.
    const isKnown = page.every((edge, index) => nameOf(edge) === nameOf(known[start + index]));
    const further = isKnown && hasMore ? known.slice(end) : [];
    const length = end + further.length;
    const asked = after == null ? firstOf(args) : 0;
    const isGrown = after != null || further.length > 0;
    return {
      ...list,
      ...more,
      asked: Math.max(asked, isGrown ? (list?.asked ?? 0) : 0),
      edges: [...known.slice(0, start), ...page, ...further],
      pageInfo: {
        ...(isKnown && list?.pageInfo),
        ...pageInfo,
        ...(start > 0 && part(list?.pageInfo, 'startCursor', 'hasPreviousPage')),
        ...(all.length === 0 && part(list?.pageInfo, 'endCursor')),
        // The first page is read again, and the list goes on at its known end; who came later is behind that.
        ...(after == null &&
          further.length > 0 && {
            ...part(list?.pageInfo, 'endCursor'),
            hasNextPage: more.totalCount == null || length < more.totalCount,
          }),
        ...(!hasMore && { hasNextPage: false }),
      },
    };
  },
};

const nameOf = (edge: Edge | undefined) => JSON.stringify(edge?.node);

const part = (of: object | undefined, ...names: string[]) =>
  Object.fromEntries(Object.entries(of ?? {}).filter(([name]) => names.includes(name)));
