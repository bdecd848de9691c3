import type { FieldPolicy, Reference } from '@apollo/client';

interface Edge {
  readonly node: Reference | undefined;
  readonly cursor?: string;
}

/** A connection in the cache, or as it arrives: then with what the document selects. */
interface Connection {
  readonly edges?: readonly Edge[];
  readonly nodes?: readonly Reference[];
  readonly pageInfo?: { readonly hasNextPage?: boolean; readonly endCursor?: string | null };
}

/**
 * One list that grows with each page, selected as `edges` or as `nodes`. Apollo's `relayStylePagination` cuts the list when
 * its first page is read again, replaces `nodes`, and makes an empty list of a page that failed.
 */
export const growingList: FieldPolicy<Connection | null> = {
  keyArgs: false,
  read(list, { canRead }) {
    const edges = list?.edges?.filter(({ node }) => canRead(node));
    return edges ? { ...list, edges, nodes: edges.flatMap(({ node }) => node ?? []) } : list;
  },
  merge(list, incoming, { args }) {
    if (!incoming) return list ?? null;
    const { nodes, pageInfo, ...more } = incoming;
    const page: Edge[] | undefined = incoming.edges?.slice() ?? nodes?.map((node) => ({ node }));
    const known = list?.edges ?? [];
    // Totals alone: the list is as long as before.
    if (!page) return { ...list, ...more, edges: known, ...(!list?.edges && { pageInfo }) };
    const last = page.pop();
    if (last) page.push(pageInfo?.endCursor ? { ...last, cursor: pageInfo.endCursor } : last);
    const found = known.findIndex(({ cursor }) => cursor === args?.['after']);
    const start = args?.['after'] == null ? 0 : found < 0 ? known.length : found + 1;
    const end = start + page.length;
    // What follows a page stays when the page was known already.
    const isKnown = JSON.stringify(page.map(nodeOf)) === JSON.stringify(known.slice(start, end).map(nodeOf));
    const further = isKnown && pageInfo?.hasNextPage !== false ? known.slice(end) : [];
    const ofList = (names: RegExp) =>
      Object.fromEntries(Object.entries(list?.pageInfo ?? {}).filter(([name]) => names.test(name)));
    return {
      ...list,
      ...more,
      edges: [...known.slice(0, start), ...page, ...further],
      pageInfo: {
        ...pageInfo,
        ...(start > 0 && ofList(/^(startCursor|hasPreviousPage)$/)),
        ...(further.length > 0 && ofList(/^(endCursor|hasNextPage)$/)),
      },
    };
  },
};

const nodeOf = ({ node }: Edge) => node;
